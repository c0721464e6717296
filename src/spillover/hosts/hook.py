"""Answer the hook of any agent: its result within the limits, and never a failed tool call.

No result is exempt, whatever its tool or its command is called: an answer of ours passes because it fits.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import FileIO
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from spillover import pipeline
from spillover.api import Clipper
from spillover.document.clean import clean, every_line, has_invisible, is_plain, make_visible
from spillover.document.document import cover_text, notice_guard, visible_text
from spillover.events import record_result, record_run, together
from spillover.fallback import mark, shorten
from spillover.hosts.host import Bounder, Host, ToolCall, get_text
from spillover.notice.wording import cut_by
from spillover.result import Clip
from spillover.results.blocks import clip_blocks, clip_each_stream, is_program, list_texts
from spillover.results.objects import cover_strings
from spillover.secrets.outputs import cover as cover_bytes
from spillover.settings.limits import Limits, Size, count_lines
from spillover.settings.settings import UNLIMITED, Call
from spillover.shell import is_retrieval

_log = logging.getLogger(__name__)

#: Words between the commands of a shell line.
SEPARATORS = ("|", "||", "|&", "&", "&&", ";", ";;", ">", ">>", "<")
#: The most of a call's arguments that becomes a query: characters in all, characters of each text, texts, levels.
#: More costs time in every call.
QUERY_CHARS = 4_000
QUERY_TEXT_CHARS = 1_000
QUERY_TEXTS = 64
QUERY_DEPTH = 5
#: Arguments that are no part of a query: they say how, not what; the command is known by itself.
OPTION_ARGUMENTS = frozenset(
    [
        "command",
        "cwd",
        "timeout",
        "output_mode",
        "content",
        "new_string",
        "old_string",
        "limit",
        "head_limit",
        "run_in_background",
    ]
)


def answer(host: Host, event: object, make_clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return the answer of an agent's hook to an event; None if nothing changes.

    `make_clipper` is called only if there is a result. Whatever fails from then on, the result is bounded.
    """
    hook = host.hook
    call = hook.read(event) if hook and isinstance(event, dict) else None
    if hook is None or call is None:
        tool = _read_tool_name(event)
        reason = "the model needs it word for word" if hook and tool in hook.exact else "it has another shape"
        _log.info("The hook left the result of %s alone: %s.", tool, reason)
        return None
    result = bound_result(host, call, make_clipper)
    return None if result is None else hook.reply(call, result)


def _read_tool_name(event: object) -> str:
    """Return the tool that an event names, for the log; "" if there is none."""
    return next(filter(None, (get_text(event, key) for key in ("tool", "tool_name", "toolName"))), "")


def bound_result(host: Host, call: ToolCall, make_clipper: Callable[[], Clipper]) -> Any:
    """Return the result of a tool within the limits, with secrets covered; None if it stays as it is."""
    assert host.hook is not None
    limits = call.shows or host.shows
    ending = call.ending
    cover: Callable[[str], str] = _cover_all
    within: Bounder
    try:
        clipper = make_clipper()
        cover = partial(cover_text, clipper.settings) if clipper.settings.redact != "off" else str
        if clipper.settings.leaves_alone(call.tool):
            _log.info("The hook left the result of %s alone: a rule says so.", call.tool)
            return None
        within = _make_clipping(host, call, clipper)
        limits = within.call.limits
        ending = within.ending
        if is_program(call.caller):
            with together():  # no model reads it, so it is stored and not counted
                host.hook.bound(call, within)
            result = None
        else:
            result = host.hook.bound(call, within)
    except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on, and its result is bounded
        within = PlainCut(error, limits, ending, cover, is_program(call.caller))
        result = host.hook.bound(call, within)
    if cover is str:
        return result
    visible_result = call.result if result is None else result
    clean_result = cover_strings(visible_result, cover)
    return result if clean_result == visible_result else clean_result


def _make_clipping(host: Host, call: ToolCall, clipper: Clipper) -> Clipping:
    """Return the clipping of a result: to the lower of the user's and the agent's limits, with room for the ending."""
    query = query_from_arguments(call.arguments)
    clip_call = clipper.call(call.tool, command=call.command or "", call_id=call.call_id, cwd=call.cwd, query=query)
    ending = call.ending
    if clip_call.limits is not UNLIMITED:
        shows = call.shows or host.shows
        clip_call, ending = reserve_ending(clip_call.lower(shows) if shows else clip_call, ending)
    return Clipping(clip_call, host, call.cut_at or host.shows, call.exit_code, ending)


def _cover_all(text: str) -> str:
    """Return a text with secrets covered: nothing is known that says otherwise."""
    return cover_bytes(text.encode("utf-8", "surrogatepass"))[0].decode("utf-8", "surrogatepass")


def reserve_ending(call: Call, ending: str) -> tuple[Call, str]:
    """Return the call with room for what stands below an output, and that text; "" if there is no room."""
    limits = call.limits.without(ending, call.settings.count) if ending else None
    if limits is None:
        return call, ""
    trigger = call.trigger and call.trigger.without(ending, call.settings.count)
    return replace(call, limits=limits, trigger=trigger), ending


class Clipping(Struct, frozen=True):
    """Brings the texts of one call within its limits, and records what the model sees of them."""

    call: Call
    host: Host | None = None
    cut_at: Limits | None = None  # what the agent itself shows of such a result, where that is known
    exit_code: int | None = None
    ending: str = ""  # what the agent writes below an output; it is no part of it, and stays

    def fits(self, text: str) -> bool:
        """Return whether a text is within the limits; most are, and nothing that cuts is loaded for them."""
        call = self.call
        if call.compares:  # one that fits may repeat an earlier one
            return False
        bounds = (call.limits,) if call.trigger is None else (call.trigger, call.limits)
        return any(limits.hold(text, call.settings.count) for limits in bounds)

    def mark(self, text: str) -> str:
        """Return a text with invisible characters spelled out; cleaned and marked if a line reads like a notice."""
        text = cover_text(self.call.settings, text)
        guard = notice_guard(self.call.settings)
        if guard is None or (is_plain(text) and not guard.suspects(text)):
            return text
        raw = text.encode("utf-8", "surrogatepass")
        for reading in (clean(raw), every_line(text)):
            safe_text = guard(reading)
            if safe_text != reading:
                return safe_text
        return make_visible(text, raw) if has_invisible(raw) else text

    def text(self, text: str) -> str | None:
        """Return a text within the limits, and the `ending` of the call; None if it stays as it is."""
        self = self._of_preview(text)  # noqa: PLW0642  the same call
        if self.fits(text):
            safe_text = self.mark(text)
            if safe_text == text or self.fits(safe_text):
                self._record_whole(text, [safe_text])
                return None if safe_text == text else safe_text + self.ending
        with together():
            clip = pipeline.clip(text, self.call)
        self._record(clip, _encode(text), [clip.text])
        return None if clip.outcome == "whole" and clip.text == text else clip.text + self.ending

    def file(self, file: FileIO | None) -> str | None:
        """Return the text of a file likewise, and close it; None if it cannot be stored."""
        if file is None:
            return None
        texts = self._clip_stored(file, output=file)
        return None if texts is None else texts["output"] + self.ending

    def blocks(self, blocks: list[Any]) -> list[Any] | None:
        """Return the blocks with texts within the limits; None if all stay as they are."""
        texts = list_texts(blocks)
        whole_text = "\n".join(texts)
        if not texts:
            return None
        self = self._of_preview(*texts)  # noqa: PLW0642  as above
        unchanged = self.call.settings.redact == "off" and self.fits(whole_text)
        if unchanged and all(self.mark(text) == text for text in texts):
            self._record_whole(whole_text, texts)
            return None
        with together():
            clipped = clip_blocks(blocks, self.call)
        self._record(clipped.clip, _encode(whole_text), list_texts(clipped))
        return None if list(clipped) == blocks else list(clipped)

    def streams(self, stdout: str | FileIO, stderr: str) -> dict[str, str] | None:
        """Return both streams within the limits; None if both stay as they are, or if a file cannot be stored."""
        if not isinstance(stdout, str):
            return self._clip_stored(stdout, stdout=stdout, stderr=stderr)
        self = self._of_preview(stdout, stderr)  # noqa: PLW0642  as above
        texts = {"stdout": stdout, "stderr": stderr}
        if self.fits(_join(stdout, stderr)):
            safe_texts = {name: self.mark(text) for name, text in texts.items()}
            if safe_texts == texts or self.fits(_join(*safe_texts.values())):
                self._record_whole(_join(stdout, stderr), [*safe_texts.values()])
                return None if safe_texts == texts else safe_texts
        clipped_texts, clip = self._clip_streams(texts)
        if clip.outcome == "whole":
            # Cleaned, they fit, and need no label: each has its own place.
            clipped_texts = {name: visible_text(self.call.settings, _encode(text)) for name, text in texts.items()}
        self._record(clip, _encode(_join(stdout, stderr)), [*clipped_texts.values()])
        return clipped_texts

    def _of_preview(self, *texts: str) -> Self:
        """Return the same call, of a preview if the agent says in one of the texts that it has cut it."""
        if self.host is None or not any(map(self.host.find_cut, texts)):
            return self
        return replace(self, call=replace(self.call, preview=cut_by(self.host.title)))

    def _clip_stored(self, file: FileIO, **streams: Any) -> dict[str, str] | None:
        """Clip streams of which one is a file, and close it. Only what is stored is shown, and is in the journal."""
        with file:
            texts, clip = self._clip_streams(streams)
        if clip.outcome == "stored":
            self._record(clip, b"", [*texts.values()])
            return texts
        self._record_run(clip, _encode(clip.text))
        return None

    def _clip_streams(self, streams: Mapping[str, Any]) -> tuple[dict[str, str], Clip]:
        """Return the clipped text of each stream, and the clip of all."""
        with together():
            return clip_each_stream(streams, self.call)

    def _record_whole(self, text: str, model_texts: Sequence[str]) -> None:
        """Record a call whose result stays as it is."""
        data = _encode(text)
        self._record(Clip(text, _total=Size(count_lines(text), len(data), len(text))), data, model_texts)

    def _record(self, clip: Clip, data: bytes, model_texts: Sequence[str]) -> None:
        """Record a call, and its texts as the model saw them. `spill` has recorded its own already, and all of it."""
        if clip.outcome != "whole" or not is_our_answer(self.call.command):
            title = self.host.title if self.host else None
            cut = dict(self.cut_at.given()) if self.cut_at else None
            record_result(self.call, clip, texts=model_texts, host=title, cut=cut if cut or not title else {})
        self._record_run(clip, data)

    def _record_run(self, clip: Clip, data: bytes) -> None:
        if is_retrieval(self.call.tool, self.call.command or None):
            return
        if clip.outcome != "whole" or not _is_run(self.call.command):
            record_run(self.call, clip, data, exit_code=self.exit_code)


class PlainCut(Struct, frozen=True):
    """Keeps both ends of each text of a call that could not be clipped, and says why."""

    error: BaseException
    limits: Limits | None = None  # as far as they are known
    ending: str = ""
    cover: Callable[[str], str] = str  # takes secrets out of a text, where they are to be covered
    program: bool = False  # one reads the result, so nothing is cut

    def fits(self, text: str) -> bool:
        """Return whether a text is within the limits."""
        return self.text(text) is None

    def mark(self, text: str) -> str:
        """Mark every line that looks like a notice, even one of ours: there is no store to look in."""
        return mark(text)

    def text(self, text: str) -> str | None:
        """Return both ends of a text; None if it is short enough as it is."""
        short = self._shorten(text, 1)
        return None if short is None else short + self.ending

    def file(self, file: FileIO | None) -> str | None:
        """Close a file: what is in it is not stored."""
        if file is not None:
            file.close()
        return None

    def blocks(self, blocks: list[Any]) -> list[Any] | None:
        """Return all texts as one, in the place of the first; what has no text stays."""
        with_text = [block for block in blocks if _find_text(block)]
        text = self.text("\n".join(map(_find_text, with_text)))
        if text is None:
            return None
        return [_put_text(with_text[0], text), *(block for block in blocks if not _find_text(block))]

    def streams(self, stdout: str | FileIO, stderr: str) -> dict[str, str] | None:
        """Return both ends of each stream, half of the room for each."""
        if not isinstance(stdout, str):
            stdout.close()
            return None
        texts = {"stdout": stdout, "stderr": stderr}
        cuts = {name: short for name, text in texts.items() if (short := self._shorten(text, 2)) is not None}
        return {**texts, **cuts} if cuts else None

    def _shorten(self, text: str, shares: int) -> str | None:
        try:
            clean_text = self.cover(text)
        except Exception as error:  # noqa: BLE001  nothing is shown that was not searched for secrets
            return shorten("", error, self.limits, shares=shares, missing=len(text.encode("utf-8", "replace")))
        short = None if self.program else shorten(clean_text, self.error, self.limits, shares=shares)
        return clean_text if short is None and clean_text != text else short


def _find_text(block: Any) -> str:
    """Return the text in a block, of whatever shape; "" if there is none."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    resource = block.get("resource")
    text = (resource if isinstance(resource, dict) else block).get("text")
    if isinstance(text, str):
        return text
    content = block.get("content")
    return "\n".join(filter(None, map(_find_text, content))) if isinstance(content, list) else _find_text(content)


def _put_text(block: Any, text: str) -> Any:
    """Return a block with this text; of the same kind if that has a place for it."""
    if isinstance(block, str):
        return text
    if isinstance(block.get("resource"), dict):
        return {**block, "resource": {**block["resource"], "text": text}}
    return {**block, "text": text} if isinstance(block.get("text"), str) else {"type": "text", "text": text}


def is_our_answer(command: str | None) -> bool:
    """Return whether a line is one command of ours and nothing else, so that all it printed is recorded already."""
    if not command or "spill " not in command:
        return False
    if _is_run(command):
        return True
    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:  # quotes that never end
        return False
    if words[:1] == ["cd"] and words[2:3] == ["&&"]:
        words = words[3:]
    return _is_spill(words) and words[1:2] != ["mcp"] and not any(word in SEPARATORS for word in words)


def _is_run(command: str | None) -> bool:
    """Return whether a line is `spill run` or `spill sh`, behind a `cd` or not."""
    line = command or ""
    words = (line.rpartition("&&")[2] if line.startswith("cd ") else line).split()
    return _is_spill(words) and words[1:2] in (["sh"], ["run"])


def _is_spill(words: Sequence[str]) -> bool:
    """Return whether a command is `spill`, by name or whole path: some agents run a shell with their own PATH."""
    return words[:1] == ["spill"] or (bool(words) and words[0].startswith("/") and words[0].endswith("/spill"))


def query_from_arguments(arguments: Any) -> str:
    """Return the words of a call's arguments: a pattern, a path, a description; "" if there are none."""
    if isinstance(arguments, str) and len(arguments) <= QUERY_CHARS and arguments.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    words: list[str] = []
    _collect(arguments, words, 0)
    return " ".join(words)[:QUERY_CHARS]


def _collect(value: Any, words: list[str], depth: int) -> None:
    """Append the texts inside of arguments, up to QUERY_TEXTS of them."""
    if len(words) >= QUERY_TEXTS or depth > QUERY_DEPTH:
        return
    if isinstance(value, str):
        words.append(value[:QUERY_TEXT_CHARS])
    elif isinstance(value, Mapping):
        for key, inner in list(value.items())[:QUERY_TEXTS]:
            if key not in OPTION_ARGUMENTS:
                _collect(inner, words, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value[:QUERY_TEXTS]:
            _collect(inner, words, depth + 1)


#: Strings, which are passed over whole, and brackets. A string that never ends matches too: it is read once.
_TOKEN = re.compile(r'(?s)"(?:[^"\\]++|\\.)*+"?|[\[\]{}]')


def cut_deep_parts(text: str, deepest: int, word: str | None = None) -> str:
    """Return JSON with a word, or else a string of JSON, in place of all that is nested deeper."""
    pieces = []
    depth = 0
    start = 0
    at = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == deepest + 1:
                start = token.start()
                pieces.append(text[at:start])
        elif token[0] in ("]", "}"):
            depth -= 1
            if depth == deepest:
                pieces.append(json.dumps(text[start : token.end()] if word is None else word))
                at = token.end()
    return "".join((*pieces, text[at:]))


def _join(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

"""Answer the hook of any agent: its result within the limits, and never a failed tool call.

No result is exempt, whatever its tool or its command is called: an answer of ours passes because it fits.
"""

from __future__ import annotations

import json
import logging
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
QUERY_CHARS = 4_000
QUERY_TEXT_CHARS = 1_000
QUERY_TEXTS = 64
QUERY_DEPTH = 5
#: Arguments that say how, not what; the command is known by itself.
HOW = frozenset(
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
    """Return what an agent's hook answers to an event; None if nothing changes.

    The Clipper is made only if there is a result. Whatever fails from then on, the result is bounded.
    """
    hook = host.hook
    call = hook.read(event) if hook and isinstance(event, dict) else None
    if hook is None or call is None:
        tool = _tool_of(event)
        why = "the model needs it word for word" if hook and tool in hook.exact else "it has another shape"
        _log.info("The hook left the result of %s alone: %s.", tool, why)
        return None
    result = bound_result(host, call, make_clipper)
    return None if result is None else hook.reply(call, result)


def _tool_of(event: object) -> str:
    """Return the tool that an event names, for the log; "" if there is none."""
    return next(filter(None, (get_text(event, key) for key in ("tool", "tool_name", "toolName"))), "")


def bound_result(host: Host, call: ToolCall, make_clipper: Callable[[], Clipper]) -> Any:
    """Return the result of a tool within the limits, with secrets covered; None if it stays as it is."""
    assert host.hook is not None
    shows = call.shows or host.shows
    limits = shows
    ending = call.ending
    cover: Callable[[str], str] = _cover_all
    within: Bounder
    try:
        clipper = make_clipper()
        cover = partial(cover_text, clipper.settings) if clipper.settings.redact != "off" else str
        if clipper.settings.leaves_alone(call.tool):
            _log.info("The hook left the result of %s alone: a rule says so.", call.tool)
            return None
        query = query_from_arguments(call.arguments)
        own = clipper.call(call.tool, command=call.command or "", call_id=call.call_id, cwd=call.cwd, query=query)
        if own.limits is not UNLIMITED:
            own, ending = reserve_ending(own.lower(shows) if shows else own, ending)
        limits = own.limits
        cut_at = call.cut_at or host.shows
        within = Clipping(own, host, cut_at, call.exit_code, ending)
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
    seen = call.result if result is None else result
    covered = cover_strings(seen, cover)
    return result if covered == seen else covered


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

    def marked(self, text: str) -> str:
        """Return a text with invisible characters spelled out; cleaned and marked if a line reads like a notice."""
        text = cover_text(self.call.settings, text)
        guard = notice_guard(self.call.settings)
        if guard is None or (is_plain(text) and not guard.suspects(text)):
            return text
        raw = text.encode("utf-8", "surrogatepass")
        for seen in (clean(raw), every_line(text)):
            marked = guard(seen)
            if marked != seen:
                return marked
        return make_visible(text, raw) if has_invisible(raw) else text

    def text(self, text: str) -> str | None:
        """Return a text within the limits, and the `ending` of the call; None if it stays as it is."""
        self = self._of_preview(text)  # noqa: PLW0642  the same call
        if self.fits(text):
            marked = self.marked(text)
            if marked == text or self.fits(marked):
                self._record_whole(text, [marked])
                return None if marked == text else marked + self.ending
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
        joined = "\n".join(texts)
        if not texts:
            return None
        self = self._of_preview(*texts)  # noqa: PLW0642  as above
        unchanged = self.call.settings.redact == "off" and self.fits(joined)
        if unchanged and all(self.marked(text) == text for text in texts):
            self._record_whole(joined, texts)
            return None
        with together():
            clipped = clip_blocks(blocks, self.call)
        self._record(clipped.clip, _encode(joined), list_texts(clipped))
        return None if list(clipped) == blocks else list(clipped)

    def streams(self, stdout: str | FileIO, stderr: str) -> dict[str, str] | None:
        """Return both streams within the limits; None if both stay as they are, or if a file cannot be stored."""
        if not isinstance(stdout, str):
            return self._clip_stored(stdout, stdout=stdout, stderr=stderr)
        self = self._of_preview(stdout, stderr)  # noqa: PLW0642  as above
        texts = {"stdout": stdout, "stderr": stderr}
        if self.fits(_join(stdout, stderr)):
            marked = {name: self.marked(text) for name, text in texts.items()}
            if marked == texts or self.fits(_join(*marked.values())):
                self._record_whole(_join(stdout, stderr), [*marked.values()])
                return None if marked == texts else marked
        shown, clip = self._clip_streams(texts)
        if clip.outcome == "whole":
            # Cleaned, they fit, and need no label: each has its own place.
            shown = {name: visible_text(self.call.settings, _encode(text)) for name, text in texts.items()}
        self._record(clip, _encode(_join(stdout, stderr)), [*shown.values()])
        return shown

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
        """Return what is shown of each stream, and the clip of all."""
        with together():
            return clip_each_stream(streams, self.call)

    def _record_whole(self, text: str, seen: Sequence[str]) -> None:
        """Record a call whose result stays as it is."""
        data = _encode(text)
        self._record(Clip(text, _total=Size(count_lines(text), len(data), len(text))), data, seen)

    def _record(self, clip: Clip, data: bytes, seen: Sequence[str]) -> None:
        """Record a call, and what the model saw of it. `spill` has recorded its own already, and all of it."""
        if clip.outcome != "whole" or not is_our_answer(self.call.command):
            title = self.host.title if self.host else None
            cut = dict(self.cut_at.given()) if self.cut_at else None
            record_result(self.call, clip, texts=seen, host=title, cut=cut if cut or not title else {})
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

    def marked(self, text: str) -> str:
        """Return the text with lines that look like a notice marked; no store is asked, so none counts as ours."""
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
        with_text = [block for block in blocks if _text_of(block)]
        text = self.text("\n".join(map(_text_of, with_text)))
        if text is None:
            return None
        return [_put_text(with_text[0], text), *(block for block in blocks if not _text_of(block))]

    def streams(self, stdout: str | FileIO, stderr: str) -> dict[str, str] | None:
        """Return both ends of each stream, half of the room for each."""
        if not isinstance(stdout, str):
            stdout.close()
            return None
        texts = {"stdout": stdout, "stderr": stderr}
        changed = {name: short for name, text in texts.items() if (short := self._shorten(text, 2)) is not None}
        return {**texts, **changed} if changed else None

    def _shorten(self, text: str, shares: int) -> str | None:
        try:
            covered = self.cover(text)
        except Exception as error:  # noqa: BLE001  nothing is shown that was not searched for secrets
            return shorten("", error, self.limits, shares=shares, missing=len(text.encode("utf-8", "replace")))
        short = None if self.program else shorten(covered, self.error, self.limits, shares=shares)
        return covered if short is None and covered != text else short


def _text_of(block: Any) -> str:
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
    return "\n".join(filter(None, map(_text_of, content))) if isinstance(content, list) else _text_of(content)


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
    if len(words) >= QUERY_TEXTS or depth > QUERY_DEPTH:
        return
    if isinstance(value, str):
        words.append(value[:QUERY_TEXT_CHARS])
    elif isinstance(value, Mapping):
        for key, inner in list(value.items())[:QUERY_TEXTS]:
            if key not in HOW:
                _collect(inner, words, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value[:QUERY_TEXTS]:
            _collect(inner, words, depth + 1)


def _join(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

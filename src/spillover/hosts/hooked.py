"""One tool call that a host asks us about: its texts measured, marked, clipped; None where they stay as they are.

No result is exempt, whatever its tool or its command is called: an answer of ours passes because it fits.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
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
from spillover.hosts import find_cut
from spillover.hosts.asked import query_of
from spillover.hosts.hook_plain import Plain
from spillover.notice.sentences import cut_by
from spillover.result import Clip
from spillover.results.objects import cover_strings
from spillover.settings.limits import Limits, Size, count_lines
from spillover.settings.settings import UNLIMITED, Call

_log = logging.getLogger(__name__)

#: A record keeps no more of a command line.
COMMAND_CHARS = 1_000
NOTHING: Mapping[str, int] = {}
#: What stands between the commands of a line.
SEPARATORS = ("|", "||", "|&", "&", "&&", ";", ";;", ">", ">>", "<")


class HookCall(Struct, frozen=True):
    """A call whose result a hook may replace, and what its host does with it."""

    call: Call
    host: str = ""  # whose call it is
    shown: Mapping[str, int] = NOTHING  # what the host itself shows of such a result, where that is known
    exit_code: int | None = None
    ending: str = ""  # what the host says below an output; it is no part of it, and stays

    def of_preview(self, *texts: str) -> Self:
        """Return the same call, of a preview if the host says in one of the texts that it has cut it."""
        if not any(find_cut(self.host, text) for text in texts):
            return self
        return replace(self, call=replace(self.call, preview=cut_by(self.host)))

    def fits(self, text: str) -> bool:
        """Return whether a text is within the limits; most are, and nothing that cuts is loaded for them."""
        call = self.call
        if call.compares:  # one that fits may still say what an earlier one said
            return False
        bounds = (call.limits,) if call.trigger is None else (call.trigger, call.limits)
        return any(each.hold(text, call.settings.count) for each in bounds)

    def marked(self, text: str) -> str:
        """Return the text as it is, invisible characters spelled out; cleaned and marked where a line of it reads like a notice."""
        text = cover_text(self.call.settings, text)
        guard = notice_guard(self.call.settings)
        if guard is None or (is_plain(text) and not guard.suspects(text)):
            return text
        raw = text.encode("utf-8", "surrogatepass")
        seen = clean(raw)
        marked = guard(seen)
        if marked != seen:
            return marked
        lines = every_line(text)
        marked = guard(lines)
        if marked != lines:
            return marked
        return make_visible(text, raw) if has_invisible(raw) else text

    def text(self, text: str) -> str | None:
        """Return the text within the limits, and what the host says below it; None where it stays as it is."""
        self = self.of_preview(text)  # noqa: PLW0642
        if self.fits(text):
            marked = self.marked(text)
            if marked == text or self.fits(marked):
                self._record_whole(text, [marked])
                return None if marked == text else marked + self.ending
        with together():
            clip = pipeline.clip(text, self.call)
        self._record(clip, _bytes(text), [clip.text])
        return None if clip.outcome == "whole" and clip.text == text else clip.text + self.ending

    def blocks(self, blocks: list[Any]) -> list[Any] | None:
        """Return the blocks with texts within the limits; None where all stay as they are."""
        from spillover.results.blocks import clip_blocks, list_texts

        texts = list_texts(blocks)
        joined = "\n".join(texts)
        if not texts:
            return None
        self = self.of_preview(*texts)  # noqa: PLW0642
        if (
            self.call.settings.redact == "off"
            and self.fits(joined)
            and all(self.marked(text) == text for text in texts)
        ):
            self._record_whole(joined, texts)
            return None
        with together():
            clipped = clip_blocks(blocks, self.call)
        self._record(clipped.clip, _bytes(joined), list_texts(clipped))
        return None if list(clipped) == blocks else list(clipped)

    def streams(self, *, stdout: str, stderr: str) -> dict[str, str] | None:
        """Return what is shown of each stream; None where both stay as they are."""
        self = self.of_preview(stdout, stderr)  # noqa: PLW0642
        if self.fits(_together(stdout, stderr)):
            marked = {"stdout": self.marked(stdout), "stderr": self.marked(stderr)}
            same = marked == {"stdout": stdout, "stderr": stderr}
            if same or self.fits(_together(**marked)):
                self._record_whole(_together(stdout, stderr), [*marked.values()])
                return None if same else marked
        texts, clip, data = self._clip(stdout=stdout, stderr=stderr)
        if clip.outcome == "whole":
            # Cleaned, they fit, and need no label: each has its own place.
            texts = {
                name: visible_text(self.call.settings, _bytes(text))
                for name, text in (("stdout", stdout), ("stderr", stderr))
            }
        self._record(clip, data, [*texts.values()])
        return texts

    def clipped(self, **streams: Any) -> tuple[dict[str, str], str]:
        """Return streams clipped together, whatever they are given as; what is shown of each, and the outcome.

        Only what is stored is shown by those who ask, and is in the journal.
        """
        texts, clip, data = self._clip(**streams)
        if clip.outcome == "stored":
            self._record(clip, data, [*texts.values()])
        else:
            self._record_run(clip, data)
        return texts, clip.outcome

    def _clip(self, **streams: Any) -> tuple[dict[str, str], Clip, bytes]:
        """Return what is shown of each stream, the clip of all, and the bytes of a run that fitted."""
        from spillover.results.blocks import clip_each_stream

        with together():
            texts, clip = clip_each_stream(streams, self.call)
        said = [text for text in streams.values() if isinstance(text, str)]
        return texts, clip, _bytes(_together(*said)) if len(said) == len(streams) else _bytes(clip.text)

    def _record_whole(self, text: str, seen: Sequence[str]) -> None:
        """Remember a call whose result stays as it is."""
        data = _bytes(text)
        self._record(Clip(text, _total=Size(count_lines(text), len(data), len(text))), data, seen)

    def _record(self, clip: Clip, data: bytes, seen: Sequence[str]) -> None:
        """Record a call, and what the model saw of it. `spill` has recorded its own already, and all of it."""
        whole = clip.outcome == "whole"
        if not whole or not is_our_answer(self.call.command):
            bounds = self.shown or (None if not self.host else {})
            record_result(self.call, clip, texts=seen, host=self.host or None, cut=bounds)
        self._record_run(clip, data)

    def _record_run(self, clip: Clip, data: bytes) -> None:
        if clip.outcome == "whole" and _is_ours(self.call.command):
            return
        record_run(self.call, clip, data, exit_code=self.exit_code)


def bound_result(
    bound: Callable[[HookCall | Plain], Any],
    clipper: Callable[[], Clipper],
    tool: str,
    *,
    host: str,
    at_most: Mapping[str, int],
    shown: Mapping[str, int] | None = None,
    arguments: object = None,
    command: str | None = None,
    call_id: str | None = None,
    cwd: str | None = None,
    caller: object = None,
    exit_code: int | None = None,
    ending: str = "",
    whole: Any = None,
) -> Any:
    """Return what `bound` makes of a result; None if it stays as it is. Whatever fails, the result is bounded.

    `at_most` is what the result must not exceed, `shown` what the host itself shows of it, if that is more. A program, if
    that is the `caller`, gets the result as it is; it is stored where it overflows. `ending` is what the host says below
    the output: room is left for it. `whole` is the result as it came, in the shape that `bound` returns: where secrets are
    covered, they are covered in all of it.
    """
    limits = Limits(**at_most) if at_most else None
    cover: Callable[[str], str] = _cover

    def without_secrets(new: Any) -> Any:
        if cover is str:
            return new
        result = whole if new is None else new
        covered = cover_strings(result, cover)
        return new if covered == result else covered

    try:
        chosen = clipper()
        cover = partial(cover_text, chosen.settings) if chosen.settings.redact != "off" else str
        if chosen.settings.leaves_alone(tool):
            _log.info("The hook left the result of %s alone: a rule says so.", tool)
            return None
        call = chosen.call(tool, command=command or "", call_id=call_id, cwd=cwd, query=query_of(arguments))
        if call.limits is not UNLIMITED:
            call, ending = _leave_room(bounded(call, **at_most), ending)
        limits = call.limits
        result = HookCall(call, host, at_most if shown is None else shown, exit_code, ending)
        if pipeline.is_program(caller):
            with together():  # no model reads it, so it is stored and not counted
                bound(result)
            return without_secrets(None)
        return without_secrets(bound(result))
    except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on, and its result is bounded
        from spillover.hosts.hook_plain import Plain

        return without_secrets(bound(Plain(error, limits, ending, cover, pipeline.is_program(caller))))


def _cover(text: str) -> str:
    """Return a text with secrets covered, as nothing is known that says otherwise."""
    from spillover.secrets.outputs import cover

    return cover(text.encode("utf-8", "surrogatepass"))[0].decode("utf-8", "surrogatepass")


def _is_ours(command: str | None) -> bool:
    """Return whether a line runs `spill`, behind a `cd` or not."""
    words = (
        (command or "").rpartition("&&")[2].split() if (command or "").startswith("cd ") else (command or "").split()
    )
    return _is_spill(words) and words[1:2] in (["sh"], ["run"])


def _is_spill(words: Sequence[str]) -> bool:
    """Return whether a command is `spill`, by its name or its whole path: some agents run a shell with a PATH of its own."""
    return words[:1] == ["spill"] or (bool(words) and words[0].startswith("/") and words[0].endswith("/spill"))


def is_our_answer(command: str | None) -> bool:
    """Return whether a line is one command of ours and nothing else, so that all it printed is noted already."""
    if not command or "spill " not in command:
        return False
    if _is_ours(command):
        return True
    import shlex  # few lines come this far

    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:  # quotes that never end
        return False
    if words[:1] == ["cd"] and words[2:3] == ["&&"]:
        words = words[3:]
    return _is_spill(words) and words[1:2] != ["mcp"] and not any(word in SEPARATORS for word in words)


def bounded(call: Call, **shown: int) -> Call:
    """Return the call lowered to what a host shows, the trigger included, so that the host cuts nothing more."""

    def lower(limits: Limits, *others: Limits | None) -> Limits:
        said = {
            name: [value for other in (limits, *others) if other and (value := getattr(other, name))] for name in shown
        }
        return replace(limits, **{name: min([most, *said[name]]) for name, most in shown.items()})

    trigger = call.trigger and lower(call.trigger)
    return replace(call, limits=lower(call.limits, trigger), trigger=trigger).below(Limits(**shown))


def _leave_room(call: Call, ending: str) -> tuple[Call, str]:
    """Return call with room for what stands below an output, and that; without it where there is none."""
    limits = call.limits.without(ending, call.settings.count) if ending else None
    if limits is None:
        return call, ""
    trigger = call.trigger and call.trigger.without(ending, call.settings.count)
    return replace(call, limits=limits, trigger=trigger), ending


def clip_file(file: FileIO, call: HookCall | Plain, name: str = "output") -> str | None:
    """Return an output that a host has kept in a file, within the limits; None if it cannot be stored."""
    with file:
        texts, outcome = call.clipped(**{name: file})
    return texts[name] + call.ending if outcome == "stored" else None


def open_temporary(path: str, name: re.Pattern[str]) -> FileIO | None:
    """Open a file that a result names in its text, which may be anybody's words: only one of this name among temporary files."""
    folder, base = os.path.split(path)
    temporary = next(filter(None, map(os.environ.get, ("TMPDIR", "TMP", "TEMP"))), "/tmp")  # noqa: S108  as in Node
    if os.path.realpath(folder) != os.path.realpath(temporary) or not name.fullmatch(base):
        return None
    return open_file(os.path.join(os.path.realpath(folder), base))


def read_number(found: re.Match[str] | None) -> int | None:
    """Return the number in the first group of what was found."""
    return int(found[1]) if found else None


def open_file(path: object, size: object = None) -> FileIO | None:
    """Open a file that a host names, if it is a plain file of this user and size. No link is followed, and nothing blocks."""
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return None
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid() or size not in (None, facts.st_size):
        os.close(fd)
        return None
    return os.fdopen(fd, "rb", buffering=0)


def _together(stdout: str, stderr: str = "") -> str:
    return "\n".join(filter(None, (stdout, stderr)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def words_of(values: object, key: str, most: int | None = None) -> str | None:
    """Return a text under a key; None where there is none."""
    value = values.get(key) if isinstance(values, dict) else None
    return value[:most] if isinstance(value, str) else None

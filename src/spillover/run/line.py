"""`spill sh`: run a line of shell, clip what it prints, keep what its own `| tail` drops, report hidden exit codes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from shlex import quote
from shutil import rmtree, which
from tempfile import mkdtemp

from msgspec import Struct
from msgspec.structs import replace

from spillover import pipeline
from spillover.api import Clipper
from spillover.document.clean import clean, every_line, has_invisible, is_plain
from spillover.document.document import notice_guard
from spillover.errors import UsageError
from spillover.events import record_run
from spillover.notice.wording import before_filters
from spillover.result import Clip, Run
from spillover.run import run
from spillover.settings.limits import SMALLEST, Limits, Size
from spillover.settings.settings import Call
from spillover.shell import Pipeline, Stage, base_name, has_option, is_retrieval, parse, read, resolve_command
from spillover.source.intake import Intake
from spillover.source.process import Command

#: Shells whose pipelines are understood; in any other the line runs unchanged.
KNOWN_SHELLS = ("bash", "sh", "dash")
#: The limits must be this many times the size of our notes; with a smaller number, the output has less room.
MIN_LIMITS_PER_NOTES = 4
#: Pipelines whose filters are captured; each costs a process.
MAX_PIPES = 8
#: Bytes read from a filter's input at once; more costs memory.
READ_BYTES = 1 << 16
#: How long a filter's input is waited for once the line has ended; a longer one keeps the caller waiting.
LINGER_SECONDS = 1.0
#: The longest path of a folder that leaves room for a socket's name: 108 bytes on Linux.
MAX_FOLDER_CHARS = 90
#: What ends the listening, in the place of a pipe's number.
END_MESSAGE = b"end\n"
#: A program that wrote to a filter which had had enough ends like this.
SIGPIPE_CODE = 128 + 13

#: Filters that drop lines: their options that take a word, and how many words stand before files are named.
GREPS = ("grep", "egrep", "fgrep", "rg")
GREP_OPTIONS = (
    "-e -f -m -A -B -C --regexp --file --max-count --after-context --before-context --context --include --exclude",
    1,
)
LINE_FILTERS: dict[str, tuple[str, int]] = {
    "tail": ("-n -c -s --lines --bytes --pid", 0),
    "head": ("-n -c --lines --bytes", 0),
    "wc": ("", 0),
    **dict.fromkeys(GREPS, GREP_OPTIONS),
    "sed": ("-e -f --expression --file", 1),
}
#: With one of these a filter reads files, changes them, or prints nothing.
OTHER_USES = {
    **dict.fromkeys(GREPS, ("-q", "--quiet", "--silent", "-r", "-R", "--recursive", "--files")),
    "sed": ("-i", "--in-place"),
    "tail": ("-f", "-F", "--follow"),
}
#: Programs that may stand between filters: what they print comes from what they read.
PASS_THROUGH = frozenset(
    ["sort", "uniq", "cut", "tr", "nl", "cat", "column", "fold", "rev", "tac", "awk", "sed", "fmt", "jq"]
)
#: What these print stands in the line, or in a file that is named there.
PLAIN_SOURCES = frozenset({"echo", "printf", "cat"})
#: A group is named after its last command that is none of these.
NAMELESS = frozenset(["exit", "echo", "printf", "true", "false", "cd", "set", "export", ":", "sleep", "wait"])
#: Commands, and variables, that would see the words that are added to the line, or give them another meaning.
SELF_INSPECTING = frozenset({"trap", "alias", "unalias", "enable", "shopt", "coproc"})
SELF_INSPECTING_NAMES = ("BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_SUBSHELL", "LINENO", "xtrace", "verbose")
GROUPS = frozenset({"subshell", "compound_statement"})

#: Programs that draw on the terminal, ask, or never end.
INTERACTIVE = frozenset(
    [
        "vim", "vi", "nvim", "nano", "emacs", "less", "more", "top", "htop", "ssh", "man", "tmux", "screen", "watch",
        "sudo", "su",
    ]
)  # fmt: skip
#: Programs that ask when they are given nothing to run, and nothing is piped into them.
PROMPTS = frozenset(
    ["python", "ipython", "node", "deno", "bun", "irb", "ghci", "lua", "bash", "sh", "dash", "zsh", "fish"]
)
#: Options of theirs that name nothing to run.
PROMPT_OPTIONS = frozenset({"-q", "-i", "-l", "-u", "-B", "--login", "--norc", "--noprofile"})


class Program(Struct, frozen=True):
    """A stage before the filters, by the bytes of the line from `start` to `end`, where its `|` stands."""

    start: int
    end: int
    name: str
    reports_exit: bool  # whether its exit code can be noted without a change of what it means


class Pipe(Struct, frozen=True):
    """A pipeline that ends in filters."""

    programs: tuple[Program, ...]
    filter_at: int  # where the name of the first filter stands
    first_filter: str
    filters: str  # all of them, as they are written: "| grep -v ok | tail -20"


class FilteredInput(Struct, frozen=True):
    """What went into a pipeline's filters, and how the programs before them ended."""

    filters: str
    exits: tuple[tuple[str, int], ...]  # as far as they are known
    lossy: bool = False  # whether the filters hid some of it
    lines: int = 0
    ref: str | None = None
    reason: str | None = None  # why it could not be kept, or not all of it, or on this machine only
    only_here: bool = False  # on this machine only

    def note(self, exit_code: int) -> str:
        """Return the line about it; nothing where the line's own exit code says it all."""
        failures = [(program, code) for program, code in self.exits if code not in (0, SIGPIPE_CODE)]
        if not self.lossy and all(code == exit_code for _, code in failures):
            return ""
        storage = {"lines": self.lines, "ref": self.ref, "reason": self.reason, "here": self.only_here}
        return before_filters(self.filters, failures or list(self.exits[-1:]), storage if self.lossy else None)


class StoredInput(Struct, frozen=True):
    """The clip of an input that was stored, to be recorded as a run of its own."""

    call: Call
    clip: Clip
    exit_code: int | None


class LineRun(Struct, frozen=True):
    """A line that has ended."""

    run: Run
    inputs: tuple[FilteredInput, ...] = ()
    notes: tuple[str, ...] = ()
    pieces: tuple[tuple[str, bytes], ...] = ()  # (stream, bytes) in order of arrival, where they are shown unchanged


def run_line(
    line: str,
    clipper: Clipper,
    *,
    call: Call | None = None,
    shell: str = "bash",
    timeout: float | None = None,
    interactive: bool = False,
    die_with_parent: bool = False,
    together: bool = False,
) -> LineRun:
    """Run a line as `bash -c` does, and clip what it prints, by default as a call of the line's own tool.

    `together`: its streams are one pipe, in the order written.
    """
    if "\0" in line:
        raise UsageError("a line of shell cannot hold a NUL byte.")
    call = call or clipper.call(command=line)
    pipes = _find_pipes_to_capture(line, shell)
    capture = FilterCapture(pipes, clipper, line, shell) if pipes else None
    inputs: tuple[FilteredInput, ...] = ()
    notes: list[str] = []
    pieces: tuple[tuple[str, bytes], ...] = ()

    def finish(intake: Intake, call: Call, exit_code: int) -> Call:
        nonlocal inputs, notes, pieces
        inputs = capture.finish(intake) if capture else ()
        notes, call = _leave_room([note for item in inputs if (note := item.note(exit_code))], call)
        raw_call = _pass_raw_if_harmless(intake, call)
        pieces = () if raw_call is call else tuple(intake.pieces)
        return raw_call

    try:
        command = Command(
            argv=[shell, "-c", capture.rewrite(line) if capture else line],
            timeout=timeout,
            interactive=interactive,
            die_with_parent=die_with_parent,
            together=together,
        )
        result = run(command, call, recorded_as=f"{shell} -c {line}", on_exit=finish, list_notes=lambda: notes)
        if capture:
            capture.record()
    finally:
        if capture:
            capture.close()
    return LineRun(result, inputs, tuple(notes), pieces if result.clip.outcome == "whole" else ())


def is_interactive(line: str) -> bool:
    """Return whether a pipeline of a line ends in an editor, a pager or a prompt that shows on the terminal."""
    for *before, last in parse(line):
        if last.silent:
            continue
        if last.program in INTERACTIVE:
            return True
        if before or "<" in line:
            continue
        if last.program == "read":  # bash prints its prompt only on a terminal
            if any(word.startswith("-") and word.endswith("p") for word in last.words):
                return True
        elif base_name(last.program) in PROMPTS and PROMPT_OPTIONS.issuperset(last.words):
            return True
    return False


def find_pipes(line: str) -> list[Pipe]:
    """Return the pipelines that end in filters; none where the line cannot be read for certain."""
    if any(name in line for name in SELF_INSPECTING_NAMES):
        return []
    pipelines = read(line, strict=True)
    if any(_inspects_itself(stage) for pipeline in pipelines for stage in pipeline.stages):
        return []
    return _find_pipes_in(pipelines, line.encode("utf-8", "surrogatepass"))[:MAX_PIPES]


def rewrite(line: str, pipes: list[Pipe], capture: Callable[[int], str], report: Callable[[int, int], str]) -> str:
    """Return the line with `capture(pipe)` before each first filter, and `report(pipe, stage)` in each stage."""
    data = line.encode("utf-8", "surrogatepass")
    edits: list[tuple[int, str]] = []
    for number, pipe in enumerate(pipes):
        for at, program in enumerate(pipe.programs):
            if program.reports_exit:
                edits += [(program.start, f"{{ {report(number, at)}; "), (program.end, "; } ")]
        edits.append((pipe.filter_at, f"{capture(number)} "))
    for at, words in sorted(edits, reverse=True):
        data = data[:at] + words.encode() + data[at:]
    return data.decode("utf-8", "surrogatepass")


def _inspects_itself(stage: Stage) -> bool:
    """Return whether something in a stage would see the words that are added, or gives a filter another meaning."""
    words = stage.words
    if stage.kind == "function_definition" and words and words[0] in {*LINE_FILTERS, *PASS_THROUGH, "trap", "echo"}:
        return True
    if stage.kind == "command" and words:
        if words[0] in SELF_INSPECTING:
            return True
        if words[0] == "set" and any(has_option(word, option) for word in words for option in ("-x", "-v")):
            return True
    return any(_inspects_itself(inner) for pipeline in stage.body for inner in pipeline.stages)


def _find_pipes_in(pipelines: Sequence[Pipeline], data: bytes) -> list[Pipe]:
    """Return the pipelines that end in filters, in groups too; `data` is the line."""
    pipes = []
    for candidate in pipelines:
        if candidate.background:  # it goes on after the line has ended
            continue
        first = candidate.stages[0]
        if len(candidate.stages) > 1:
            pipes += _read_pipe(candidate.stages, data)
        elif first.kind in GROUPS and not first.negated and not first.redirected:
            pipes += _find_pipes_in(first.body, data)
    return pipes


def _read_pipe(stages: tuple[Stage, ...], data: bytes) -> list[Pipe]:
    """Return a pipeline as one that ends in filters; nothing where it does not, or not for certain."""
    # The text of a here-document stands behind the line, and the rest of the line inside of it.
    if any(stage.script is not None for stage in stages):
        return []
    first = len(stages)
    drops_lines = False
    while first > 1 and (kind := _classify_filter(stages[first - 1])):
        drops_lines = drops_lines or kind == "drops"
        first -= 1
    if not drops_lines:
        return []
    programs = tuple(_read_program(stage, number) for number, stage in enumerate(stages[:first]))
    if len(programs) == 1 and stages[0].kind == "command" and programs[0].name in PLAIN_SOURCES:
        return []
    name_at = stages[first].name_at
    assert name_at is not None
    text = data[stages[first - 1].pipe_at : stages[-1].end].decode("utf-8", "replace")
    return [Pipe(programs, name_at, stages[first].words[0], text)]


def _read_program(stage: Stage, number: int) -> Program:
    """Return a stage before the filters, named after the last of its commands that has a name of its own."""
    commands = [command.words for command in stage.commands() if command.words] or [(stage.kind.partition("_")[0],)]
    words = next((words for words in reversed(commands) if words[0] not in NAMELESS), commands[-1])
    command = resolve_command(words)
    name = words[0].rpartition("/")[2] if command is None or isinstance(command, str) else command.program
    # `time` and `!` speak of the whole pipeline; in braces they would speak of one stage.
    is_timed = number == 0 and words[0] == "time"
    return Program(stage.start, stage.pipe_at, name, reports_exit=not (stage.negated or is_timed))


def _classify_filter(stage: Stage) -> str:
    """Return "drops" for a filter that drops lines, "passes" for one that passes them on; nothing for other stages."""
    if stage.kind != "command" or stage.negated or stage.redirected or stage.name_at is None:
        return ""
    program, *words = stage.words
    if program in LINE_FILTERS and _reads_stdin(program, words):
        return "drops"
    return "passes" if program in PASS_THROUGH else ""


def _reads_stdin(program: str, words: list[str]) -> bool:
    """Return whether a filter reads what is piped into it, and nothing else."""
    options, own_words = LINE_FILTERS[program]
    with_word = options.split()
    files = 0
    prints_all = program == "sed"  # unless `-n` is set
    while words:
        word = words.pop(0)
        if any(has_option(word, option) for option in OTHER_USES.get(program, ())):
            return False
        if program == "sed" and has_option(word, "-n"):
            prints_all = False
        if word == "--":
            files += len(words)
            break
        if word in with_word:
            del words[:1]
            own_words = own_words if word not in ("-e", "-f", "--regexp", "--expression", "--file") else 0
        elif not word.startswith(("-", "+")):
            files += 1
        elif word.startswith(("--regexp=", "--expression=")) or (own_words and word.startswith("-e") and len(word) > 2):
            own_words = 0
    return files <= own_words and not prints_all


def _find_pipes_to_capture(line: str, shell: str) -> list[Pipe]:
    """Return the pipelines to look into: their filters are programs that no inherited function hides."""
    name = os.path.basename(shell)
    if name not in KNOWN_SHELLS or not any(filter_name in line for filter_name in LINE_FILTERS):
        return []
    return [
        pipe
        for pipe in find_pipes(line)
        if which(pipe.first_filter)
        and f"BASH_FUNC_{pipe.first_filter}%%" not in os.environ
        and not (name != "bash" and "|&" in line)
    ]


class FilterCapture:
    """Collects the inputs of a line's filters, over a socket, and the exit codes before them, from a file."""

    def __init__(self, pipes: list[Pipe], clipper: Clipper, line: str, shell: str) -> None:
        self.pipes = pipes
        self.line = line
        self.shell = shell
        self.lock = threading.Lock()
        self.closed = False
        self.calls = [clipper.call(pipe.programs[-1].name) for pipe in pipes]
        self.intakes: list[Intake | None] = [pipeline.open_intake(call) for call in self.calls]
        self.threads: list[threading.Thread] = []
        self.stored_inputs: list[StoredInput] = []
        self.folder = _make_folder()
        self.listener = self._listen() if self.folder else None

    def rewrite(self, line: str) -> str:
        """Return the line to run: unchanged where nothing listens, or where the shell would not read it."""
        if self.listener is None:
            return line
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keep.py")
        keep = f"{quote(sys.executable)} -I -S {quote(program)} {self.folder}/socket"
        exits = f"2>/dev/null >>{self.folder}/exits"
        rewritten = rewrite(
            line,
            self.pipes,
            lambda pipe: f"{keep} {pipe}",
            lambda pipe, at: f"trap 'echo {pipe} {at} $? {exits}' EXIT",
        )
        try:
            check = subprocess.run(
                [self.shell, "-n", "-c", rewritten], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except OSError:  # there is no such shell, which the run will say
            return line
        return line if check.returncode else rewritten

    def finish(self, printed: Intake) -> tuple[FilteredInput, ...]:
        """Return the inputs of each pipe's filters, once the line has ended and `printed` is complete."""
        deadline = time.monotonic() + LINGER_SECONDS
        self._stop_listening(deadline)
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        running = {int(thread.name) for thread in self.threads if thread.is_alive()}
        codes = self._read_exit_codes()
        printed_data = None if printed.overflowed else printed.buffer
        inputs = []
        for number, pipe in enumerate(self.pipes):
            exits = tuple(
                (program.name, codes[number, at]) for at, program in enumerate(pipe.programs) if (number, at) in codes
            )
            intake = self.intakes[number]
            if intake is None or number in running:  # it never ran, or runs on in the background
                inputs.append(FilteredInput(pipe.filters, exits))
                continue
            self.intakes[number] = None
            inputs.append(self._store_input(intake, self.calls[number], pipe, exits, printed_data))
        return tuple(inputs)

    def _store_input(
        self, intake: Intake, call: Call, pipe: Pipe, exits: tuple[tuple[str, int], ...], printed: bytes | None
    ) -> FilteredInput:
        """Store an input of which something is not in the output, `printed`; drop any other."""
        intake.finish()
        if not intake.bytes or (not intake.overflowed and printed is not None and intake.buffer in printed):
            intake.abandon()
            return FilteredInput(pipe.filters, exits)
        from spillover.kinds.cut import keep

        call = replace(call, command=self.line)
        output, total = keep(intake, call)
        clip = Clip(
            "",
            "stored" if output.ref else "lost",
            output.ref,
            output.path,
            output.reason,
            _total=total,
            _shown_size=Size(),
        )
        self.stored_inputs.append(StoredInput(call, clip, dict(exits).get(pipe.programs[-1].name)))
        return FilteredInput(
            pipe.filters,
            exits,
            lossy=True,
            lines=total.lines,
            ref=output.ref,
            reason=output.reason,
            only_here=output.local_only,
        )

    def record(self) -> None:
        """Record each input that was stored as a run of its own, the newest one."""
        for item in self.stored_inputs:
            if not is_retrieval(item.call.tool, item.call.command or None):
                record_run(item.call, item.clip, b"", exit_code=item.exit_code)

    def close(self) -> None:
        """Close the socket, drop inputs that are not complete, and remove the folder."""
        if self.listener is not None:
            self.listener.close()
        with self.lock:
            self.closed = True
            for intake in filter(None, self.intakes):
                intake.abandon()
        if self.folder:
            rmtree(self.folder, ignore_errors=True)

    def _listen(self) -> socket.socket | None:
        """Return the socket that accepts the inputs; None where there can be none."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(f"{self.folder}/socket")
            listener.listen(len(self.pipes) + 1)
            self.accepting = threading.Thread(target=self._accept, args=(listener,), name="spillover-sh", daemon=True)
            self.accepting.start()
        except (OSError, RuntimeError):
            listener.close()
            return None
        return listener

    def _accept(self, listener: socket.socket) -> None:
        """Accept a connection for each pipe, whose number comes first; a thread receives its input."""
        waiting = set(range(len(self.pipes)))
        while waiting:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed: the line has ended
                return
            descriptor = connection.detach()
            digits = b""
            with suppress(OSError):
                while len(digits) < 8 and not digits.endswith(b"\n"):
                    digits += os.read(descriptor, 1) or b"\n"
            number = int(digits) if digits.strip().isdigit() else -1
            if number not in waiting:
                os.close(descriptor)
                if digits == END_MESSAGE:
                    return
                continue
            waiting.discard(number)
            thread = threading.Thread(target=self._receive, args=(descriptor, number), name=str(number), daemon=True)
            thread.start()
            self.threads.append(thread)

    def _stop_listening(self, deadline: float) -> None:
        """Accept connections that are waiting by now, and no later ones."""
        if self.listener is None:
            return
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with suppress(OSError):  # all have come, and nobody listens any more
            connection.connect(f"{self.folder}/socket")
            connection.send(END_MESSAGE)
        connection.close()
        self.accepting.join(max(0.0, deadline - time.monotonic()))

    def _receive(self, descriptor: int, number: int) -> None:
        """Read the input of a pipe to its end."""
        intake = self.intakes[number]
        assert intake is not None
        try:
            with suppress(OSError):
                while data := os.read(descriptor, READ_BYTES):
                    with self.lock:  # of a job that goes on in the background nothing is kept any more
                        if self.closed:
                            return
                        intake.write(data)
        finally:
            os.close(descriptor)

    def _read_exit_codes(self) -> dict[tuple[int, int], int]:
        """Return the exit codes that the stages left, by pipe and stage."""
        try:
            with open(f"{self.folder}/exits", encoding="ascii", errors="replace") as file:
                rows = [line.split() for line in file]
        except OSError:
            return {}
        numbers = [tuple(map(int, row)) for row in rows if len(row) == 3 and all(word.isdecimal() for word in row)]
        return {(pipe, stage): code for pipe, stage, code in numbers}


def _make_folder() -> str:
    """Return a folder of our own; none where its path would need quotes, or be too long for a socket."""
    try:
        folder = mkdtemp(prefix="spill-sh-")
    except OSError:  # there is no place for it: the line runs all the same
        return ""
    if len(folder) < MAX_FOLDER_CHARS and folder.isascii() and quote(folder) == folder:
        return folder
    os.rmdir(folder)
    return ""


def _leave_room(notes: list[str], call: Call) -> tuple[list[str], Call]:
    """Return the notes that there is room for, and the call with limits that leave it."""
    while notes:
        text = "".join(f"{note}\n" for note in notes)
        cost = {
            "lines": len(notes),
            "bytes": len(text.encode()),
            "chars": len(text),
            "tokens": call.settings.count(text) + 1,
        }
        limits = _lower(call.limits, cost)
        trigger = call.trigger and _lower(call.trigger, cost)
        if limits is not None and (trigger is None) == (call.trigger is None):
            try:
                call.settings.check_room(limits)
            except UsageError:  # as the user's own tokenizer counts
                pass
            else:
                return notes, replace(call, limits=limits, trigger=trigger)
        notes = notes[:-1]
    return [], call


def _lower(limits: Limits, cost: Mapping[str, int]) -> Limits | None:
    """Return the limits less the cost of notes; None where that is too large a part, or leaves too little."""
    values = dict(limits.given())
    for name, value in values.items():
        if value < MIN_LIMITS_PER_NOTES * cost[name] or value - cost[name] < SMALLEST[name]:
            return None
    return replace(limits, **{name: value - cost[name] for name, value in values.items()})


def _pass_raw_if_harmless(intake: Intake, call: Call) -> Call:
    """Return the call with `raw` set where an output that fits may reach its reader unchanged.

    It may not where characters in it are invisible, or a line reads like a notice of ours.
    """
    data = b"" if intake.overflowed else intake.buffer
    if (is_plain(data) and _is_utf8(data)) or has_invisible(data) or call.compares or call.settings.redact != "off":
        return call
    guard = notice_guard(call.settings)
    pieces = intake.pieces
    # Halves of words that read like ours may come apart, and meet at who reads one of the streams.
    parts = [data, *(b"".join(piece for stream, piece in pieces if stream == name) for name in dict(pieces))]
    readings = [text for part in parts for text in (clean(part), every_line(part.decode("utf-8", "replace")))]
    if guard is None or any(guard(reading) != reading for reading in readings):
        return call
    text = data.decode("utf-8", "replace")
    lines = "\n".join(text.splitlines())  # some readers end a line at a form feed, too
    fits = all(pipeline.fits(reading, call, raw_bytes=len(data)) for reading in (text, lines))
    return call.with_settings(raw=True) if fits else call


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

"""t15: the last 2,000 lines / 50,000 bytes, and the file that holds all of it, in any of three wordings.

`direction_for` says which part of a command's output matters most; `warning_for` warns of one that prints a lot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.kinds.ends import first_chars, first_lines, last_chars, last_lines
from spillover.notice.form import CutFacts, Form, Words
from spillover.profiles import (
    has_whole_file,
    lost_words_without_path,
    make,
    mark_edge,
    mark_gap,
    name_call,
    open_outputs,
)
from spillover.settings.limits import Limits
from spillover.settings.settings import DEFAULT_TOOL
from spillover.shell import Command, base_name, parse, parse_substitutions
from spillover.store import Store
from spillover.store.folder import temp_folder
from spillover.store.retention import DAY, Retention
from spillover.types import Keep, Selector

NoticeStyle = Literal["block", "recipe", "generic"]

__all__ = [
    "DIRECTIONS",
    "FLOODS", "MAX_BYTES", "MAX_LINES", "STYLES", "Flood", "clipper", "clipper_for", "default_folder",
    "direction_for", "form", "warning_for",
]  # fmt: skip

#: The limits of the report.
MAX_LINES = 2_000
MAX_BYTES = 50_000
MAX_CHARS = 50_000
#: The same as settings, for `profile = "t15"`.
SETTINGS = {"lines": MAX_LINES, "bytes": MAX_BYTES, "keep": "tail"}
#: How long files are kept, and how many bytes of them: the report asks for both, and has neither.
TTL_SECONDS = 7 * DAY
QUOTA_BYTES = 1 << 30
#: The limits, the file ending and the folder that go with each wording.
STYLES: Mapping[NoticeStyle, tuple[Limits, str, str]] = {
    "block": (Limits(lines=MAX_LINES, bytes=MAX_BYTES), "txt", "opencode-overflow"),
    "recipe": (Limits(lines=MAX_LINES, bytes=MAX_BYTES), "txt", "agent-overflow"),
    "generic": (Limits(chars=MAX_CHARS), "log", "agent-overflow"),
}
END_NAMES = {"tail": "last", "head": "first"}
DEFAULT_DIRECTION = "tail"
#: The beginning of an output matters most where the first error causes the others. By the first words of a command,
#: the longest that match; `*` at the end of a name stands for the rest of a word. Add yours:
#: `{**DIRECTIONS, "zig test": "head"}`.
HEAD_COMMANDS = (
    "tsc, vue-tsc, flow, gcc, g++, cc, c++, clang, clang++, rustc, javac, kotlinc, scalac, swiftc, ghc, csc, "
    "gfortran, nvcc, protoc, cargo build, cargo check, cargo clippy, go build, go vet, zig build, dotnet build, "
    "mypy, pyright, msbuild, xcodebuild, swift build, bazel build, sbt compile, mix compile, dune build, stack "
    "build, cabal build, mvn compile, mvn test-compile, mvn testCompile, gradle compile*, gradle classes, gradle "
    "testClasses, gradle assemble*, gradle build"
)
TAIL_COMMANDS = (
    "tail, journalctl, dmesg, docker logs, podman logs, kubectl logs, cargo test, go test, pytest, npm, pnpm, "
    "yarn, pip, make, cmake, ninja, gradle, mvn, bash, sh"
)
DIRECTIONS: Mapping[str, str] = {
    **dict.fromkeys(HEAD_COMMANDS.split(", "), "head"),
    **dict.fromkeys(TAIL_COMMANDS.split(", "), "tail"),
}
#: The names that a compiler for another machine ends in: `aarch64-linux-gnu-gcc`.
COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran")
#: Build tools that take several tasks, of which the last decides: their options that take a word.
TASK_OPTIONS = {
    "mvn": [
        "-f", "--file", "-pl", "--projects", "-P", "--activate-profiles", "-s", "--settings", "-gs", "-T",
        "--threads", "-D", "--define", "-rf", "--resume-from", "-l", "--log-file", "-t", "--toolchains", "-b",
        "--builder",
    ],
    "gradle": [
        "-p", "--project-dir", "-b", "--build-file", "-c", "--settings-file", "-x", "--exclude-task", "-I", "-g",
        "--init-script", "-P", "-D", "--max-workers", "--console", "--warning-mode", "--priority", "--tests",
    ],
}  # fmt: skip
WRAPPERS = {"mvnw": "mvn", "mvnd": "mvn", "gradlew": "gradle"}
#: `yarn tsc` runs tsc, if it is there.
SCRIPT_RUNNERS = frozenset({"yarn", "pnpm", "bun"})
LISTS_FILES = "lists every file below a folder"
PRINTS_FINDS = "prints what it finds in every file it can reach"
READS_DEVICE = "reads a device, which has no end"
PRINTS_STEPS = "prints every step of an installation"
#: Characters of a command in a warning; more would hide the advice behind it.
MAX_COMMAND_CHARS = 80
#: A pipe is harmless if its last command lets no more than this through.
MAX_HARMLESS_LINES = 2_000
MAX_HARMLESS_BYTES = 50_000
#: Folders with more files than anybody can list.
WIDE_FOLDERS = frozenset(
    ["/", "/*", "/usr", "/home", "/var", "/etc", "/proc", "/sys", "/opt", "/root", "~", "$HOME", "${HOME}"]
)
MATCH_ALL = frozenset({"", ".", ".*", "^", "$"})
#: With one of these, `find` lists what was looked for, or nothing.
NARROWING_OPTIONS = [
    "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-size", "-newer", "-user", "-group",
    "-perm", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-empty", "-inum", "-samefile", "-quit",
    "-maxdepth", "-delete", "-exec", "-execdir", "-fprint",
]  # fmt: skip
#: What goes into these comes out again; anything else makes something else of it.
PASS_THROUGH = frozenset(
    [
        "cat", "tee", "sort", "uniq", "sed", "awk", "tr", "cut", "nl", "less", "more", "xargs", "tac", "rev",
        "column", "fmt", "head", "tail",
    ]
)  # fmt: skip
QUIET_DEVICES = ("/dev/null", "/dev/stdin", "/dev/fd/", "/dev/stdout", "/dev/stderr", "/dev/tty")


def clipper(
    *,
    notice_style: NoticeStyle = "block",
    keep: Keep | Selector | None = None,
    directions: Mapping[str, str] = DIRECTIONS,
    folder: str | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    ttl_seconds: float | None = TTL_SECONDS,
    quota_bytes: int | None = QUOTA_BYTES,
    **options: Any,
) -> Clipper:
    """Make a Clipper that truncates as the report does; `notice_style`: "block", "recipe" or "generic".

    Without a `keep`, it is the end of an output, and of what `clipper.run` runs the part that `directions` says.
    """
    if notice_style not in STYLES:
        raise UsageError(f"notice_style={notice_style!r} is not a wording of t15; use {', '.join(STYLES)}.")
    limits, ending, _ = STYLES[notice_style]
    outputs = open_outputs(
        store,
        folder=folder or default_folder(notice_style),
        names=lambda record: f"{name_call(record)}.{ending}",
        shape=rf"[A-Za-z0-9._-]+-[A-Za-z0-9._-]+\.{ending}",
        age_seconds=ttl_seconds,
        retention=Retention(age_seconds=ttl_seconds, bytes=quota_bytes),
    )
    words = form(notice_style, directions if keep is None else {})
    defaults = {"limits": limits, "keep": keep or DEFAULT_DIRECTION, "wording": words, "store": outputs}
    return make(defaults, options)


def clipper_for(command: str, *, directions: Mapping[str, str] = DIRECTIONS, **options: Any) -> Clipper:
    """Make the Clipper for what a command prints: the beginning of a compiler's output, the end of everything else."""
    base = clipper(**{"directions": directions, **options})
    return Clipper(settings=base.settings.for_call(DEFAULT_TOOL, command), budget=base.budget)


def form(
    notice_style: NoticeStyle = "block", directions: Mapping[str, str] = DIRECTIONS, *, warning: str | None = None
) -> Form:
    """Return one of its wordings. With `directions`, a command decides which part of its output is kept."""

    def for_command(command: str, keep: str) -> Mapping[str, Any]:
        part = direction_for(command, directions) if directions and keep == DEFAULT_DIRECTION else keep
        return {"keep": part, "wording": form(notice_style, directions, warning=warning_for(command))}

    def words(cut: CutFacts) -> Words:
        return _WORDS[notice_style](cut, warning or "")

    by_chars = notice_style == "generic"
    cuts = {"tail": last_chars if by_chars else last_lines, "head": first_chars if by_chars else first_lines}
    return Form(words, cuts, for_command=for_command, warning=warning)


def default_folders() -> list[str]:
    return sorted({default_folder(style) for style in STYLES})


def default_folder(notice_style: NoticeStyle = "block") -> str:
    """Return the folder of its outputs, in the temporary one."""
    return temp_folder(STYLES[notice_style][2])


def _block(cut: CutFacts, warning: str) -> Words:
    # Its own two directions name the limits, as the report does; any other part may be smaller than they are.
    sizes = cut.limits.given() if cut.keep in END_NAMES else _list_shown(cut)
    size = " / ".join(f"{size} {name}" for name, size in sizes)
    place = f"Full output saved to: {cut.place}\nUse the Read or Grep tool to access specific parts."
    lines = [f"Output truncated to {_name_end(cut)}{size}.", _place_or_loss(cut, place), *filter(None, [warning])]
    notice = "\n".join(["<truncated-notice>", *lines, "</truncated-notice>"])
    return mark_edge(cut), mark_gap, _newline(cut) + notice


def _recipe(cut: CutFacts, warning: str) -> Words:
    if cut.one_end:  # as the report counts: what stands between newlines, an empty line behind the last included
        total = cut.newlines + 1
        shown_lines = cut.parts[0].count("\n") + 1
    else:
        total = cut.total.lines
        shown_lines = cut.shown.lines
    direction = f" ({cut.keep})" if cut.keep else ""
    place = (
        f"Full output ({cut.total.bytes} bytes) saved to: {cut.place}\n"
        " Use Read or Grep tool to inspect specific sections."
    )
    sizes = f"Output truncated: {total} lines → {shown_lines} lines kept{direction}."
    notice = "\n ".join([sizes, _place_or_loss(cut, place), *filter(None, [warning])])
    return mark_edge(cut), mark_gap, f"{_newline(cut)}\n[{notice}]"


def _generic(cut: CutFacts, warning: str) -> Words:
    chars = (cut.keep in END_NAMES and cut.limits.chars) or cut.shown.chars
    size = f"{chars // 1_000}k" if chars % 1_000 == 0 else f"{chars} characters"
    place = _place_or_loss(cut, f"Full content: {cut.place}. Use Read/Grep to inspect.")
    sizes = f"Output was {cut.total.bytes} bytes, truncated to {_name_end(cut)}{size}."
    notice = " ".join([sizes, place, *filter(None, [warning])])
    return mark_edge(cut), mark_gap, f"{_newline(cut)}\n[{notice}]"


_WORDS: Mapping[str, Callable[[CutFacts, str], Words]] = {"block": _block, "recipe": _recipe, "generic": _generic}


def _name_end(cut: CutFacts) -> str:
    """Return "first " or "last ", the end that is shown; nothing for any other part."""
    return f"{END_NAMES[cut.keep]} " if cut.keep in END_NAMES else ""


def _list_shown(cut: CutFacts) -> list[tuple[str, int]]:
    """Return the amounts that are shown, in the units of the limits; tokens are not counted."""
    return [(name, getattr(cut.shown, name)) for name, _ in cut.limits.given() if name != "tokens"]


def _newline(cut: CutFacts) -> str:
    """End the last line that is shown, as the report does for its own two directions whatever that line is."""
    return "" if not cut.one_end and cut.parts and cut.parts[-1].endswith("\n") else "\n"


def _place_or_loss(cut: CutFacts, place: str) -> str:
    return place if has_whole_file(cut) else lost_words_without_path(cut)


class Flood(Struct, frozen=True):
    """A command that is known to print a lot: its program, when it does, and what it does then."""

    program: str
    when: Callable[[Command], bool]
    why: str


def _names_wide_folder(command: Command) -> bool:
    return any(place.rstrip("/") in WIDE_FOLDERS or place in WIDE_FOLDERS for place in command.plain)


def _greps_everything(command: Command) -> bool:
    pattern = next(iter(command.values("-e", "--regexp") or command.plain), None)
    return pattern in MATCH_ALL and not _counts(command)


def _greps_deeply(command: Command) -> bool:
    deep = command.has("-r", "-R", "--recursive", "--dereference-recursive")
    return deep and not _counts(command) and (_greps_everything(command) or _names_wide_folder(command))


def _counts(command: Command) -> bool:
    return command.has("-c", "--count", "-l", "--files-with-matches", "-q", "--quiet", "--silent", "-m", "--max-count")


def _sums_deeply(command: Command) -> bool:
    return _names_wide_folder(command) and not command.has("-s", "--summarize", "-d", "--max-depth")


def _prints_journal(command: Command) -> bool:
    return command.has("-f", "--follow") or not command.has("-n", "--lines", "-S", "--since", "-g", "--grep")


def _prints_log(command: Command, *limits: str) -> bool:
    return command.plain[:1] == ["logs"] and not command.has(*limits)


def _prints_patches(command: Command) -> bool:
    has_limit = command.has("-n", "--max-count", "--since") or any(
        word[1:].isdigit() for word in command.words if word[:1] == "-"
    )
    return command.plain[:1] == ["log"] and command.has("-p", "--patch", "-u") and not has_limit


def _reads_device(command: Command) -> bool:
    return any(place.startswith("/dev/") and not place.startswith(QUIET_DEVICES) for place in command.plain)


def _installs_loudly(command: Command) -> bool:
    loud = command.has("--verbose", "-d", "-dd", "-ddd") or {"verbose", "silly"} & {*command.values("--loglevel")}
    return bool(loud) and command.plain[:1] in (["install"], ["i"], ["ci"], ["add"], ["update"])


#: Add your own: warning_for(command, (*FLOODS, Flood("mytool", lambda c: c.has("-v"), "prints every packet"))).
FLOODS = (
    Flood("ls", lambda c: c.has("-R", "--recursive"), LISTS_FILES),
    Flood("find", lambda c: not c.has(*NARROWING_OPTIONS), LISTS_FILES),
    Flood("tree", lambda c: _names_wide_folder(c) and not c.has("-L"), "draws every file below a folder"),
    Flood("du", _sums_deeply, "prints a line for every folder"),
    Flood("grep", _greps_deeply, PRINTS_FINDS),
    Flood("egrep", _greps_deeply, PRINTS_FINDS),
    Flood("rg", lambda c: _greps_everything(c) or (_names_wide_folder(c) and not _counts(c)), PRINTS_FINDS),
    Flood("cat", _reads_device, READS_DEVICE),
    Flood("xxd", _reads_device, READS_DEVICE),
    Flood("hexdump", lambda c: _reads_device(c) and not c.has("-n"), READS_DEVICE),
    Flood("od", lambda c: _reads_device(c) and not c.has("-N", "--read-bytes"), READS_DEVICE),
    Flood("strings", _reads_device, READS_DEVICE),
    Flood("yes", lambda _: True, "prints the same line until it is stopped"),
    Flood("tail", lambda c: c.has("-f", "-F", "--follow", "--retry"), "follows a file until it is stopped"),
    Flood("ping", lambda c: not c.has("-c", "-w"), "prints a line a second until it is stopped"),
    Flood("journalctl", _prints_journal, "prints the whole journal"),
    Flood("docker", lambda c: _prints_log(c, "--tail", "-n", "--since"), "prints the whole log"),
    Flood("podman", lambda c: _prints_log(c, "--tail", "-n", "--since"), "prints the whole log"),
    Flood(
        "kubectl",
        lambda c: _prints_log(c, "--tail", "--since", "--since-time", "--limit-bytes"),
        "prints the whole log",
    ),
    Flood("git", _prints_patches, "prints every change ever made"),
    Flood("npm", _installs_loudly, PRINTS_STEPS),
    Flood("pnpm", _installs_loudly, PRINTS_STEPS),
    Flood("yarn", _installs_loudly, PRINTS_STEPS),
    Flood("pip", lambda c: c.plain[:1] == ["install"] and c.has("-vv", "-vvv"), PRINTS_STEPS),
    Flood("make", lambda c: c.has("-d", "--debug"), "prints every rule it considers"),
)


def direction_for(command: str, directions: Mapping[str, str] = DIRECTIONS) -> str:
    """Return the part of an output to keep, "head" or "tail", by the last command of the line that is known."""
    direction = DEFAULT_DIRECTION
    for pipeline in parse(command):
        for stage in pipeline:
            direction = _find_direction(stage, directions) or direction
    return direction


def _find_direction(command: Command, directions: Mapping[str, str]) -> str | None:
    """Look up the longest beginning of a command that is in the table."""
    short = base_name(command.program)
    short = WRAPPERS.get(short, short)
    compiler = short.rpartition("-")[2]
    for program in dict.fromkeys((command.program, short, compiler if compiler in COMPILERS else short)):
        words = [program, *(_last_task(command, TASK_OPTIONS[program]) if program in TASK_OPTIONS else command.verbs)]
        if program in SCRIPT_RUNNERS and words[1:2] and words[1] in directions:
            return directions[words[1]]
        for count in range(min(len(words), 3), 0, -1):
            beginning = " ".join(words[:count])
            for name in (beginning, *(name for name in directions if name.endswith("*"))):
                if name in directions and beginning.startswith(name.removesuffix("*")):
                    return directions[name]
    return None


def _last_task(command: Command, with_word: Sequence[str]) -> list[str]:
    """Return the last task of a build tool, without its project: `compileJava` of `:app:compileJava --info`."""
    words = iter(command.words)
    tasks = [word for word in words if not (word in with_word and next(words, "")) and not word.startswith("-")]
    return [task.rpartition(":")[2] for task in tasks[-1:]]


def warning_for(command: str, floods: Iterable[Flood] = FLOODS) -> str | None:
    """Return a sentence for a command that is known to print a lot, before it runs; None for all others."""
    floods = tuple(floods)
    for pipeline in (*parse(command), *parse_substitutions(command)):
        for number, stage in enumerate(pipeline):
            if stage.silent or not all(map(_passes, pipeline[number + 1 :])):
                continue
            for flood in floods:
                if flood.program == stage.program and flood.when(stage):
                    text = _shorten(stage.text)
                    return f"`{text}` {flood.why}; narrow it down, or bound it, for example with `| head -n 200`."
    return None


def _shorten(command: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in command)
    return text if len(text) <= MAX_COMMAND_CHARS else f"{text[:MAX_COMMAND_CHARS]}…"


def _passes(command: Command) -> bool:
    """Return whether about as much comes out of a command as goes in."""
    if command.silent or command.program not in PASS_THROUGH:
        return False
    if command.program in {"head", "tail"}:
        return command.has("-f", "-F", "--follow") or not _lets_little_through(command)
    return command.program != "sed" or not any(word.endswith("q") and word[:-1].isdigit() for word in command.plain)


def _lets_little_through(command: Command) -> bool:
    """Return whether `head` or `tail` lets little through: `-n 20`, `-20`, `-c 1000`; not `-n -5` or `-n +5`."""
    for options, limit in ((("-n", "--lines"), MAX_HARMLESS_LINES), (("-c", "--bytes"), MAX_HARMLESS_BYTES)):
        if not all(value.isdigit() and int(value) <= limit for value in command.values(*options)):
            return False
    return all(int(word[1:]) <= MAX_HARMLESS_LINES for word in command.words if word[:1] == "-" and word[1:].isdigit())

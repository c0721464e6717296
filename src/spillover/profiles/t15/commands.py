"""What is known of a command before it runs: which part of its output matters most, and whether there will be a lot of it."""

from __future__ import annotations

from msgspec import Struct

from spillover.shell import Command, base_name, parse, parse_substitutions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: The beginning of an output matters most where the first error causes the others. By the first words of a command, the
#: longest that match; `*` at the end of a name stands for the rest of a word. Add your own: {**DIRECTIONS, "zig build": "head"}.
DIRECTIONS: Mapping[str, str] = {
    **dict.fromkeys(
        ("tsc", "vue-tsc", "flow", "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "javac", "kotlinc", "scalac",
         "swiftc", "ghc", "csc", "gfortran", "nvcc", "protoc", "cargo build", "cargo check", "cargo clippy", "go build",
         "go vet", "zig build", "dotnet build", "mypy", "pyright", "msbuild", "xcodebuild", "swift build", "bazel build",
         "sbt compile", "mix compile", "dune build", "stack build", "cabal build", "mvn compile", "mvn test-compile",
         "mvn testCompile", "gradle compile*", "gradle classes", "gradle testClasses", "gradle assemble*", "gradle build"),
        "head",
    ),
    **dict.fromkeys(
        ("tail", "journalctl", "dmesg", "docker logs", "podman logs", "kubectl logs", "cargo test", "go test", "pytest",
         "npm", "pnpm", "yarn", "pip", "make", "cmake", "ninja", "gradle", "mvn", "bash", "sh"),
        "tail",
    ),
}  # fmt: skip
DEFAULT_DIRECTION = "tail"
#: The names that a compiler for another machine ends in: `aarch64-linux-gnu-gcc`.
COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran")
#: Build tools that are given several tasks, of which the last decides: their options that take a word.
TASK_OPTIONS = {
    "mvn": ("-f", "--file", "-pl", "--projects", "-P", "--activate-profiles", "-s", "--settings", "-gs", "-T", "--threads",
            "-D", "--define", "-rf", "--resume-from", "-l", "--log-file", "-t", "--toolchains", "-b", "--builder"),
    "gradle": ("-p", "--project-dir", "-b", "--build-file", "-c", "--settings-file", "-x", "--exclude-task", "-I", "-g",
               "--init-script", "-P", "-D", "--max-workers", "--console", "--warning-mode", "--priority", "--tests"),
}  # fmt: skip
WRAPPERS = {"mvnw": "mvn", "mvnd": "mvn", "gradlew": "gradle"}
#: `yarn tsc` runs tsc, if it is there.
RUN_BY_NAME = frozenset({"yarn", "pnpm", "bun"})
SHOWN_CHARS = 80
#: A pipe is harmless if its last command lets no more than this through.
MOST_LINES, MOST_BYTES = 2_000, 50_000
#: Folders with more files than anybody can list.
WIDE = frozenset(
    {"/", "/*", "/usr", "/home", "/var", "/etc", "/proc", "/sys", "/opt", "/root", "~", "$HOME", "${HOME}"}
)
EVERYTHING = frozenset({"", ".", ".*", "^", "$"})
#: With one of these, `find` lists what was looked for, or nothing.
NARROWS = ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-size", "-newer", "-user", "-group",
           "-perm", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-empty", "-inum", "-samefile", "-quit",
           "-maxdepth", "-delete", "-exec", "-execdir", "-fprint")  # fmt: skip
#: What goes into these comes out again; anything else makes something else of it.
PASSES = frozenset({"cat", "tee", "sort", "uniq", "sed", "awk", "tr", "cut", "nl", "less", "more", "xargs", "tac", "rev",
                    "column", "fmt", "head", "tail"})  # fmt: skip
QUIET_DEVICES = ("/dev/null", "/dev/stdin", "/dev/fd/", "/dev/stdout", "/dev/stderr", "/dev/tty")


class Flood(Struct, frozen=True):
    """A command that is known to print a lot: its program, when it does, and what it does then."""

    program: str
    when: Callable[[Command], bool]
    why: str


def _wide(command: Command) -> bool:
    return any(place.rstrip("/") in WIDE or place in WIDE for place in command.plain)


def _greps_everything(command: Command) -> bool:
    pattern = next(iter(command.values("-e", "--regexp") or command.plain), None)
    return pattern in EVERYTHING and not _counts(command)


def _recursive_grep(command: Command) -> bool:
    deep = command.has("-r", "-R", "--recursive", "--dereference-recursive")
    return deep and not _counts(command) and (_greps_everything(command) or _wide(command))


def _counts(command: Command) -> bool:
    return command.has("-c", "--count", "-l", "--files-with-matches", "-q", "--quiet", "--silent", "-m", "--max-count")


def _bounds_itself(command: Command) -> bool:
    return command.has("-n", "--max-count", "--since") or any(
        word[1:].isdigit() for word in command.words if word[0:1] == "-"
    )


def _device(command: Command) -> bool:
    return any(place.startswith("/dev/") and not place.startswith(QUIET_DEVICES) for place in command.plain)


def _loud_install(command: Command) -> bool:
    loud = command.has("--verbose", "-d", "-dd", "-ddd") or {"verbose", "silly"} & {*command.values("--loglevel")}
    return bool(loud) and command.plain[:1] in (["install"], ["i"], ["ci"], ["add"], ["update"])


#: Add your own: warning_for(command, (*FLOODS, Flood("mytool", lambda command: command.has("-v"), "prints every packet"))).
FLOODS = (
    Flood("ls", lambda c: c.has("-R", "--recursive"), "lists every file below a folder"),
    Flood("find", lambda c: not c.has(*NARROWS), "lists every file below a folder"),
    Flood("tree", lambda c: _wide(c) and not c.has("-L"), "draws every file below a folder"),
    Flood("du", lambda c: _wide(c) and not c.has("-s", "--summarize", "-d", "--max-depth"), "prints a line for every folder"),
    Flood("grep", _recursive_grep, "prints what it finds in every file it can reach"),
    Flood("egrep", _recursive_grep, "prints what it finds in every file it can reach"),
    Flood("rg", lambda c: _greps_everything(c) or (_wide(c) and not _counts(c)), "prints what it finds in every file it can reach"),
    Flood("cat", _device, "reads a device, which has no end"),
    Flood("xxd", _device, "reads a device, which has no end"),
    Flood("hexdump", lambda c: _device(c) and not c.has("-n"), "reads a device, which has no end"),
    Flood("od", lambda c: _device(c) and not c.has("-N", "--read-bytes"), "reads a device, which has no end"),
    Flood("strings", _device, "reads a device, which has no end"),
    Flood("yes", lambda _: True, "prints the same line until it is stopped"),
    Flood("tail", lambda c: c.has("-f", "-F", "--follow", "--retry"), "follows a file until it is stopped"),
    Flood("ping", lambda c: not c.has("-c", "-w"), "prints a line a second until it is stopped"),
    Flood("journalctl", lambda c: c.has("-f", "--follow") or not c.has("-n", "--lines", "-S", "--since", "-g", "--grep"),
          "prints the whole journal"),
    Flood("docker", lambda c: c.plain[:1] == ["logs"] and not c.has("--tail", "-n", "--since"), "prints the whole log"),
    Flood("podman", lambda c: c.plain[:1] == ["logs"] and not c.has("--tail", "-n", "--since"), "prints the whole log"),
    Flood("kubectl", lambda c: c.plain[:1] == ["logs"] and not c.has("--tail", "--since", "--since-time", "--limit-bytes"),
          "prints the whole log"),
    Flood("git", lambda c: c.plain[:1] == ["log"] and c.has("-p", "--patch", "-u") and not _bounds_itself(c),
          "prints every change ever made"),
    Flood("npm", _loud_install, "prints every step of an installation"),
    Flood("pnpm", _loud_install, "prints every step of an installation"),
    Flood("yarn", _loud_install, "prints every step of an installation"),
    Flood("pip", lambda c: c.plain[:1] == ["install"] and c.has("-vv", "-vvv"), "prints every step of an installation"),
    Flood("make", lambda c: c.has("-d", "--debug"), "prints every rule it considers"),
)  # fmt: skip


def direction_for(command: str, directions: Mapping[str, str] = DIRECTIONS) -> str:
    """Return which part of a command's output to keep, "head" or "tail": the last command of the line that is known decides."""
    found = DEFAULT_DIRECTION
    for pipeline in parse(command):
        for each in pipeline:
            found = _direction(each, directions) or found
    return found


def _direction(command: Command, directions: Mapping[str, str]) -> str | None:
    """Look up the longest beginning of a command that is in the table."""
    short = base_name(command.program)
    short = WRAPPERS.get(short, short)
    compiler = short.rpartition("-")[2]
    for program in dict.fromkeys((command.program, short, compiler if compiler in COMPILERS else short)):
        words = [program, *(_last_task(command, TASK_OPTIONS[program]) if program in TASK_OPTIONS else command.verbs)]
        if program in RUN_BY_NAME and words[1:2] and words[1] in directions:
            return directions[words[1]]
        for count in range(min(len(words), 3), 0, -1):
            beginning = " ".join(words[:count])
            for name in (beginning, *(name for name in directions if name.endswith("*"))):
                if name in directions and beginning.startswith(name.removesuffix("*")):
                    return directions[name]
    return None


def _last_task(command: Command, taking: Sequence[str]) -> list[str]:
    """Return the last task of a build tool, without the path of its project: `compileJava` of `:app:compileJava --info`."""
    words = iter(command.words)
    tasks = [word for word in words if not (word in taking and next(words, "")) and not word.startswith("-")]
    return [task.rpartition(":")[2] for task in tasks[-1:]]


def warning_for(command: str, floods: Iterable[Flood] = FLOODS) -> str | None:
    """Return a sentence for a command that is known to print a lot, before it runs; None for all others."""
    known: dict[str, list[Flood]] = {}
    for flood in floods:
        known.setdefault(flood.program, []).append(flood)
    for pipeline in (*parse(command), *parse_substitutions(command)):
        for number, each in enumerate(pipeline):
            if each.silent or not all(map(_passes, pipeline[number + 1 :])):
                continue
            for flood in known.get(each.program, ()):
                if flood.when(each):
                    return (
                        f"`{_show(each.text)}` {flood.why}; "
                        "narrow it down, or bound it, for example with `| head -n 200`."
                    )
    return None


def _show(text: str) -> str:
    said = "".join(char if char.isprintable() else " " for char in text)
    return said if len(said) <= SHOWN_CHARS else f"{said[:SHOWN_CHARS]}…"


def _passes(command: Command) -> bool:
    """Return whether about as much comes out of a command as goes in."""
    if command.silent or command.program not in PASSES:
        return False
    if command.program in {"head", "tail"}:
        return command.has("-f", "-F", "--follow") or not _few(command)
    return command.program != "sed" or not any(word.endswith("q") and word[:-1].isdigit() for word in command.plain)


def _few(command: Command) -> bool:
    """Return whether `head` or `tail` lets little through: `-n 20`, `-20`, `-c 1000`; not `-n -5` or `-n +5`."""
    for names, most in ((("-n", "--lines"), MOST_LINES), (("-c", "--bytes"), MOST_BYTES)):
        for value in command.values(*names):
            if not value.isdigit() or int(value) > most:
                return False
    return all(int(word[1:]) <= MOST_LINES for word in command.words if word[:1] == "-" and word[1:].isdigit())

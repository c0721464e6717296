"""Which command another one runs: `sudo`, `timeout 5`, `uv run`, `npm exec`, `python -m`, `bash -c "…"`."""

from __future__ import annotations

from spillover.shell.command import Command, bare_name, without_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: What runs the command behind it: how many words of its own stand between (`timeout 5 find /`), and its options that
#: take a word. The longest beginning that matches counts.
RUNNERS: dict[tuple[str, ...], tuple[int, str]] = {
    ("sudo",): (0, "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir"),
    ("doas",): (0, "-u -C"),
    ("env",): (0, "-u --unset -C --chdir"),
    ("time",): (0, "-f -o --format --output"),
    ("nice",): (0, "-n --adjustment"),
    ("ionice",): (0, "-c -n --class --classdata"),
    ("stdbuf",): (0, "-i -o -e --input --output --error"),
    ("timeout",): (1, "-k -s --kill-after --signal"),
    ("strace",): (0, "-e -o -s -u"),
    ("xvfb-run",): (0, "-n -s -e -f"),
    ("exec",): (0, "-a"),
    **dict.fromkeys([("nohup",), ("command",), ("builtin",), ("busybox",), ("setsid",), ("unbuffer",), ("coproc",)], (0, "")),
    **dict.fromkeys(
        [("npx",), ("bunx",), ("pnpx",), ("bun", "x"), ("npm", "exec"), ("npm", "x"), ("pnpm", "exec"), ("pnpm", "dlx"),
         ("yarn", "exec"), ("yarn", "dlx"), ("yarn", "run")],
        (0, "-p --package -w --workspace"),
    ),
    ("uv", "run"): (
        0, "--with --with-requirements --with-editable --extra --group --package --python -p --project --directory --env-file"
    ),
    **dict.fromkeys([("uvx",), ("uv", "tool", "run"), ("pipx", "run")], (0, "--with --from --spec --python -p")),
    **dict.fromkeys([("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("rye", "run"), ("hatch", "run")], (0, "")),
    **dict.fromkeys([("conda", "run"), ("mamba", "run"), ("micromamba", "run")], (0, "-n -p --name --prefix")),
    ("bundle", "exec"): (0, ""),
    **dict.fromkeys([("docker", "exec"), ("podman", "exec"), ("docker", "compose", "exec")], (1, "-e -u -w --env --user --workdir")),
    ("kubectl", "exec"): (1, "-c -n --container --namespace"),
}  # fmt: skip
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
PYTHONS = frozenset({"python", "pypy", "py"})
#: Their words are a line of shell; `ssh` has a host, and options, before it.
EVALUATE = {
    "eval": (0, frozenset[str]()),
    "watch": (0, frozenset({"-n", "--interval"})),
    "ssh": (1, frozenset({"-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D"})),
}
#: Words of the shell that may stand before a command.
OPENERS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "done", "fi"})


def unwrap(words: Sequence[str]) -> Command | str | None:
    """Return the command that these words run in the end, or the line of shell that it is given; None if there is none."""
    left = list(words)
    while left:
        if left[0] in OPENERS or _assigns(left[0]):
            del left[0]
            continue
        program, rest = bare_name(left[0]), left[1:]
        name = without_version(program)
        if name in PYTHONS and (module := _module(rest)):
            left = module
            continue
        here = Command(program, tuple(rest))
        line = _line_of(name, here)
        if line is not None:
            return line
        inner = _run_by(name, here)
        if inner is None:
            return here
        left = inner
    return None


def _run_by(name: str, command: Command) -> list[str] | None:
    """Return the words behind a runner; None where it is none, or runs nothing."""
    verbs = command.verbs
    for count in (2, 1, 0):
        found = RUNNERS.get((name, *verbs[:count])) if len(verbs) >= count else None
        if found is None:
            continue
        own, taking = found
        left = list(verbs[count:] if count else command.words)
        _skip_options(left, frozenset(taking.split()), own)
        return left or None
    return None


def _line_of(name: str, command: Command) -> str | None:
    """Return the line of shell in a command's words: `bash -lc LINE`, `npx -c LINE`, `eval WORDS`, `ssh HOST WORDS`."""
    words = list(command.words)
    if name in SHELLS:
        for number, word in enumerate(words):
            if not word.startswith("-"):
                return None
            if not word.startswith("--") and "c" in word:
                return next((each for each in words[number + 1 :] if not each.startswith("-")), None)
        return None
    if name in ("npx", "npm") and (said := command.values("-c", "--call")):
        return said[0]
    if name in EVALUATE:
        own, taking = EVALUATE[name]
        _skip_options(words, taking, own)
        return " ".join(words) if words else None
    return None


def _module(words: Sequence[str]) -> list[str] | None:
    """Return what `python -m` runs, behind options of its own; None where it runs something else."""
    left = list(words)
    while left and left[0].startswith("-"):
        if left[0] == "-m":
            return left[1:]
        if left[0] == "-c":
            return None
        del left[: 1 + (left[0] in ("-W", "-X"))]
    return None


def _skip_options(words: list[str], taking: frozenset[str], own: int) -> None:
    """Drop the options at the beginning, with the words they take, and `own` words that are none."""
    while words and (words[0].startswith("-") or own or _assigns(words[0])):
        word = words.pop(0)
        if word == "--":
            del words[:own]
            return
        if word.startswith("-"):
            del words[: word in taking]
        elif not _assigns(word):
            own -= 1


def _assigns(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()

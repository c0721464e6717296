"""One command of a shell line: its program, its words, its options."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    Stage = TypeVar("Stage")

#: Options that stand before a program's own verb (`git -C folder log`) and take a word.
BEFORE_VERBS = {
    "git": ("-C", "-c", "--git-dir", "--work-tree"),
    "cargo": ("-C", "-Z", "--config", "--color"),
    "go": ("-C",),
    "npm": ("--prefix", "-w", "--workspace"),
    "pnpm": ("-C", "--dir", "-F", "--filter"),
    "yarn": ("--cwd",),
    "uv": ("--project", "--directory"),
    "poetry": ("-C", "-P", "--directory", "--project"),
    "docker": ("--context", "-c", "-H", "--host"),
    "kubectl": ("-n", "--namespace", "--context", "--kubeconfig"),
    "make": ("-C", "-f", "-j"),
}


class Command(Struct, frozen=True):
    """One command of a line."""

    program: str  # without its folder
    words: tuple[str, ...] = ()
    silent: bool = False  # what it prints goes into a file

    @property
    def text(self) -> str:
        return " ".join((self.program, *(word or '""' for word in self.words)))

    @property
    def verbs(self) -> list[str]:
        """The words from the first that is neither an option nor `+toolchain`: `["log", "-p"]` of `git -C app log -p`."""
        words, taking = list(self.words), BEFORE_VERBS.get(self.program, ())
        while words and words[0].startswith(("-", "+")) and words[0] not in ("-", "--"):
            del words[: 1 + (words[0] in taking)]
        return words

    @property
    def plain(self) -> list[str]:
        """The words that are not options; after `--`, all of them."""
        words = tuple(self.verbs)
        if "--" in words:
            at = words.index("--")
            return [*(word for word in words[:at] if not word.startswith("-")), *words[at + 1 :]]
        return [word for word in words if not word.startswith("-") or word == "-"]

    def has(self, *options: str) -> bool:
        """Return whether an option is there: also among others (`-lR`), with a value (`--lines=5`) or a number (`-n5`)."""
        return any(_is(word, option) for word in self.words for option in options)

    def values(self, *options: str) -> list[str]:
        """Return the values of an option: `-n 5`, `-n5`, `--lines 5`, `--lines=5`."""
        out: list[str] = []
        for number, word in enumerate(self.words):
            for option in options:
                if word == option:
                    out += self.words[number + 1 : number + 2]
                elif option.startswith("--") and word.startswith(f"{option}="):
                    out.append(word[len(option) + 1 :])
                elif not option.startswith("--") and len(word) > 2 and word.startswith(option):
                    out.append(word[2:])
        return out


def join(stages: Sequence[list[list[Stage]]], group: Stage) -> list[list[Stage]]:
    """Return the pipelines that stages make. One stage may be several pipelines: what each prints goes on to the next.

    For what is handed to such a stage, `group` stands.
    """
    out: list[list[Stage]] = []
    rest: list[Stage] = []
    for stage in reversed([stage for stage in stages if stage]):
        if len(stage) == 1:
            rest = [*stage[0], *rest]
        else:
            out = [[*each, *rest] for each in stage] + out
            rest = [group]
    return out if rest in ([], [group]) else [rest, *out]


def bare_name(word: str) -> str:
    """Return the name of a program without its folder: `gcc-12` of `/usr/bin/gcc-12`."""
    return word.rpartition("/")[2] or word


def without_version(program: str) -> str:
    """Return a program's name without what tells one version from another: `gcc` of `gcc-12`, `python` of `python3.11`."""
    name = program.lower().removesuffix(".exe").removesuffix(".cmd").removesuffix(".bat")
    short = name.rstrip("0123456789.")
    return short.removesuffix("-") or name


def _is(word: str, option: str) -> bool:
    if word == option:
        return True
    if option.startswith("--"):
        return word.startswith(f"{option}=")
    if len(option) != 2 or not word.startswith("-") or word.startswith("--"):
        return False
    return option[1] in word[1:].rstrip("0123456789") and word[1:].rstrip("0123456789").isalpha()

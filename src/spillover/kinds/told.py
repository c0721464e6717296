"""What a call says about its output before it is looked at: the tool by its name, and the words of the command."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.kinds.wanted import Wanted

#: Tools of agents, by their names in small letters without marks; what they return.
TOOLS = {
    **dict.fromkeys(("grep", "glob", "ls", "find", "listdirectory", "searchfiles", "listfiles", "findfiles", "greprepo", "codebasesearch",
                     "filesearch", "searchfilecontent", "listdir", "greptool", "globtool", "search"), "search"),
    **dict.fromkeys(("read", "readfile", "view", "cat", "openfile", "fileread", "readfiles", "readtextfile", "viewfile", "getfilecontents"), "source"),
}  # fmt: skip
#: Commands that search and list, and commands that show a file.
_SEARCHES = frozenset(
    ("grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "ls", "tree", "locate", "zgrep", "ripgrep")
)
_SHOWS = frozenset(("cat", "bat", "batcat", "nl", "sed", "head", "tail", "less", "more", "awk", "type", "get-content"))
_WHOLE = frozenset(("cat", "bat", "batcat", "nl"))
_OF_GIT = {"grep": "search", "status": "search", "ls-files": "search", "ls-tree": "search"}
#: What a pipeline may end with and still say the same, only less of it.
_FILTERS = frozenset(("head", "tail", "sort", "uniq", "cat", "less", "more", "sed", "grep", "tee", "cut", "nl"))
#: The end of a name: `app.tsx`, `app.tsx:12`, `app.tsx 345 120`.
_SUFFIX = re.compile(r"[\w)\]]\.([A-Za-z0-9_+]{1,8})(?=$|[\s:\"',;)?#]|\\)")
CHARS = 4_000


def kind_told(wanted: Wanted) -> str:
    """Return what a call says it returns: "search", "source", or "" where it does not say."""
    name = "".join(char for char in wanted.tool.lower().rpartition("__")[2] if char.isalnum())
    if name in TOOLS:
        return TOOLS[name]
    return _of_command(wanted.command) if wanted.command else ""


def _of_command(command: str) -> str:
    from spillover.shell import parse  # only where there is a command

    said = ""
    for pipeline in parse(command[:CHARS]):
        programs = [stage.program for stage in pipeline]
        if not programs or programs[0] in ("cd", "export", "set", "source", "echo", "(", "pwd", "printf"):
            continue
        first = pipeline[0]
        verbs = first.verbs
        if first.program == "git" and verbs:
            kind = _OF_GIT.get(
                verbs[0], "source" if verbs[0] == "show" and any(":" in word for word in verbs[1:2]) else ""
            )
        else:
            kind = "search" if first.program in _SEARCHES else "source" if first.program in _SHOWS else ""
        if "xargs" in programs or not all(program in _FILTERS for program in programs[1:]):
            kind = "search" if kind == "search" and programs[-1] in _SEARCHES else ""
        if not kind or (said and said != kind):
            return ""
        said = kind
    return said


def prints_file(command: str) -> bool:
    """Tell whether a command prints one file from beginning to end, and nothing else: which part is wanted, it does not say."""
    from spillover.shell import parse  # only where there is a command

    stages = [stage for pipeline in parse(command[:CHARS]) for stage in pipeline]
    return len(stages) == 1 and stages[0].program in _WHOLE and len(stages[0].verbs) == 1


def suffix_of(wanted: Wanted) -> str:
    """Return the end of the name of the file that a call is about, in small letters; "" where it names none, or several kinds."""
    found = {
        match.lower() for text in (wanted.name, wanted.query, wanted.command) for match in _SUFFIX.findall(text[:CHARS])
    }
    known = {each for each in found if not each.isdigit()}
    return known.pop() if len(known) == 1 else ""

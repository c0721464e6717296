"""Update the parts of README.md and docs/ that are generated from the code. `make docs` runs it; a test checks the result.

```python              is run, with one namespace for all blocks of a page; a ```text block right after it shows what it prints
```console run         each `$ line` is run by a shell, with one store for the page; its output follows it
<!-- help: grep -->    the --help of a command ("spill" for the filter), up to <!-- end -->
<!-- api: clip -->     signatures and docstrings of public names (prefix those of spillover.testing with `testing.`)
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import NODEFAULT, Struct

from spillover.store import BaseStore

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
HOME = "/home/me"  # replaces the home folder of the user who runs the examples
COLUMNS = 100  # the width of --help
SIGNATURE = 100  # a longer signature gets one line per parameter

FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\n+```text\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
MARKED = re.compile(r"<!-- (?P<what>help|api): (?P<names>[^>]+?) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rendered(page: Path) -> str:
    """Return the up-to-date text of a page; exceptions from its examples propagate."""
    text = MARKED.sub(_marked, page.read_text(encoding="utf-8"))
    out, at = [], 0
    names: dict[str, Any] = {"__name__": page.stem}
    with _somewhere() as folder:
        for fence in FENCE.finditer(text):
            if fence.start() < at:
                continue  # the output of the previous block
            if fence["kind"] == "python":
                said = _run_python(page, text, fence, names).replace(str(folder), HOME)
                out.append(text[at : fence.end()])
                at = fence.end()
                if expected := OUTPUT.match(text, at):
                    out.append(f"\n\n```text\n{said}```")
                    at = expected.end()
                elif said:
                    raise AssertionError(f"{page.name}: a block prints, but no ```text block follows it:\n{said}")
            elif fence["kind"] == "console run":
                out += [text[at : fence.start("body")], _run_console(fence["body"], folder)]
                at = fence.end("body")
    return "".join([*out, text[at:]])


def words(text: str) -> list[str]:
    """Return what to compare: Python 3.13 wraps --help differently, and writes `-C, --context N` for `-C N, --context N`."""
    return re.sub(r"(-\w) [A-Z]+, (--)", r"\1, \2", text).split()


@contextlib.contextmanager
def _somewhere() -> Iterator[Path]:
    """Provide an empty home to run examples in, with the default store and no configuration; remove it afterwards."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="docs-") as made:
        folder = Path(made).resolve()
        for name in before:
            if name.startswith(("SPILLOVER_", "XDG_")):
                del os.environ[name]
        os.environ.update(HOME=str(folder), PATH=f"{Path(sys.executable).parent}{os.pathsep}{before['PATH']}")
        try:
            with contextlib.chdir(folder):
                yield folder
        finally:
            os.environ.clear()
            os.environ.update(before)


def _run_python(page: Path, text: str, fence: re.Match[str], names: dict[str, Any]) -> str:
    """Run a block and return what it prints. Its line numbers match the page, so a traceback names the right line."""
    source = "\n" * text.count("\n", 0, fence.start("body")) + fence["body"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(source, str(page), "exec", dont_inherit=True), names)  # noqa: S102  our own examples
    return said.getvalue()


def _run_console(body: str, folder: Path) -> str:
    out = []
    for line in body.splitlines():
        if not line.startswith("$ "):
            continue  # output from the last run
        ended = subprocess.run(line[2:], shell=True, capture_output=True, text=True, check=False)
        said = (ended.stdout + ended.stderr).replace(str(folder), HOME)
        if ended.returncode:
            raise AssertionError(f"{line}\nexit code {ended.returncode}\n{said}")
        out.append(f"{line}\n{said}" + "\n" * (said != "" and not said.endswith("\n")))
    return "".join(out)


def _marked(found: re.Match[str]) -> str:
    make = {"help": help_of, "api": api_of}[found["what"]]
    parts = "\n".join(make(name) for name in found["names"].split())
    return f"<!-- {found['what']}: {found['names']} -->\n{parts}<!-- end -->"


def help_of(command: str) -> str:
    """Return the --help of a command as a code block."""
    from spillover.cli.parsing import FILTER, build_parser  # only pages with a marker need this

    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(COLUMNS)
    try:
        return f"```text\n{build_parser(FILTER if command == 'spill' else command).format_help()}```\n"
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def api_of(name: str) -> str:
    """Describe a public name: its signature, its docstring, and its members."""
    module, _, short = name.rpartition(".")
    value = getattr(importlib.import_module(f"spillover.{module}".rstrip(".")), short)
    types = importlib.import_module("spillover.types")
    if value is getattr(types, short, None) and not inspect.isclass(value):
        return f"### {short}\n\n```text\n{_line_of(short, types)}\n```\n\n{_comment_above(short)}\n"
    if not callable(value):
        return f"### {short}\n\n```text\n{short}: {type(value).__name__}\n```\n\n{_comment_above(short)}\n"
    about = f"### {short}\n\n```text\n{signature(short, value)}\n```\n\n{inspect.getdoc(value)}\n"
    has = {**_fields(value), **_members(value)} if inspect.isclass(value) else {}
    return about + "\n" * bool(has) + "".join(f"- `{one}`: {said}\n" for one, said in has.items())


def signature(name: str, value: Any) -> str:
    """Return the signature as a person would write it, without private fields."""
    protocol = getattr(value, "_is_protocol", False)
    if inspect.isclass(value) and not _is_struct(value) and (protocol or "__init__" not in vars(value)):
        above = ", ".join(base.__name__ for base in value.__bases__ if base not in (object, Protocol))
        return f"class {name}({above})" if above else f"class {name}"
    parts = _struct_fields(value) if _is_struct(value) else _parameters(value)
    parts = [(part, named) for part, named in parts if not part.startswith("_")]
    words = [part for part, named in parts if not named] + ["*"] * any(named for _, named in parts)
    words += [part for part, named in parts if named]
    arrow = "" if inspect.isclass(value) else f" -> {inspect.signature(value).return_annotation}"
    line = f"{name}({', '.join(words)}){arrow}"
    return line if len(line) <= SIGNATURE else f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){arrow}"


def _is_struct(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Struct) and value is not Struct


def _struct_fields(value: Any) -> list[tuple[str, bool]]:
    """Return the fields of a Struct as parameters, and whether each is keyword-only."""
    owners = [each for each in reversed(value.__mro__) if _is_struct(each)]
    types = {name: kind for each in owners for name, kind in vars(each).get("__annotations__", {}).items()}
    names, defaults = value.__struct_fields__, value.__struct_defaults__
    parts = []
    for name, default in zip(names, (*[NODEFAULT] * (len(names) - len(defaults)), *defaults), strict=True):
        given = f"{default.factory.__name__}()" if hasattr(default, "factory") else written(default)
        equals = "" if default is NODEFAULT else f" = {given}"
        parts.append((f"{name}: {types[name]}{equals}", name not in value.__match_args__))
    return parts


def _parameters(value: Any) -> list[tuple[str, bool]]:
    parts = []
    for one in inspect.signature(value).parameters.values():
        default = "" if one.default is one.empty else f" = {written(one.default)}"
        stars = "**" if one.kind is one.VAR_KEYWORD else ""
        parts.append((f"{stars}{one.name}: {one.annotation}{default}", one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD)))
    return parts


def written(value: Any) -> str:
    """Return a default value as a person would write it."""
    hints = importlib.import_module("spillover.notice.hints").NAMED
    if isinstance(value, tuple):
        return "(" + "".join(f"{written(each)}, " for each in value).rstrip() + ")"
    if known := [name for name, hint in hints.items() if value == hint]:
        return f'"{known[0]}"'
    if isinstance(value, Struct):
        return f"{type(value).__name__}()"
    if inspect.isfunction(value):
        return value.__name__
    return f'"{value}"' if isinstance(value, str) else f"{value:_}" if type(value) is int else repr(value)


def _comment_above(name: str) -> str:
    """Return the `#:` comment above a constant."""
    ours = [
        module
        for path, module in list(sys.modules.items())
        if path.startswith("spillover.") and str(module.__file__).endswith(".py")
    ]
    said = (re.search(rf"^#: (.*)\n{name} = ", inspect.getsource(module), re.MULTILINE) for module in ours)
    return next(found[1] for found in said if found)


def _line_of(name: str, module: Any) -> str:
    """The line that says what a type is short for."""
    found = re.search(rf"^{name} = .*$", inspect.getsource(module), re.MULTILINE)
    assert found, name
    return found[0]


def _fields(value: type) -> dict[str, str]:
    """Return the fields that have a comment, with the comment."""
    beside = re.compile(r"^    (\w+): [^\n#]+  # (?!noqa|type: ignore)([^\n]+)$", re.MULTILINE)
    owners = [each for each in reversed(value.__mro__) if _is_struct(each)]
    return {name: said for each in owners for name, said in beside.findall(inspect.getsource(each)) if name[0] != "_"}


def _members(value: type) -> dict[str, str]:
    """Return the public methods and properties that have a docstring, with its first paragraph.

    The defaults of stores are listed once, with their base class.
    """
    members = {}
    inherited = () if value is BaseStore else (BaseStore,)
    bases = [each for each in value.__mro__[:-1] if each.__module__ != "builtins" and each not in inherited]
    for name in (name for each in bases for name in vars(each)):
        member = inspect.getattr_static(value, name)
        function = getattr(member, "fget", None) or getattr(member, "func", member)  # of a property, or a cached one
        if not name.startswith(("_", "test_")) and inspect.isfunction(function) and function.__doc__:
            said = (inspect.getdoc(function) or "").partition("\n\n")[0]
            members[_brief(name, function) if function is member else name] = said
    return members


def _brief(name: str, function: Any) -> str:
    """Return a method's signature on one line, without types."""
    found = inspect.signature(function)
    plain = [one.replace(annotation=one.empty) for one in list(found.parameters.values())[1:]]
    prefix = "await " if inspect.iscoroutinefunction(function) else ""
    return f"{prefix}{name}{found.replace(parameters=plain, return_annotation=found.empty)}"


if __name__ == "__main__":
    for each in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        new = rendered(each)
        if new != each.read_text(encoding="utf-8"):
            each.write_text(new, encoding="utf-8")
            print(f"{each.relative_to(ROOT)} updated")

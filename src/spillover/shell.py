"""Shell lines as the commands they run: the only reader of shell syntax. It runs nothing, and no line makes it raise.

`read` returns the pipelines of a line as they are written, with bash's precedence; `parse` what they run in the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

#: Characters of a line that are read; nobody types more, and longer ones take longer.
MAX_LINE_CHARS = 20_000
#: The parser takes time that grows with the square of these constructs: a line with more of them is not read.
COSTLY_CONSTRUCTS = ("|", "<<", "${")
MAX_COSTLY_CONSTRUCTS = 500
#: Groups in groups, and `bash -c` in `bash -c`; what is deeper is ignored.
MAX_DEPTH = 60
MAX_SHELL_DEPTH = 3
#: Stages of a pipeline beyond these are ignored: each multiplies with the pipelines of a group before it.
MAX_STAGES = 50
#: Substitutions of a line beyond these are ignored: each is read as a line of its own.
MAX_SUBSTITUTIONS = 50
#: A line of these characters is one command without quotes or operators, and its words stand between blanks.
PLAIN_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./:,+=-")
#: What begins with one of these is no simple command.
KEYWORDS = frozenset(
    [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function",
        "select", "time", "coproc", "export", "declare", "typeset", "local", "readonly", "unset", "unsetenv",
    ]
)  # fmt: skip
#: Options that stand before a program's own verb (`git -C folder log`) and take a word.
OPTIONS_BEFORE_VERB = {
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
UV_OPTIONS = (
    "--with --with-requirements --with-editable --extra --group --package --python -p --project --directory --env-file"
)
#: Programs that run the command behind them: how many words of their own stand between (`timeout 5 find /`), and their
#: options that take a word. The longest beginning that matches counts.
RUNNERS: dict[str, tuple[int, str]] = {
    "sudo": (0, "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir"),
    "doas": (0, "-u -C"),
    "env": (0, "-u --unset -C --chdir"),
    "time": (0, "-f -o --format --output"),
    "nice": (0, "-n --adjustment"),
    "ionice": (0, "-c -n --class --classdata"),
    "stdbuf": (0, "-i -o -e --input --output --error"),
    "timeout": (1, "-k -s --kill-after --signal"),
    "strace": (0, "-e -o -s -u"),
    "xvfb-run": (0, "-n -s -e -f"),
    "exec": (0, "-a"),
    **dict.fromkeys(("nohup", "command", "builtin", "busybox", "setsid", "unbuffer", "coproc"), (0, "")),
    **dict.fromkeys(
        ("npx", "bunx", "pnpx", "bun x", "npm exec", "npm x", "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx",
         "yarn run"),
        (0, "-p --package -w --workspace"),
    ),
    "uv run": (0, UV_OPTIONS),
    **dict.fromkeys(("uvx", "uv tool run", "pipx run"), (0, "--with --from --spec --python -p")),
    **dict.fromkeys(("poetry run", "pipenv run", "pdm run", "rye run", "hatch run", "bundle exec"), (0, "")),
    **dict.fromkeys(("conda run", "mamba run", "micromamba run"), (0, "-n -p --name --prefix")),
    **dict.fromkeys(("docker exec", "podman exec", "docker compose exec"), (1, "-e -u -w --env --user --workdir")),
    "kubectl exec": (1, "-c -n --container --namespace"),
}  # fmt: skip
#: Words of a runner behind its program (`docker compose exec`); more would be looked up in RUNNERS for nothing.
MAX_RUNNER_VERBS = 2
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
PYTHONS = frozenset({"python", "pypy", "py"})
#: Their words are a line of shell: how many words stand before it, and options that take one.
EVALUATORS = {
    "eval": (0, frozenset[str]()),
    "watch": (0, frozenset({"-n", "--interval"})),
    "ssh": (1, frozenset({"-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D"})),
}
#: Words of the shell that may stand before a command.
OPENERS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "done", "fi"})

#: Commands of `spill`, and tools of ours, that look at stored outputs or at the store itself.
RETRIEVALS = frozenset({"read", "grep", "outline", "diff", "list", "show", "path", "stats", "verify"})
RETRIEVAL_TOOLS = ("read_output", "grep_output", "outline_output", "list_outputs")
#: Programs that read files; and what the file of a stored output is called, which a notice names.
FILE_READERS = frozenset(
    [
        "cat", "head", "tail", "sed", "awk", "grep", "egrep", "fgrep", "rg", "less", "more", "wc", "tac", "nl", "cut",
        "sort", "jq",
    ]
)  # fmt: skip
STORED_FILE = re.compile(r"[a-z0-9_.]{1,32}-[0-9a-f]{12,64}\.txt", re.ASCII)

# Nodes of tree-sitter-bash. It takes `a && b 2>&1 | c` for `{ a && b; } | c`, so lists and pipelines are flattened, and
# read with bash's own precedence.
_FLATTENED = frozenset({"program", "list", "pipeline", "redirected_statement", "negated_command"})
_BODIES = frozenset(
    {"subshell", "compound_statement", "for_statement", "c_style_for_statement", "while_statement", "if_statement",
     "elif_clause", "else_clause", "case_statement", "case_item", "do_group", "function_definition", "ERROR"}
)  # fmt: skip
_SIMPLE = frozenset(
    {"command", "declaration_command", "unset_command", "test_command", "variable_assignment", "variable_assignments"}
)
_SEPARATORS = frozenset({"&&", "||", ";", ";;", "&", "\n"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})


class Command(Struct, frozen=True):
    """A command that a line runs."""

    program: str  # without its folder
    words: tuple[str, ...] = ()
    silent: bool = False  # what it prints goes into a file

    @property
    def text(self) -> str:
        return " ".join((self.program, *(word or '""' for word in self.words)))

    @property
    def verbs(self) -> list[str]:
        """The words from the first that is no option and no `+toolchain`: `["log", "-p"]` of `git -C app log -p`."""
        words = list(self.words)
        with_word = OPTIONS_BEFORE_VERB.get(self.program, ())
        while words and words[0].startswith(("-", "+")) and words[0] not in ("-", "--"):
            del words[: 1 + (words[0] in with_word)]
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
        """Return whether an option is set: alone, among others (`-lR`), or with a value (`--lines=5`, `-n5`)."""
        return any(has_option(word, option, numbered=True) for word in self.words for option in options)

    def values(self, *options: str) -> list[str]:
        """Return the values of an option: `-n 5`, `-n5`, `--lines 5`, `--lines=5`."""
        values: list[str] = []
        for number, word in enumerate(self.words):
            for option in options:
                if word == option:
                    values += self.words[number + 1 : number + 2]
                elif option.startswith("--") and word.startswith(f"{option}="):
                    values.append(word[len(option) + 1 :])
                elif not option.startswith("--") and len(word) > 2 and word.startswith(option):
                    values.append(word[2:])
        return values


class Stage(Struct, frozen=True, kw_only=True):
    """A stage of a pipeline as it is written: a simple command, or a group or loop. Positions are bytes of the line."""

    kind: str  # as tree-sitter-bash calls it: "command", "subshell", "while_statement"
    text: str
    start: int = 0
    end: int = 0
    pipe_at: int = 0  # where the `|` behind it stands
    words: tuple[str, ...] = ()  # of a command, without quotes; the name of a function
    name_at: int | None = None  # where the name of a command stands, if it stands there without quotes or variables
    body: tuple[Pipeline, ...] = ()  # of a group, a loop or a function
    script: str | None = None  # its here-document
    substitutions: tuple[str, ...] = ()  # the lines inside its `$(…)`, backticks and `<(…)`
    negated: bool = False
    silent: bool = False  # what it prints goes into a file
    redirected: bool = False  # it reads from, or writes to, something else than its neighbours

    def commands(self) -> Iterator[Stage]:
        """Yield the simple commands in it, in order."""
        if self.kind == "command":
            yield self
        for pipeline in self.body:
            for stage in pipeline.stages:
                yield from stage.commands()


class Pipeline(Struct, frozen=True):
    """Stages with a `|` between them."""

    stages: tuple[Stage, ...]
    background: bool = False


#: Stands for a stage that is several pipelines, in what is handed on to it.
GROUP = Command("(")


def read(line: str, *, strict: bool = False) -> tuple[Pipeline, ...]:
    """Return the pipelines of a line as they are written. With `strict`, none unless all of the line can be read."""
    if strict and (len(line) > MAX_LINE_CHARS or "\0" in line):
        return ()
    text = str(line)[:MAX_LINE_CHARS]
    if PLAIN_CHARS.issuperset(text):
        words = tuple(text.split())
        if not words:
            return ()
        # What the name of a command has besides letters and digits.
        name = words[0].translate(dict.fromkeys(map(ord, "_./-")))
        if name.isalnum() and words[0] not in KEYWORDS and "==" not in text:
            return (Pipeline((Stage(kind="command", text=text, words=words),)),)
    if sum(map(text.count, COSTLY_CONSTRUCTS)) > MAX_COSTLY_CONSTRUCTS:
        return ()
    data = text.encode("utf-8", "surrogatepass")
    root = _load_parser()(data).root_node
    return () if strict and root.has_error else _read_body(root, data, 0)


@cache
def _load_parser() -> Callable[[bytes], Any]:
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    return Parser(Language(language())).parse


def _read_body(node: Any, data: bytes, depth: int) -> tuple[Pipeline, ...]:
    """Return the pipelines in a node."""
    pipelines: list[Pipeline] = []
    stages: list[_StageNodes] = [_StageNodes()]

    def end_pipeline(*, background: bool = False) -> None:
        nonlocal stages
        complete = [stage for stage in stages if stage.body is not None]
        if complete:
            pipelines.append(Pipeline(tuple(stage.read(data, depth) for stage in complete), background))
        stages = [_StageNodes()]

    for item in _flatten(node):
        if item.type in _SEPARATORS:
            end_pipeline(background=item.type == "&")
        elif item.type in ("|", "|&") and stages[-1].body is not None:  # `a|b)` of a `case` is no pipeline
            stages[-1].pipe_at = item.start_byte
            stages.append(_StageNodes())
        elif item.type == "!":
            stages[-1].negated = True
        elif item.type.endswith("_redirect"):
            stages[-1].redirects.append(item)
        elif item.type in _SIMPLE or item.type in _BODIES:
            if stages[-1].body is not None:  # the next statement, on a line of its own
                end_pipeline()
            stages[-1].body = item
    end_pipeline()
    return tuple(pipelines)


def _flatten(node: Any) -> Iterator[Any]:
    """Yield the statements, operators and redirects in a node, in order."""
    waiting = [*reversed(node.children)]
    while waiting:
        item = waiting.pop()
        if item.type in _FLATTENED:
            waiting += reversed(item.children)
            continue
        yield item
        if item.type == "heredoc_redirect":  # what stands behind `<<EOF` on its line is inside of it
            waiting += [child for child in reversed(item.children) if not child.type.startswith(("heredoc", "<<"))]


class _StageNodes:
    """The nodes that make up a stage."""

    def __init__(self) -> None:
        self.body: Any = None
        self.redirects: list[Any] = []
        self.negated = False
        self.pipe_at = 0

    def read(self, data: bytes, depth: int) -> Stage:
        """Return the stage; `data` is the line, and `depth` the number of groups around it."""
        node = self.body
        nodes = (node, *self.redirects)
        start = min(part.start_byte for part in nodes)
        end = max(part.end_byte for part in nodes if part.type != "heredoc_redirect")
        inner = [child for child in node.named_children if child.type.endswith("_redirect")]
        redirects = [redirect for redirect in (*inner, *self.redirects) if redirect.type == "file_redirect"]
        words: tuple[str, ...] = ()
        name = node.child_by_field_name("name")
        if node.type == "command":
            files = [_unquote(file) for redirect in redirects if (file := _find_source(redirect)) is not None]
            words = (*_read_words(node), *files)
        elif node.type == "function_definition" and name is not None:
            words = (_decode(name),)
        is_plain = name is not None and [child.type for child in name.named_children] == ["word"]
        documents = [redirect for redirect in self.redirects if redirect.type == "heredoc_redirect"]
        bodies = [part for document in documents for part in document.named_children if part.type == "heredoc_body"]
        return Stage(
            kind=node.type,
            text=data[start:end].decode("utf-8", "replace"),
            start=start,
            end=end,
            pipe_at=self.pipe_at,
            words=words,
            name_at=name.start_byte if is_plain else None,
            body=_read_body(node, data, depth + 1) if node.type in _BODIES and depth < MAX_DEPTH else (),
            script="".join(map(_decode, bodies)) if documents else None,
            substitutions=tuple(line for part in nodes for line in _find_substitutions(part)),
            negated=self.negated,
            silent=any(map(_writes_file, redirects)),
            redirected=len(redirects) < len(inner) + len(self.redirects) or any(map(_leaves_pipe, redirects)),
        )


def _read_words(command: Any) -> Iterator[str]:
    for child in command.named_children:
        if child.type == "command_name":
            yield from map(_unquote, child.named_children[:1])
        elif child.type not in ("variable_assignment", "comment") and not child.type.endswith("_redirect"):
            yield _unquote(child)


def _find_substitutions(node: Any) -> Iterator[str]:
    """Yield the lines of the substitutions in a node, but not in the commands inside of it."""
    waiting = [*reversed(node.named_children)]
    while waiting:
        child = waiting.pop()
        if child.type in _SUBSTITUTIONS:
            line = _decode(child).strip("`").removeprefix("$").removeprefix("<").removeprefix(">")
            reader = node.child_by_field_name("name") if child.type == "process_substitution" else None
            yield line if reader is None else f"{line} | {_decode(reader)}"
        elif child.type not in _FLATTENED and child.type not in _BODIES and child.type != "command":
            waiting += reversed(child.named_children)


def _find_operator(redirect: Any) -> str:
    """Return the operator of a redirect: "<", ">>", "2>&"."""
    return next((str(child.type) for child in redirect.children if not child.is_named), "")


def _find_source(redirect: Any) -> Any:
    """Return the file that a command reads from, which counts as one that it names."""
    return redirect.child_by_field_name("destination") if _find_operator(redirect) == "<" else None


def _writes_file(redirect: Any) -> bool:
    """Return whether a redirect writes stdout to a file."""
    target = redirect.child_by_field_name("destination")
    if target is None or ">" not in _find_operator(redirect):
        return False
    name = _unquote(target)
    is_file = not name.isdigit() and not name.startswith(("/dev/std", "/dev/tty", "/dev/fd/"))
    descriptor = next((_decode(child) for child in redirect.named_children if child.type == "file_descriptor"), "1")
    return is_file and descriptor == "1"


def _leaves_pipe(redirect: Any) -> bool:
    """Return whether a redirect takes a stream out of the pipeline."""
    target = redirect.child_by_field_name("destination")
    return target is None or not _find_operator(redirect).startswith(">") or _writes_file(redirect)


def _decode(node: Any) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unquote(node: Any) -> str:
    """Return a word as a program gets it, without its quotes; variables stay as they are written."""
    text = _decode(node)
    if node.type == "concatenation":
        return "".join(map(_unquote, node.named_children))
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "ansi_c_string":
        return text[2:-1]
    if node.type == "string":
        return re.sub(r'\\([\\"$`])|\\\n', r"\1", text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:])
    return re.sub(r"\\\n|\\([^\n])", r"\1", text) if node.type == "word" else text


def parse(line: str, depth: int = 0) -> list[list[Command]]:
    """Return the commands that a line runs in the end, by pipeline: `sudo` and `bash -c` stand for what they run."""
    return _list_commands(read(line), depth)


def _list_commands(pipelines: Sequence[Pipeline], depth: int) -> list[list[Command]]:
    commands = []
    for pipeline in pipelines:
        commands += _join([_list_stage(stage, depth) for stage in pipeline.stages[:MAX_STAGES]])
    return commands


def _list_stage(stage: Stage, depth: int) -> list[list[Command]]:
    """Return the pipelines that a stage runs in the end."""
    if stage.kind == "function_definition":  # it is defined here, and runs elsewhere
        return []
    target = resolve_command(stage.words)
    if isinstance(target, Command) and stage.script and not target.words and base_name(target.program) in SHELLS:
        target = stage.script
    if isinstance(target, Command):
        return [[replace(target, silent=stage.silent)]]
    commands = parse(target, depth + 1) if target and depth < MAX_SHELL_DEPTH else _list_commands(stage.body, depth)
    return [[*before, replace(last, silent=last.silent or stage.silent)] for *before, last in commands]


def _join(stages: Sequence[list[list[Command]]]) -> list[list[Command]]:
    """Return the pipelines of stages, each of which may be several pipelines: what each prints goes on to the next."""
    pipelines: list[list[Command]] = []
    rest: list[Command] = []
    for stage in reversed([stage for stage in stages if stage]):
        if len(stage) == 1:
            rest = [*stage[0], *rest]
        else:
            pipelines = [[*commands, *rest] for commands in stage] + pipelines
            rest = [GROUP]
    return pipelines if rest in ([], [GROUP]) else [rest, *pipelines]


def parse_substitutions(line: str) -> list[list[Command]]:
    """Return the commands inside `$(…)`, backticks and `<(…)`, which `parse` leaves out: they print elsewhere."""
    inner_lines = islice(_list_substitutions(read(line), 0), MAX_SUBSTITUTIONS)
    return [commands for inner in inner_lines for commands in parse(inner)]


def _list_substitutions(pipelines: Sequence[Pipeline], depth: int) -> Iterator[str]:
    """Yield the line of each substitution, with the stages behind it that what it prints goes on to."""
    for pipeline in pipelines if depth <= MAX_SHELL_DEPTH else ():
        for number, stage in enumerate(pipeline.stages):
            if stage.silent or stage.kind == "function_definition":
                continue
            behind = "".join(f" | {later.text}" for later in pipeline.stages[number + 1 :])
            for inner in stage.substitutions:
                yield inner + behind
                yield from _list_substitutions(read(inner), depth + 1)
            yield from _list_substitutions(stage.body, depth)
            script = resolve_command(stage.words)
            if isinstance(script, str):
                yield from _list_substitutions(read(script), depth + 1)


def resolve_command(words: Sequence[str]) -> Command | str | None:
    """Return the command that words run in the end, or the line of shell that is run; None if there is none."""
    rest = list(words)
    while rest:
        if rest[0] in OPENERS or _is_assignment(rest[0]):
            del rest[0]
            continue
        command = Command(rest[0].rpartition("/")[2] or rest[0], tuple(rest[1:]))
        name = base_name(command.program)
        line = _find_line(name, command)
        if line is not None:
            return line
        inner = _find_module(command.words) if name in PYTHONS else _find_inner(name, command)
        if not inner:
            return command
        rest = inner
    return None


def base_name(program: str) -> str:
    """Return the name of a program without folder and version: `gcc` of `gcc-12`, `python` of `python3.11`."""
    name = program.rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd").removesuffix(".bat")
    return name.rstrip("0123456789.").removesuffix("-") or name


def has_option(word: str, option: str, *, numbered: bool = False) -> bool:
    """Return whether a word is this option, or has it among others: `-qi`; if `numbered`, also `-n5`."""
    if word == option:
        return True
    if option.startswith("--"):
        return word.startswith(f"{option}=")
    if len(option) != 2 or not word.startswith("-") or word.startswith("--"):
        return False
    letters = word[1:].rstrip("0123456789") if numbered else word[1:]
    return letters.isalpha() and option[1] in letters


def _find_inner(name: str, command: Command) -> list[str]:
    """Return the words behind a runner; none where it is no runner, or runs nothing."""
    verbs = command.verbs
    for count in range(min(MAX_RUNNER_VERBS, len(verbs)), -1, -1):
        runner = RUNNERS.get(" ".join((name, *verbs[:count])))
        if runner is not None:
            own_words, options = runner
            return _skip_options(verbs[count:] if count else command.words, options.split(), own_words)
    return []


def _find_line(name: str, command: Command) -> str | None:
    """Return the line of shell in a command's words: `bash -lc LINE`, `npx -c LINE`, `eval WORDS`, `ssh HOST WORDS`."""
    if name in SHELLS:
        for number, word in enumerate(command.words):
            if not word.startswith("-"):
                return None
            if not word.startswith("--") and "c" in word:
                return next((line for line in command.words[number + 1 :] if not line.startswith("-")), None)
        return None
    if name in ("npx", "npm") and (lines := command.values("-c", "--call")):
        return lines[0]
    if name in EVALUATORS:
        own_words, options = EVALUATORS[name]
        return " ".join(_skip_options(command.words, options, own_words)) or None
    return None


def _find_module(words: Sequence[str]) -> list[str]:
    """Return the words behind `python -m`; none where Python runs something else."""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-c":
        if rest[0] == "-m":
            return rest[1:]
        del rest[: 1 + (rest[0] in ("-W", "-X"))]
    return []


def _skip_options(words: Sequence[str], with_word: Sequence[str] | frozenset[str], own_words: int) -> list[str]:
    """Return the words behind the options, the words that these take, and `own_words` others."""
    rest = list(words)
    while rest and (rest[0].startswith("-") or own_words or _is_assignment(rest[0])):
        word = rest.pop(0)
        if word == "--":
            return rest[own_words:]
        if word.startswith("-"):
            del rest[: word in with_word]
        elif not _is_assignment(word):
            own_words -= 1
    return rest


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def is_retrieval(tool: str, command: str | None) -> bool:
    """Return whether a call only looks at stored outputs: it is no run, and never the one that `last` names."""
    if command is None or not ("spill" in command or ".txt" in command):
        return command is None and tool.endswith(RETRIEVAL_TOOLS)
    # A record has `bash -c LINE` without the quotes.
    shell, dash, line = command.partition(" -c ")
    lines = [command, line] if dash and base_name(shell) in SHELLS else [command]
    return any(_only_retrieves(line) for line in lines)


def _only_retrieves(line: str, depth: int = 0) -> bool:
    first = [pipeline[0] for pipeline in parse(line) if pipeline[0].program != "cd"]
    return bool(first) and all(_retrieves(command, depth) for command in first)


def _retrieves(command: Command, depth: int) -> bool:
    """Return whether a command is `spill read …` or the like, or `spill sh` of one, or reads a stored file."""
    if command.program in FILE_READERS:
        return any(STORED_FILE.fullmatch(word.rpartition("/")[2]) for word in command.plain)
    if command.program != "spill" or not command.words or depth > MAX_SHELL_DEPTH:
        return False
    verb, *rest = command.words
    if verb == "run" and "--" in rest:
        return _only_retrieves(" ".join(rest[rest.index("--") + 1 :]), depth + 1)
    return _only_retrieves(rest[-1], depth + 1) if verb == "sh" and rest else verb in RETRIEVALS

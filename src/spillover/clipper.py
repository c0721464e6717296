"""All choices in one frozen object, and the verbs on it."""

from __future__ import annotations

import logging
import os

from spillover import pipeline
from spillover.choices import Choices
from spillover.settings.limits import Limits
from spillover.settings.place import default_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Self, TypeVar, Unpack, overload

    from msgspec import field

    from spillover.blocks.together import Blocks
    from spillover.capture import Capture
    from spillover.choices import _DEFAULT_STORE, Given, StoreLike
    from spillover.result import Clip
    from spillover.retrieve.tools import Answer
    from spillover.run.command import Progress, Run
    from spillover.types import AsyncSource, Source, SpecStyle

    Function = TypeVar("Function", bound=Callable[..., Any])
    Key = TypeVar("Key")

_log = logging.getLogger(__name__)
#: The tools for going back.
TOOL_NAMES = ("read_output", "grep_output", "outline_output", "list_outputs")


class Clipper(Choices, frozen=True, kw_only=True):
    """All options in one immutable object. To change one, make a copy: `msgspec.structs.replace(clipper, keep="tail")`."""

    if TYPE_CHECKING:  # mypy forgets the descriptor of a field that is inherited
        store: StoreLike = field(default_factory=_DEFAULT_STORE)

    @classmethod
    def configured(cls, *, cwd: str | None = None, **given: Any) -> Self:
        """Return a Clipper with the configuration: files, then SPILLOVER_* variables, then arguments (`tokens=4_000`)."""
        from spillover.settings.load import load

        settings = load(cwd=cwd, given=given, given_origin=str)
        if settings.complaint:
            _log.warning("%s", settings.complaint)
        return settings.made(cls)

    def clip(
        self,
        source: Source,
        *,
        tool: str | None = None,
        call_id: str | None = None,
        query: str | None = None,
        since: str | None = None,
        caller: object = None,
    ) -> Clip:
        """Bring an output within the limits: str, bytes, a file, a Path, any iterable of str or bytes.

        `query`: what you want to know; what answers it is shown first. `since`: the ref of an earlier output; what is new
        against it is shown first, and what is gone is named. `caller`: who gets the result, as the API reports it
        (`tool_use.caller`), or "program": a program gets it whole, and it is stored where it overflows.
        """
        choices = self.for_tool(tool).asking(query).telling_since(since)
        return pipeline.clip(source, choices, call_id=call_id, caller=caller)

    async def aclip(
        self,
        source: AsyncSource,
        *,
        tool: str | None = None,
        call_id: str | None = None,
        query: str | None = None,
        since: str | None = None,
        caller: object = None,
    ) -> Clip:
        """Bring an output within the limits from async code; an async iterable works too."""
        import asyncio  # whoever awaits has it already

        from spillover.source.intake import achunks

        choices = self.for_tool(tool).asking(query).telling_since(since)
        if hasattr(source, "__aiter__") and pipeline.is_program(caller):
            source = [chunk async for chunk in achunks(source)]
        if not hasattr(source, "__aiter__"):
            return await asyncio.to_thread(pipeline.clip, source, choices, call_id=call_id, caller=caller)
        intake = pipeline.begin(choices)
        try:
            async for chunk in achunks(source):
                intake.write(chunk)
        except BaseException:
            intake.abandon()
            raise
        return await asyncio.to_thread(pipeline.settle, intake, choices, call_id=call_id)

    def capture(self, *, tool: str | None = None, call_id: str | None = None, query: str | None = None) -> Capture:
        """Return a Capture for output that is written piece by piece: `write(chunk, stream="stderr")`, then `.clip`."""
        from spillover.capture import Capture

        return Capture(self.for_tool(tool).asking(query), call_id)

    def clip_streams(
        self, *, tool: str | None = None, call_id: str | None = None, query: str | None = None, **streams: Source
    ) -> Clip:
        """Clip the streams of a command, `stdout=` and `stderr=`, under one budget; stderr comes first when room is short."""
        from spillover.blocks.together import clip_streams

        return clip_streams(streams, self.for_tool(tool).asking(query), call_id=call_id)

    def clip_blocks(
        self,
        blocks: Sequence[Any],
        *,
        tool: str | None = None,
        call_id: str | None = None,
        query: str | None = None,
        caller: object = None,
    ) -> Blocks:
        """Clip the blocks of a result, or whole messages: their texts share one budget; media and order do not change.

        `caller`: who gets the result; a program gets it whole (see `clip`). In whole messages, the model's turns say it.
        """
        from spillover.blocks.together import clip_blocks

        return clip_blocks(blocks, self.for_tool(tool).asking(query), call_id=call_id, caller=caller, messages=True)

    def clip_many(
        self, outputs: Mapping[Key, Source], *, tools: Mapping[Key, str] | str | None = None
    ) -> dict[Key, Clip]:
        """Clip the results of parallel calls under one budget: small ones stay whole, the others share the rest.

        `tools` names the tool of each output, by its key, or one for all: for the ref, and for its rule.
        """
        from spillover.blocks.many import clip_many

        return clip_many(outputs, self, tools)

    if TYPE_CHECKING:

        @overload
        def wrap(
            self,
            function: Function,
            *,
            tool: str | None = None,
            leave: type | tuple[type, ...] = (),
            on_clip: Callable[[Clip], object] | None = None,
            query: Callable[..., str | None] | None = None,
            caller: object = None,
        ) -> Function: ...
        @overload
        def wrap(
            self,
            *,
            tool: str | None = None,
            leave: type | tuple[type, ...] = (),
            on_clip: Callable[[Clip], object] | None = None,
            query: Callable[..., str | None] | None = None,
            caller: object = None,
        ) -> Callable[[Function], Function]: ...
        def wrap(self, function: Any = None, **options: Any) -> Any:
            """Bound the results of a tool."""

    else:

        def wrap(
            self,
            function: Function | None = None,
            *,
            tool: str | None = None,
            leave: type | tuple[type, ...] = (),
            on_clip: Callable[[Clip], object] | None = None,
            query: Callable[..., str | None] | None = None,
            caller: object = None,
        ) -> Any:
            """Bound the results of a tool: `@clipper.wrap`, or `@clipper.wrap(tool="bash", on_clip=clips.append)`.

            Sync or async, the same name, signature and docs. A text is clipped; a dataclass, a Pydantic model or another object
            keeps its type, with bounded fields, where that is possible, and becomes text otherwise; so does a dict or a list that
            the function declares (`-> dict`). `leave` names types of results that pass as they are. `on_clip` gets the Clip of
            each call. `query` gets the arguments of a call, and returns what its caller wants to know: `query=lambda pattern,
            path: pattern`. `caller="program"`, or a function of the arguments that returns what the API reports of the call:
            a program gets results whole (see `clip`).
            """
            from spillover.wrap.function import wrap

            options = {"leave": leave, "on_clip": on_clip, "query": query, "caller": caller}
            if function is None:
                return lambda function: wrap(function, self, tool, **options)
            return wrap(function, self, tool, **options)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        input: str | bytes | None = None,  # noqa: A002  the word subprocess has for it
        timeout: float | None = None,
        interactive: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
        tool: str | None = None,
        call_id: str | None = None,
        cancel: int | Callable[[], bool] | None = None,
        die_with_parent: bool = False,
        query: str | None = None,
        since: str | None = None,
    ) -> Run:
        """Run a command and return its `exit_code` and a `clip` of what it printed.

        `since`: told against an earlier run: "last", "good" (the newest run of this command with exit code 0), or a ref.
        `cancel`: a descriptor, or a call, that ends it once it can be read, or is true. `die_with_parent`: it also ends if
        this process is killed by SIGKILL, for which another process watches.
        """
        from spillover.run.command import run, tool_name
        from spillover.source.process import Command

        data = input.encode("utf-8", "surrogateescape") if isinstance(input, str) else input
        command = Command(
            argv=argv,
            cwd=cwd,
            env=env,
            input=data,
            timeout=timeout,
            interactive=interactive,
            die_with_parent=die_with_parent,
        )
        choices = self.for_command(argv).for_tool(tool or tool_name(str(argv[0]))).asking(query).telling_since(since)
        return run(command, choices, call_id=call_id, cancel=cancel, on_progress=on_progress)

    async def arun(self, argv: Sequence[str], **options: Any) -> Run:
        """Run a command from async code, in a thread; cancelling stops the command."""
        from spillover.run.command import in_thread

        return await in_thread(lambda cancel: self.run(argv, cancel=cancel, **options))

    def read(
        self,
        ref: str,
        *,
        lines: str | int | None = None,
        bytes: str | None = None,  # noqa: A002  the word for it everywhere here
        columns: str | None = None,
        pointer: str | None = None,
    ) -> Clip:
        """Read a part of a stored output, by lines ("120:180", "120:+50", "-50:"), bytes, or columns of one line.

        `pointer` names a value in an output that is JSON: `read(ref, pointer="/stdout", lines="120:180")`, or `"REF#/stdout"`.

        Wherever a ref is asked for, "last" is the newest output, and "last:cargo test" the newest of that command.
        """
        from spillover.retrieve.read import read

        return read(self.for_answers(), ref, lines=lines, bytes_=bytes, columns=columns, pointer=pointer)

    def grep(
        self,
        ref: str,
        pattern: str,
        *,
        context: int = 0,
        ignore_case: bool = False,
        fixed: bool = False,
        start: str | int = 1,
    ) -> Clip:
        """Search a stored output and count the matches, starting at line `start`."""
        from spillover.retrieve.grep import grep

        return grep(
            self.for_answers(), ref, pattern, context=context, ignore_case=ignore_case, fixed=fixed, start=start
        )

    def outline(self, ref: str) -> Clip:
        """Return a map of a stored output: its sections, where failures cluster, what repeats, and where to read next."""
        from spillover.retrieve.outline import outline

        return outline(self.for_answers(), ref)

    def diff(self, ref: str, since: str | None = None) -> Clip:
        """Compare a stored output with an earlier one; by default, with the previous run of the same command.

        Times, durations, addresses, temporary paths and the order of lines are seen through.
        """
        from spillover.retrieve.diff import diff

        return diff(self.for_answers(), ref, since)

    def tools(self) -> list[Callable[..., str]]:
        """Return `read_output`, `grep_output`, `outline_output` and `list_outputs` as typed functions for a model to call."""
        from spillover.retrieve.tools import tools

        return tools(self.for_answers())

    def tool_specs(self, style: SpecStyle = "openai") -> list[dict[str, Any]]:
        """Return the schemas of these tools for an API: "openai" (chat completions), "openai-responses" or "anthropic"."""
        from spillover.retrieve.tools import tool_specs

        specs = tool_specs(self.tools(), style)
        import json  # what made them has loaded it

        from spillover.events import record_schemas

        record_schemas(self, json.dumps(specs, ensure_ascii=False))
        return specs

    def handles(self, name: str) -> bool:
        """Return whether this is one of our tools, so that `dispatch` answers calls of it."""
        return name in TOOL_NAMES

    def dispatch(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Answer a model's call of one of these tools: the `text` to send back, and `is_error`.

        Never raises: what is wrong with the call is said, with an example, and fits.
        """
        from spillover.retrieve.tools import dispatch

        return dispatch(self.for_answers(), name, arguments)

    async def adispatch(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Answer a model's call from async code, in a thread."""
        import asyncio  # whoever awaits has it already

        return await asyncio.to_thread(self.dispatch, name, arguments)


def clip(source: Source, limits: Limits | None = None, **choices: Unpack[Given]) -> Clip:
    """Bring an output within limits: `clip(text)`, or `clip(text, Limits(tokens=4_000), keep="tail")`; any choice of a Clipper works."""
    return _default().clip(source) if limits is None and not choices else _make(limits, choices).clip(source)


async def aclip(source: AsyncSource, limits: Limits | None = None, **choices: Unpack[Given]) -> Clip:
    """Bring an output within limits from async code; async iterables work too."""
    return await (_default() if limits is None and not choices else _make(limits, choices)).aclip(source)


def _make(limits: Limits | None, choices: Given) -> Clipper:
    return Clipper(limits or Limits(), **choices)


def _default() -> Clipper:
    """Return the default Clipper, made anew only when the environment names another store."""
    global _made_before  # noqa: PLW0603  a cache of one: making it costs more than clipping a short text
    root = default_root(os.environ)
    if _made_before is None or _made_before[0] != root:
        _made_before = (root, Clipper())
    return _made_before[1]


_made_before: tuple[str, Clipper] | None = None

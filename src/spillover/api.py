"""Clipper: the object that users configure, and the verbs they call."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Self, TypeVar, Unpack, overload

from spillover import pipeline
from spillover.budget import Budget
from spillover.errors import UsageError, quote
from spillover.events import record_schemas
from spillover.result import Answer, Blocks, Clip, Progress, Run
from spillover.results.blocks import clip_blocks, clip_many, clip_streams, is_program, keep_for_program
from spillover.settings.limits import SMALLEST, Limits
from spillover.settings.load import load
from spillover.settings.settings import DEFAULT_TOOL, Call, Options, Settings, command_line, default_root
from spillover.source.intake import achunks, as_bytes
from spillover.types import AsyncSource, Chunk, Source, SpecStyle

Function = TypeVar("Function", bound=Callable[..., Any])
Key = TypeVar("Key")

_log = logging.getLogger(__name__)
#: The tools that a model calls to go back to a stored output.
TOOL_NAMES = ("read_output", "grep_output", "outline_output", "list_outputs")


class Clipper:
    """Clips outputs to its limits: `Clipper(Limits(tokens=4_000), keep="tail")`. Has `settings`, and maybe a `budget`.

    The options are the fields of `Settings`. To vary one, copy: `clipper.but(keep="head")`.
    """

    __slots__ = ("budget", "settings")

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        budget: Budget | None = None,
        settings: Settings | None = None,
        **options: Unpack[Options],
    ) -> None:
        changes: dict[str, Any] = dict(options)
        if limits is not None:
            changes["limits"] = limits
        unknown = [name for name in changes if name not in Settings.__struct_fields__]
        if unknown:
            names = ", ".join(Settings.__struct_fields__)
            hint = f"limits=Limits({unknown[0]}=...)" if unknown[0] in SMALLEST else f"{names} or budget"
            raise UsageError(f"{quote(unknown[0])} is not an option of a Clipper; use {hint}.")
        if settings is not None and not isinstance(settings, Settings):
            raise UsageError(f"settings={quote(settings)} is not Settings; use e.g. clipper.settings.")
        if budget is not None and not isinstance(budget, Budget):
            raise UsageError(f"budget={quote(budget)} is not a Budget; use e.g. Budget(200_000).")
        if settings is None:
            self.settings = Settings(**changes)
        else:
            self.settings = settings.but(**changes) if changes else settings
        self.budget = budget

    def __repr__(self) -> str:
        return f"Clipper(settings={self.settings!r}, budget={self.budget!r})"

    @classmethod
    def configured(cls, *, cwd: str | None = None, **values: Any) -> Self:
        """Return a Clipper as configured by files, then SPILLOVER_* variables, then arguments (`tokens=4_000`)."""
        loaded = load(cwd=cwd, arguments=values, argument_origin=str)
        if loaded.complaint:
            _log.warning("%s", loaded.complaint)
        return cls(settings=loaded.settings())

    def but(
        self, limits: Limits | None = None, *, budget: Budget | EllipsisType | None = ..., **options: Unpack[Options]
    ) -> Self:
        """Return a copy with some options changed: `clipper.but(keep="head")`, `clipper.but(budget=None)`."""
        return type(self)(limits, budget=self.budget if budget is ... else budget, settings=self.settings, **options)

    def call(
        self,
        tool: str | None = None,
        *,
        command: str | Sequence[str] = "",
        call_id: str | None = None,
        cwd: str | None = None,
        query: str | None = None,
        since: str | None = None,
        uncut: bool = True,
    ) -> Call:
        """Return the settings and limits that apply to one call of a tool; adapters pass them to `pipeline`.

        `uncut=False`: clip the result even if a rule leaves the tool alone (`clip = false`), as `clip` and `run` do.
        """
        name = tool or DEFAULT_TOOL
        if not isinstance(name, str):
            raise UsageError(f"tool={quote(tool)} is not the name of a tool.")
        if call_id is not None and not isinstance(call_id, str):
            raise UsageError(f"call_id={quote(call_id)} is not text; use the id that the API gave the call.")
        if query is not None and not isinstance(query, str):
            raise UsageError("query must be text: what you want to know about the output.")
        if since is not None and (not isinstance(since, str) or not since):
            raise UsageError(f'since={quote(since)} is not valid; use "last", "good", "off" or the ref of an output.')
        line = command_line(command) if command else ""
        settings = self.settings.for_call(name, line, uncut=uncut)
        return Call(
            settings,
            settings.limits,
            trigger=settings.trigger,
            tool=name,
            id=call_id,
            command=line,
            cwd=cwd,
            query=query or "",
            since=since or settings.since,
            budget=self.budget,
        )

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
        """Clip an output to the limits: str, bytes, a file, a Path, any iterable of str or bytes.

        `query`: what you want to know; what answers it is shown first. `since`: the ref of an earlier output; what is
        new against it is shown first, and what is gone is named. `caller`: who gets the result, as the API reports it
        (`tool_use.caller`), or "program": a program gets it whole, and it is stored where it overflows.
        """
        call = self.call(tool, call_id=call_id, query=query, since=since, uncut=False)
        if is_program(caller):
            return keep_for_program(source, call)
        return pipeline.clip(source, call)

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
        """Clip an output from async code; an async iterable works too."""
        import asyncio

        call = self.call(tool, call_id=call_id, query=query, since=since, uncut=False)
        if hasattr(source, "__aiter__") and is_program(caller):
            source = [chunk async for chunk in achunks(source)]
        if not hasattr(source, "__aiter__"):
            clip = keep_for_program if is_program(caller) else pipeline.clip
            return await asyncio.to_thread(clip, source, call)
        intake = pipeline.open_intake(call)
        try:
            async for chunk in achunks(source):
                intake.write(chunk)
        except BaseException:
            intake.abandon()
            raise
        return (await asyncio.to_thread(pipeline.finish, intake, call)).clip

    def capture(self, *, tool: str | None = None, call_id: str | None = None, query: str | None = None) -> Capture:
        """Return a Capture for output that is written piece by piece: `write(chunk, stream="stderr")`, then `.clip`."""
        return Capture(self.call(tool, call_id=call_id, query=query, uncut=False))

    def clip_streams(
        self, *, tool: str | None = None, call_id: str | None = None, query: str | None = None, **streams: Source
    ) -> Clip:
        """Clip the streams of a command, `stdout=` and `stderr=`, together; stderr comes first when room is short."""
        return clip_streams(streams, self.call(tool, call_id=call_id, query=query, uncut=False))

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

        `caller`: who gets the result; a program gets it whole (see `clip`). In whole messages, the model's turns name
        the caller.
        """
        call = self.call(tool, call_id=call_id, query=query, uncut=False)
        return clip_blocks(blocks, call, caller=caller, messages=True)

    def clip_many(
        self, outputs: Mapping[Key, Source], *, tools: Mapping[Key, str] | str | None = None
    ) -> dict[Key, Clip]:
        """Clip the results of parallel calls under one budget: small ones stay whole, the others share the rest.

        `tools` names the tool of each output, by its key, or one for all: for the ref, and for its rule.
        """
        if not isinstance(outputs, Mapping) or not isinstance(tools, Mapping | str | None):
            raise UsageError(
                'clip_many takes outputs by key: {"call_1": text, "call_2": text}, and tools in the same way.'
            )
        names: Mapping[Key, str] = dict.fromkeys(outputs, tools) if isinstance(tools, str) else tools or {}
        return clip_many(
            outputs, self.call(uncut=False), {key: self.call(name, uncut=False) for key, name in names.items()}
        )

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
    def wrap(
        self,
        function: Any = None,
        *,
        tool: str | None = None,
        leave: type | tuple[type, ...] = (),
        on_clip: Callable[[Clip], object] | None = None,
        query: Callable[..., str | None] | None = None,
        caller: object = None,
    ) -> Any:
        """Bound the results of a tool: `@clipper.wrap`, or `@clipper.wrap(tool="bash", on_clip=clips.append)`.

        Sync or async, the same name, signature and docs. A text is clipped; a dataclass, a Pydantic model or another
        object keeps its type, with bounded fields, where that is possible, and becomes text otherwise; so does a dict
        or a list that the function declares (`-> dict`). `leave` names types of results that pass as they are.
        `on_clip` gets the Clip of each call. `query` gets the arguments of a call, and returns what its caller wants
        to know: `query=lambda pattern, path: pattern`. `caller="program"`, or a function of the arguments that returns
        what the API reports of the call: a program gets results whole (see `clip`).
        """
        from spillover.results.wrap import wrap

        def wrap_function(function: Any) -> Any:
            name = tool or str(getattr(function, "__name__", DEFAULT_TOOL))
            wrapped = wrap(function, self.call(name), leave=leave, on_clip=on_clip, query=query, caller=caller)
            if self.settings.leaves_alone(name):
                _log.info("Left the tool %s alone: a rule says that it bounds its results itself.", name)
                return function
            return wrapped

        return wrap_function if function is None else wrap_function(function)

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

        `since`: compare with an earlier run: "last", "good" (the newest run of this command with exit code 0), or a
        ref. `cancel`: a descriptor that ends the command once it can be read, or a function that ends it by
        returning true. `die_with_parent`: end it even if this process is killed by SIGKILL; another process watches.
        """
        from spillover.run import run, tool_name
        from spillover.source.process import Command

        if input is not None and not isinstance(input, str | bytes):
            raise UsageError(f"input={quote(input)} is not text or bytes.")
        command = Command(
            argv=argv,
            cwd=cwd,
            env=env,
            input=input.encode("utf-8", "surrogateescape") if isinstance(input, str) else input,
            timeout=timeout,
            interactive=interactive,
            die_with_parent=die_with_parent,
        )
        name = tool or tool_name(str(argv[0]))
        call = self.call(name, command=argv, call_id=call_id, query=query, since=since, uncut=False)
        return run(
            command,
            call,
            cancel=_survive("cancel", cancel) if callable(cancel) else cancel,
            on_progress=on_progress and _survive("on_progress", on_progress),
        )

    async def arun(self, argv: Sequence[str], **options: Any) -> Run:
        """Run a command from async code, in a thread; cancelling stops the command."""
        from spillover.run import run_in_thread

        return await run_in_thread(lambda cancel: self.run(argv, cancel=cancel, **options))

    def read(
        self,
        ref: str,
        *,
        lines: str | int | None = None,
        bytes: str | None = None,  # noqa: A002  the unit's name in Limits and on the command line
        columns: str | None = None,
        pointer: str | None = None,
    ) -> Clip:
        """Read a part of a stored output, by lines ("120:180", "120:+50", "-50:"), bytes, or columns of one line.

        `pointer` names a value in an output that is JSON: `read(ref, pointer="/stdout", lines="120:180")`, or
        `"REF#/stdout"`.

        Instead of a ref, "last" names the newest output, and "last:cargo test" the newest of that command.
        """
        from spillover.retrieve.read import read

        call = self.call(uncut=False).for_retrieval()
        return read(call, ref, lines=lines, bytes_=bytes, columns=columns, pointer=pointer)

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

        call = self.call(uncut=False).for_retrieval()
        return grep(call, ref, pattern, context=context, ignore_case=ignore_case, fixed=fixed, start=start)

    def outline(self, ref: str) -> Clip:
        """Return a map of a stored output: sections, where failures cluster, what repeats, and where to read next."""
        from spillover.retrieve.outline import outline

        return outline(self.call(uncut=False).for_retrieval(), ref)

    def diff(self, ref: str, since: str | None = None) -> Clip:
        """Compare a stored output with an earlier one; by default, with the previous run of the same command.

        Differences in times, durations, addresses, temporary paths and the order of lines are ignored.
        """
        from spillover.retrieve.diff import diff

        return diff(self.call(uncut=False).for_retrieval(), ref, since)

    def tools(self) -> list[Callable[..., str]]:
        """Return `read_output`, `grep_output`, `outline_output` and `list_outputs` as functions for a model to call."""
        from spillover.retrieve.tools import tools

        return tools(self.call(uncut=False).for_retrieval())

    def tool_specs(self, style: SpecStyle = "openai") -> list[dict[str, Any]]:
        """Return the schemas of our tools for "openai" (chat completions), "openai-responses" or "anthropic"."""
        from spillover.retrieve.tools import tool_specs

        specs = tool_specs(self.tools(), style)
        record_schemas(self.settings, json.dumps(specs, ensure_ascii=False))
        return specs

    def handles(self, name: str) -> bool:
        """Return whether a name is that of one of our tools, whose calls `dispatch` answers."""
        return name in TOOL_NAMES

    def dispatch(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Answer a model's call of one of our tools: the `text` to send back, and `is_error`.

        Never raises: the answer to a wrong call explains the mistake, with an example, within the limits.
        """
        from spillover.retrieve.tools import dispatch

        return dispatch(self.call(uncut=False).for_retrieval(), name, arguments)

    async def adispatch(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Answer a model's call from async code, in a thread."""
        import asyncio

        return await asyncio.to_thread(self.dispatch, name, arguments)


def _survive(name: str, callback: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a callback so that its failure is logged and the command goes on."""

    def call(*args: Any) -> Any:
        try:
            return callback(*args)
        except Exception as error:  # noqa: BLE001  a user's callback may raise anything
            _log.warning("The %s of a run failed: %s: %s", name, type(error).__name__, error)
            return None

    return call


class Capture:
    """An output that is written piece by piece: `write(chunk, stream="stderr")`, then `.clip`.

    In a `with` block, an exception drops the output.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._intake = pipeline.open_intake(call)
        self._clip: Clip | None = None
        self._dropped = False

    def write(self, chunk: Chunk, stream: str = "stdout") -> int:
        """Add the next piece and return its length, as a file does."""
        if self._clip is not None or self._dropped:
            raise UsageError("this capture has ended; start another one.")
        self._intake.write(as_bytes(chunk), stream)
        return len(chunk)

    def flush(self) -> None:
        """Do nothing: a capture has no buffer. It can be used like a file."""

    @property
    def clip(self) -> Clip:
        """What the model gets. Reading this ends the capture."""
        if self._dropped:
            raise UsageError("this capture ended with an exception, and kept nothing.")
        if self._clip is None:
            self._clip = pipeline.finish(self._intake, self._call).clip
        return self._clip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and self._clip is None:
            self._dropped = True
            self._intake.abandon()


def clip(
    source: Source,
    limits: Limits | None = None,
    *,
    tool: str | None = None,
    query: str | None = None,
    budget: Budget | None = None,
    **options: Unpack[Options],
) -> Clip:
    """Clip an output: `clip(text)` or `clip(text, Limits(tokens=4_000), keep="tail")`, with any option of a Clipper."""
    return _find_clipper(limits, budget, options).clip(source, tool=tool, query=query)


async def aclip(
    source: AsyncSource,
    limits: Limits | None = None,
    *,
    tool: str | None = None,
    query: str | None = None,
    budget: Budget | None = None,
    **options: Unpack[Options],
) -> Clip:
    """Clip an output from async code; async iterables work too."""
    return await _find_clipper(limits, budget, options).aclip(source, tool=tool, query=query)


def _find_clipper(limits: Limits | None, budget: Budget | None, options: Options) -> Clipper:
    """Return a Clipper with these options; without any, the default one for the store that the environment names."""
    global _default  # noqa: PLW0603  a cache of one: a new Clipper costs more than clipping a short text
    if limits is not None or budget is not None or options:
        return Clipper(limits, budget=budget, **options)
    root = default_root(os.environ)
    if _default is None or _default[0] != root:
        _default = (root, Clipper())
    return _default[1]


_default: tuple[str, Clipper] | None = None

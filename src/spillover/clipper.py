"""All choices in one frozen object, and the verbs on it."""

from __future__ import annotations

import os

from spillover import pipeline
from spillover.choices import Choices
from spillover.config.place import default_root
from spillover.data import dataclass
from spillover.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Self, TypeVar

    from spillover.blocks import Blocks
    from spillover.capture import Capture
    from spillover.intake.sources import AsyncSource, Source
    from spillover.result import Clip
    from spillover.run import Progress, Run

    Function = TypeVar("Function", bound=Callable[..., Any])
    Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clipper(Choices):
    """All choices in one frozen object. A rule for one tool is `replace(clipper, keep="tail")`."""

    @classmethod
    def configured(cls, *, cwd: str | None = None, **given: Any) -> Self:
        """A Clipper as the configuration says: files, then SPILLOVER_* variables, then what is given (`tokens=4_000`)."""
        from spillover.config.settings import load

        return load(cwd=cwd, given=given, given_origin=str).made(cls)

    def clip(self, source: Source, *, tool: str | None = None, call_id: str | None = None) -> Clip:
        """Bring an output within the limits: str, bytes, a file, a Path, any iterable of str or bytes."""
        return pipeline.clip(source, self.for_tool(tool), call_id=call_id)

    async def aclip(self, source: AsyncSource, *, tool: str | None = None, call_id: str | None = None) -> Clip:
        """The same for an async iterable, or from async code."""
        import asyncio  # whoever awaits has it already

        from spillover.intake.sources import achunks

        choices = self.for_tool(tool)
        if not hasattr(source, "__aiter__"):
            return await asyncio.to_thread(pipeline.clip, source, choices, call_id=call_id)
        intake = pipeline.begin(choices)
        try:
            async for chunk in achunks(source):
                intake.write(chunk)
        except BaseException:
            intake.abandon()
            raise
        return await asyncio.to_thread(pipeline.settle, intake, choices, call_id=call_id)

    def capture(self, *, tool: str | None = None, call_id: str | None = None) -> Capture:
        """For producers that push: `write(chunk, stream="stderr")`, then `.clip`."""
        from spillover.capture import Capture

        return Capture(self.for_tool(tool), call_id)

    def clip_streams(self, *, tool: str | None = None, call_id: str | None = None, **streams: Source) -> Clip:
        """Both streams of a command, `stdout=` and `stderr=`: labelled, one budget, stderr first when room is short."""
        from spillover.blocks import clip_streams

        return clip_streams(streams, self.for_tool(tool), call_id=call_id)

    def clip_blocks(self, blocks: Sequence[Any], *, tool: str | None = None, call_id: str | None = None) -> Blocks:
        """The blocks of a result: its texts share one budget, media is untouched, order is kept."""
        from spillover.blocks import clip_blocks

        return clip_blocks(blocks, self.for_tool(tool), call_id=call_id)

    def clip_many(self, outputs: Mapping[Key, Source]) -> dict[Key, Clip]:
        """The results of parallel calls: one budget, small ones whole, the others share what is left."""
        from spillover.blocks import clip_many

        return clip_many(outputs, self)

    def wrap(self, function: Function, *, tool: str | None = None) -> Function:
        """A tool whose results fit: sync or async, the same name, signature and docs."""
        from spillover.wrap import wrap

        return wrap(function, self, tool)

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
        cancel: int | None = None,
    ) -> Run:
        """Run a command: `exit_code` as it was, `clip` of what it printed."""
        from spillover.intake.child import Command
        from spillover.run import run, tool_name

        data = input.encode("utf-8", "surrogateescape") if isinstance(input, str) else input
        command = Command(argv=argv, cwd=cwd, env=env, input=data, timeout=timeout, interactive=interactive)
        choices = self.for_tool(tool or tool_name(str(argv[0])))
        return run(command, choices, call_id=call_id, cancel=cancel, on_progress=on_progress)

    async def arun(self, argv: Sequence[str], **options: Any) -> Run:
        """`run` from async code: the same, in a thread; cancelling it ends the command."""
        import asyncio

        told, tell = os.pipe()
        work = asyncio.ensure_future(asyncio.to_thread(self.run, argv, cancel=told, **options))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            os.write(tell, b"x")
            await asyncio.wait([work])
            raise
        finally:
            os.close(tell)
            os.close(told)

    def read(
        self,
        ref: str,
        *,
        lines: str | int | None = None,
        bytes: str | None = None,  # noqa: A002  the word for it everywhere here
        columns: str | None = None,
    ) -> Clip:
        """A part of a stored output, by lines ("120:180", "120:+50", "-50:"), bytes, or columns of one line.

        Wherever a ref is asked for, "last" is the newest output, and "last:cargo test" the newest of that command.
        """
        from spillover.retrieve import look

        return look.read(self.for_answers(), ref, lines=lines, bytes_=bytes, columns=columns)

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
        """Where a pattern stands in a stored output, with how often; `start` is a line to go on from."""
        from spillover.retrieve import look

        return look.grep(
            self.for_answers(), ref, pattern, context=context, ignore_case=ignore_case, fixed=fixed, start=start
        )

    def outline(self, ref: str) -> Clip:
        """A map of a stored output: its sections, where failures cluster, what repeats, and where to read next."""
        from spillover.retrieve import look

        return look.outline(self.for_answers(), ref)

    def tools(self) -> list[Callable[..., str]]:
        """`read_output`, `grep_output`, `outline_output` and `list_outputs` as plain typed functions for a model to call."""
        from spillover.retrieve.tools import tools

        return tools(self.for_answers())

    def tool_specs(self, style: str = "openai") -> list[dict[str, Any]]:
        """These tools as a request lists them: for chat completions ("openai"), "openai-responses" or "anthropic"."""
        from spillover.retrieve.specs import tool_specs

        return tool_specs(self.tools(), style)

    def dispatch(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """The answer to a model's call of one of these tools. Never raises: what is wrong with the call is said, and fits."""
        from spillover.retrieve.specs import dispatch

        return dispatch(self.tools(), name, arguments, self.for_answers())


def clip(source: Source, limits: Limits | None = None, **choices: Any) -> Clip:
    """Bring an output within limits: `clip(text)`, `clip(text, Limits(tokens=4_000), keep="tail")`."""
    return _default().clip(source) if limits is None and not choices else _made(limits, choices).clip(source)


async def aclip(source: AsyncSource, limits: Limits | None = None, **choices: Any) -> Clip:
    """The same for async iterables, or from async code."""
    return await (_default() if limits is None and not choices else _made(limits, choices)).aclip(source)


def _made(limits: Limits | None, choices: dict[str, Any]) -> Clipper:
    return Clipper(limits or Limits(), **choices)


def _default() -> Clipper:
    """The default Clipper, made anew only when the environment names another store."""
    global _made_before  # noqa: PLW0603  a cache of one: making it costs more than clipping a short text
    root = default_root(os.environ)
    if _made_before is None or _made_before[0] != root:
        _made_before = (root, Clipper())
    return _made_before[1]


_made_before: tuple[str, Clipper] | None = None

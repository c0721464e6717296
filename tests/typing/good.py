"""Calls that a type checker has to accept: the public names with the types they are documented with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillover import Budget, Clip, Clipper, DirStore, Limits, MemoryStore, clip, file_tools
from spillover.result import Answer
from spillover.types import Blob, Document, Fill, Keep, Outcome, Record, Selector, Source, Span, Store, Writer


@dataclass
class Ran:
    stdout: str


def first_half(document: Document, fill: Fill) -> Sequence[Span]:
    return [Span(0, document.size // 2)] if fill([]) < 1 else []


selector: Selector = first_half
word: Keep = "tail"
source: Source = ["a", b"b"]
budget = Budget(100_000, tokenizer="o200k_base")
clipper = Clipper(
    Limits(tokens=4_000),
    keep=selector,
    store="outputs",
    hints=["cli", file_tools("Read", "Grep")],
    tokenizer=len,
    rules={"bash*": {"tokens": 500, "keep": "tail"}},
    budget=budget,
)
held: Store = Clipper(store=Path("outputs")).settings.store
also: Store = clipper.but(store=MemoryStore(), keep="head", hints="tools").settings.store
folder: DirStore = DirStore("outputs")
made: Clip = clip(source, Limits(tokens=500), keep=word)
outcome: Outcome = made.outcome
answer: Answer = clipper.dispatch("read_output", {"ref": "last", "lines": [1, 3]})
failed: bool = answer.is_error
clips: list[Clip] = []


@clipper.wrap
def plain(path: str) -> str:
    return path


@clipper.wrap(tool="bash", on_clip=clips.append, leave=bytes)
def with_options(line: str, *, quick: bool = False) -> Ran:
    return Ran(line * quick)


async def fetch(url: str) -> dict[str, str]:
    return {"url": url}


text: str = plain("x")
ran: Ran = with_options("x", quick=True)
wrapped: Callable[..., object] = clipper.wrap(fetch, tool="web")
specs = clipper.tool_specs("anthropic")
many: dict[str, Clip] = clipper.clip_many({"a": "x"}, tools={"a": "bash"})


class Mine:
    """A store of somebody's own, as far as the checker asks."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    def writer(self) -> Writer:
        return self.inner.writer()

    def open(self, ref: str) -> Blob:
        return self.inner.open(ref)

    def get(self, ref: str) -> Record:
        return self.inner.get(ref)

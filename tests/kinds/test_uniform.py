"""Very uniform text: where no line tells more than another, as many of them are shown as fit."""

import hashlib
import uuid

import pytest

from spillover import Clipper, Limits, MemoryStore

#: The share of the token limit that is used at least.
USED = 0.8
WORDS = [
    "fix",
    "add",
    "remove",
    "parser",
    "store",
    "cache",
    "test",
    "docs",
    "log",
    "the",
    "for",
    "bound",
    "render",
    "clip",
]


def digest(number):
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


def subject(number):
    return " ".join(WORDS[int(digit, 16) % len(WORDS)] for digit in digest(number)[:4])


LINES = {
    "git log --oneline": lambda number: f"{digest(number)[:8]} {subject(number)}",
    "seq": str,
    "ls -1": lambda number: f"file_{number:05}.txt",
    "ls -1 of numbers": lambda number: f"{number}.jpg",
    "uuids": lambda number: str(uuid.UUID(digest(number)[:32])),
    "hexadecimal digits": digest,
    "addresses": lambda number: f"10.0.{number // 250}.{number % 250}",
    "dates": lambda number: f"2026-01-{number % 28 + 1:02}",
    "git log --oneline of one subject": lambda number: f"{digest(number)[:7]} Update README",
    "git log --oneline with numbers": lambda number: f"{digest(number)[:7]} Commit {number}",
    "URLs": lambda number: f"https://example.com/item/{number}",
}


def used(line, tokens):
    clipper = Clipper(Limits(tokens=tokens), store=MemoryStore())
    text = "".join(f"{line(number)}\n" for number in range(4_000))
    return clipper.settings.count(clipper.clip(text, tool="bash").text) / tokens


@pytest.mark.parametrize("tokens", [1_000, 4_000])
@pytest.mark.parametrize("what", LINES)
def test_uniform_lines_fill_the_limit(what, tokens):
    """4,000 lines of `git log --oneline` became 2, and most of the limit was left."""
    assert USED <= used(LINES[what], tokens) <= 1

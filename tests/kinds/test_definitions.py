"""Source code that is cut: where names are defined, and where they are used first."""

import pytest

from spillover import MemoryStore
from spillover.kinds.source import Definition, find_definitions
from spillover.profiles import vtcode


def defined(*lines):
    return {each.name: (each.line, each.first_use, each.uses) for each in find_definitions([*map(str.encode, lines)])}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("limit = 3", ["limit"]),
        ("    limit: int = 3", ["limit"]),
        ("low, high = 1, 9", ["low", "high"]),
        ("self.limit = 3", ["limit"]),
        ("let mut count = 0;", ["count"]),
        ("const MAX_TOKENS: usize = 25_000;", ["MAX_TOKENS"]),
        ("pub(crate) fn truncate(text: &str) -> String {", ["truncate"]),
        ("export default function main() {", ["main"]),
        ("async def run():", ["run"]),
        ("func (b *Budget) Left() int {", ["Left"]),
        ("total := 0", ["total"]),
        ("    public static int count = 0;", ["count"]),
        ("char *name = NULL;", ["name"]),
        ("int sizes[10] = {0};", ["sizes"]),
        ("#define LIMIT 3", ["LIMIT"]),
        ("class Clipper(Choices):", ["Clipper"]),
        ("if limit == 3:", []),
        ("    limit=3,", []),
        ("limit += 1", []),
        ("return limit", []),
        ("# limit = 3", []),
        ("// let limit = 3;", []),
        ("", []),
    ],
)
def test_what_a_line_defines(line, names):
    assert list(defined(line)) == names


def test_the_first_usage_is_the_first_line_behind_the_definition_that_has_the_name():
    lines = ["limit = 3", "# limit is 3", "unlimited = True", "print(limit)", "return limit, unlimited"]
    assert defined(*lines) == {"limit": (0, 3, 2), "unlimited": (2, 4, 1)}


def test_a_name_that_is_set_again_is_defined_once():
    assert find_definitions([b"x = 1\n", b"  x = x + 1\n"]) == [
        Definition("x", variable=True, line=0, first_use=1, uses=1, indent=0)
    ]


def program():
    """A program whose settings stand in the middle, and are used far from there."""

    def steps(since):
        return "".join(
            f"\n\ndef step_{number}(value):\n"
            + "".join(f"    if value > {n}:\n        value.run({n}, {number})\n" for n in range(6))
            for number in range(since, since + 50)
        )

    settings = "\n" + "".join(f"setting_{number} = {number}\n" for number in range(5))
    users = "".join(f"\n\ndef use_{number}():\n    call(setting_{number})\n" for number in range(5))
    return f"import os\n{steps(0)}{settings}{steps(50)}{users}{steps(100)}"


def test_vtcode_keeps_definitions_and_their_first_usages_when_source_code_is_cut():
    """Seed 004, "Semantic Truncation". The settings stand in the middle, where both ends would not show them."""
    text = program()
    both = vtcode.clipper(store=MemoryStore(), max_tokens=900).clip(text).text
    kept = vtcode.clipper(store=MemoryStore(), max_tokens=900, keep="signal").clip(text)
    for number in range(5):
        assert f"setting_{number} = {number}" not in both
        assert f"setting_{number} = {number}\n" in kept.text
        assert f"    call(setting_{number})\n" in kept.text
    assert kept.shown.tokens <= 900
    assert "defines setting_0" in {reason.why for reason in kept.why}
    assert "first use of setting_0" in {reason.why for reason in kept.why}


def test_a_log_is_none_and_its_failure_is_kept():
    log = "".join(f"step {number} of the build\n" for number in range(3_000)) + "error: no space left\n"
    log += "".join(f"step {number} of the build\n" for number in range(3_000))
    out = vtcode.clipper(store=MemoryStore(), max_tokens=300, keep="signal").clip(log)
    assert "error: no space left" in out.text


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "\n" * 100_000, "(" * 50_000 + "\n" + "a = " * 50_000, "é = 1\n" * 9_000]
)
def test_odd_text_is_cut_all_the_same(text):
    out = vtcode.clipper(store=MemoryStore(), max_tokens=200, keep="signal").clip(text)
    assert out.outcome == "stored"
    assert out.shown.tokens <= 200

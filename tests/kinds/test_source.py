"""Files that are cut: the skeleton, then bodies; numbers where they are needed."""

import os
import subprocess
import sys

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.query import prints_file
from spillover.kinds.source import (
    Definition,
    find_definitions,
    is_code,
    is_numbered,
    read_skeleton,
)
from spillover.profiles import vtcode

PYTHON = b'''import os

LIMIT = 3


class Reader:
    """Reads things."""

    def read(self, path):
        """Return what a file holds."""
        return open(path).read()


def main(
    argv,
):
    return Reader().read(argv[1])
'''.splitlines(keepends=True)


@pytest.mark.parametrize("suffix", ["py", ""])
def test_definitions_are_found_by_indentation(suffix):
    found = {
        (block.first, block.last, block.depth) for block in read_skeleton(PYTHON, suffix) if block.kind == "definition"
    }
    assert {(5, 10, 0), (8, 10, 1), (13, 16, 0)} <= found


def test_a_signature_may_have_several_lines():
    blocks = {block.first: block for block in read_skeleton(PYTHON, "py")}
    assert blocks[13].signature == 15


def test_a_log_that_counts_its_lines_is_no_file_unless_the_call_says_so():
    log = [b"%d: copied /srv/%d.bin in %d ms" % (n, n * 7919 % 10007, n % 17) for n in range(1, 200)]
    assert not is_numbered(log, hinted=False)
    assert is_numbered(log, hinted=True)
    code = [b"%d: %s" % (n, line.rstrip()) for n, line in enumerate(PYTHON * 3, 1)]
    assert is_numbered(code, hinted=False)


def numbered(lines=400, first=1):
    return "".join(
        f"{number:6}\u2192def step_{number}(): return {number * 7}\n" for number in range(first, first + lines)
    )


def clip(text, tokens=600, **given):
    return Clipper(Limits(tokens=tokens), store=MemoryStore()).clip(text, **given)


def test_numbers_of_a_reader_are_left_out_between_and_stay_where_a_part_begins():
    text = "".join(f"{number:6}\u2192    value_{number} = {number}\n" for number in range(1, 900))
    made = clip(text)
    assert made.kind == "source"
    shown = made.text.splitlines()
    assert "     1\u2192    value_1 = 1" in shown
    assert "    value_2 = 2" in shown


def test_numbers_that_a_command_was_asked_for_stay():
    text = "".join(f"{number:6}\t    value_{number} = {number}\n" for number in range(1, 900))
    assert "     2\t    value_2 = 2" in clip(text).text.splitlines()


def test_a_query_shows_the_body_it_asks_for():
    body = "".join(f"def step_{n}(value):\n    first = value + {n}\n    return first * {n}\n\n\n" for n in range(300))
    text = body.replace("first = value + 150", "wheelbarrow = value + 150")
    assert "wheelbarrow" not in clip(text).text
    asked = clip(text, query="where is the wheelbarrow computed?")
    assert "wheelbarrow = value + 150" in asked.text
    assert any(reason.why == "answers the query" for reason in asked.why)


def test_numbered_lines_count_on_and_logs_are_no_programs():
    assert is_numbered(numbered().encode().splitlines(), hinted=False)
    assert not is_numbered([b"%d\tvalue" % (n * 3) for n in range(50)], hinted=False)
    assert not is_code([b"2026-01-01 10:00:00 INFO started (ok)"] * 40, hinted=False)
    assert is_code(PYTHON, hinted=False)


def test_a_licence_waits_and_a_constant_comes_with_its_first_use():
    legal = [f" * Line {n} of a licence.\n" for n in range(18)]
    body = ["MAX_ORDERS = 40\n", "\n"]
    for number in range(120):
        body += [f"def step_{number}(order):\n", *(f"    order.add({number}, {part})\n" for part in range(12)), "\n"]
        body += ["    check(order, limit=MAX_ORDERS)\n"] * (number == 70)
    text = "".join(["/*\n * Copyright 2020 Somebody\n", *legal, " */\n", "import shop\n", "\n", *body])
    clip = Clipper(Limits(tokens=1_500), store=MemoryStore()).clip(text)
    assert clip.kind == "source"
    assert "licence" not in clip.text
    assert "MAX_ORDERS = 40" in clip.text
    assert "    check(order, limit=MAX_ORDERS)" in clip.text
    assert "first use of MAX_ORDERS" in [reason.why for reason in clip.why]


def test_of_constants_that_are_first_used_on_one_line_every_process_names_the_same():
    line = (
        "from spillover import Clipper, Limits, MemoryStore\n"
        "names = [f'MOST_{letter}' for letter in 'ABCDEFGH']\n"
        "body = [f'{name} = 4\\n' for name in names]\n"
        "for n in range(120):\n"
        "    body += [f'def step_{n}(order):\\n', *(f'    order.add({n}, {m})\\n' for m in range(12)), '\\n']\n"
        "    body += [f'    check({names})\\n'.replace(chr(39), '')] * (n == 70)\n"
        "clip = Clipper(Limits(tokens=1_500), store=MemoryStore()).clip('import shop\\n' + ''.join(body))\n"
        "print(clip.kind, [each.why for each in clip.why if each.why.startswith('first use')])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", line],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(5)
    }
    assert len(said) == 1
    assert said.pop().startswith("source ['first use of MOST_")


def test_where_room_is_short_the_longest_definitions_are_named_first():
    short = "".join(f"def small_{n}():\n    pass\n\n" for n in range(150))
    text = (
        "import shop\n\n"
        + short
        + "class Large:\n"
        + "    def part(self):\n        return 1\n\n" * 60
        + short.replace("small", "tiny")
    )
    clip = Clipper(Limits(tokens=600), store=MemoryStore()).clip(text)
    assert clip.kind == "source"
    assert "class Large:" in clip.text


@pytest.mark.parametrize(
    ("command", "whole"),
    [("cat src/a.py", True), ("cat -n a.py", True), ("bat a.py", True), ("cat a.py b.py", False), ("cat a.py | tail -80", False), ("sed -n 1,900p a.py", False), ("cat a.py; make", False), ("cat", False), ("", False)],
)  # fmt: skip
def test_what_prints_one_file_whole_is_told_from_what_prints_a_part(command, whole):
    assert prints_file(command) is whole


def test_a_large_file_that_cat_printed_has_its_skeleton_and_a_part_of_one_has_how_it_ends(tmp_path):
    body = "".join(f"        total = total * {line} + self.rate\n" for line in range(40))
    module = "".join(f"class Part{chr(65 + number)}:\n    def go(self, total):\n{body}\n\n" for number in range(20))
    file = tmp_path / "part.py"
    file.write_text(module)
    clipper = Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="none")
    whole, part = clipper.run(["cat", str(file)]).clip, clipper.run(["sed", "-n", "1,9999p", str(file)]).clip
    assert whole.text.count("class Part") == 20
    assert len(whole.text.rpartition("…]")[2]) < len(part.text.rpartition("…]")[2])


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

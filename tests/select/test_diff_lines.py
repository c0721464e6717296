"""A diff read in arrays is what it is when it is read header by header."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.intake.blob import Held
from spillover.intake.meter import Meter
from spillover.select import diff, diff_lines, diff_parts
from spillover.view.document import Document, Section

LINES = (
    "diff --git a/one.py b/one.py\n", "diff --git a/docs/two.md b/docs/two.md\n", "diff --git a/a b/c b/a b/c\n", "+++ b/a b/c\n", "diff --git a/b b/one.py\n", "diff --git a/one.py\n", "diff -r 1 three.c\n", "differs\n", "Index: four.c\n",
    "--- a/one.py\n", "+++ b/one.py\n", "+++ b/a name\t2026\n", "+++ /dev/null\n", "+++ b//dev/null\n", "+++ b/\n", "+++ b/five.py\r\n",
    "@@ -1,2 +3,4 @@ f\n", "@@ -1 +1 @@\n", "@@ -x +1 @@\n", "@@\n", "@@ -1, +1 @@\n", "@@ -1 +,1 @@\n", "@@ -1 +1 @\n", "@@ -1234567890,1 +1,1234567890 @@\n", "commit 0123456789\n", "commit x\n", "From 0123456789ab now\n", "    A subject\n",
    "+a = 1\n", "+a = 22\n", "-b\n", "+def f():\n", "-\n", "+\n", " c\n", "\n", "\\ No newline at end of file\n", "rename to x\n", "é" * 99 + "\n", "+" + "x" * 400 + "\n",
)  # fmt: skip


def document(data):
    meter = Meter()
    meter.feed(data)
    return Document(Held(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))


def fill(spans):
    return sum(span.end - span.start + 30 for span in spans) / 1_500 + sum(len(span.lead) for span in spans) / 9_000


@settings(max_examples=300)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=200), st.booleans())
def test_both_ways_of_reading_find_the_same(made, ended):
    data = "".join(made).encode()
    seen = document(data if ended else data.removesuffix(b"\n") + b".")
    found = diff_lines.read_lines(seen, diff.DIGITS_AND_BLANKS)
    assert found.parts == diff_parts.parts(seen)
    whats = [diff._what(seen, body, end) for _, body, end, *_ in found.parts.hunks]
    short = [end - body <= diff.SIGHT for _, body, end, *_ in found.parts.hunks]
    assert [what for what, one in zip(found.bare_hunks(), short, strict=True) if one] == [
        what for what, one in zip(whats, short, strict=True) if one
    ]
    for file, opens, ends in zip(found.parts.files, found.opens.tolist(), found.names.tolist(), strict=True):
        assert opens == file.start
        assert ends in (0, diff_parts.name_line(seen, file)[1])
    for number, hunk in enumerate(found.parts.hunks):
        assert found.changed_in(number) == diff._read_body(seen, hunk)[0]


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.sampled_from(LINES[-12:]), min_size=1, max_size=20), min_size=1, max_size=130),
    st.integers(1, 40),
)
def test_both_ways_of_reading_choose_the_same(hunks, files):
    names = [f"src/{'tests/' * (number % 2)}f{number}.py" for number in range(files)]
    headers = [f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n" for name in names]
    bodies = [f"@@ -{number},9 +1,9 @@\n{''.join(lines)}" for number, lines in enumerate(hunks)]
    text = "".join(headers[number // 7 % files] * (number % 7 == 0) + body for number, body in enumerate(bodies))
    seen = document(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        in_arrays = diff.select(seen, fill)
        patch.setattr(diff, "read_lines", lambda *_: None)
        assert in_arrays == diff.select(seen, fill)


def test_a_file_is_known_by_its_first_line_where_git_names_it_there():
    one = b"diff --git a/x.py b/x.py\nindex 1..2\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n+a\n"
    other = b"diff --git a/x y.py b/x y.py\n--- a/x y.py\n+++ b/x y.py\t\n@@ -1 +1 @@\n+a\n"
    found = diff_lines.read_lines(document(one + other), b"")
    assert found.names.tolist() == [one.index(b"\n") + 1, 0]
    assert [file.name for file in found.parts.files] == ["x.py", "x y.py"]


@pytest.mark.parametrize(
    ("name", "turns"),
    [("src/a.py", 0), ("tests/a.py", 1), ("README.md", 2), ("CHANGELOG", 2), ("a/vendor/b.py", 6), ("uv.lock", 6)],
)
def test_a_file_waits_as_long_among_others_as_alone(name, turns):
    others = ("inspected.py", "lock.py", "x.mdx", "building/x.py")
    assert diff._weights([name]) == [turns]
    assert diff._weights([*others, name, *others])[len(others)] == turns


@pytest.mark.parametrize("data", [b"", b"\x1b[1mdiff --git a/x b/x\x1b[m\n@@ -1 +1 @@\n+a\n"])
def test_what_is_empty_or_coloured_is_left_to_others(data):
    assert diff_lines.read_lines(document(data), b"") is None


def test_a_header_too_long_to_be_looked_at_is_left_to_others():
    data = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ " + b"f" * diff_parts.WINDOW + b"\n+a\n"
    assert diff_lines.read_lines(document(data), b"") is None

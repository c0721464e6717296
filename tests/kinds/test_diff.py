"""Diffs: what changed in every file is summed up, and changed lines are shown, the most telling first."""

import difflib
import re
import subprocess

import pytest
from chosen_by import clipped_by
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.document import Document, Section
from spillover.kinds import diff
from spillover.kinds.search import path_weight
from spillover.source.blob import MemoryBlob, Meter

clipped = clipped_by(diff.select)


def changed(name, lines, places):
    """A unified diff of a file in which the lines at these places are others."""
    before = [f"{name} line {number}\n" for number in range(lines)]
    after = [f"changed {line}" if number in places else line for number, line in enumerate(before)]
    return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """What git says of two commits: a long new file, small changes in several, a binary one, a removed one."""
    root = tmp_path_factory.mktemp("repository")

    def git(*words):
        given = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *given, *words], cwd=root, capture_output=True, check=True).stdout.decode()

    git("init", "-q")
    for name in "abcdef":
        (root / f"{name}.py").write_text("".join(f"{name} = {number}\n" for number in range(400)))
    (root / "gone.sql").write_text("".join(f"-- comment {number}\n++ odd {number}\n" for number in range(50)))
    (root / "logo.bin").write_bytes(bytes(range(256)) * 9)
    git("add", ".")
    git("commit", "-qm", "first")
    for name in "abcdef":
        lines = (root / f"{name}.py").read_text().splitlines(keepends=True)
        lines[10], lines[200], lines[390] = "ten = 10\n", "half = 200\n", "last = 390\n"
        (root / f"{name}.py").write_text("".join(lines))
    (root / "logo.bin").write_bytes(bytes(range(256)) * 8)
    (root / "gone.sql").unlink()
    (root / "new.txt").write_text("".join(f"new {number}\n" for number in range(3_000)))
    git("add", ".")
    git("commit", "-qm", "second\n\nwith a body")
    return git


FILES = [*(f"{name}.py" for name in "abcdef"), "gone.sql", "logo.bin", "new.txt"]


@pytest.mark.parametrize("words", [["diff", "HEAD~1"], ["show"], ["log", "-p", "-1"], ["diff", "HEAD~1", "--color"]])
def test_a_summary_of_all_files_comes_first_and_no_header_stands_without_a_changed_line(repository, words):
    text = repository(*words)
    clip, spans, full = clipped(text, tokens=2_600)
    for name in "abcdef":
        assert f"\n {name}.py +3 \N{MINUS SIGN}3\n" in clip.text
    assert "\n gone.sql +0 \N{MINUS SIGN}100\n" in clip.text
    assert "\n new.txt +3,000 \N{MINUS SIGN}0" in clip.text
    assert "9 files changed, +3,018 \N{MINUS SIGN}118" in clip.text
    assert spans[0].lead
    assert "+half = 200" in clip.text
    assert "+new 0" in clip.text
    assert "+new 1500" not in clip.text
    assert 0.9 < full <= 1
    assert_no_bare_headers(clip.text)


def assert_no_bare_headers(text):
    """Below each header, before the next one, a line that was changed."""
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("@@ -")]
    for head, following in zip(heads, [*heads[1:], len(lines)], strict=True):
        assert any(line[:1] in ("+", "-") for line in lines[head + 1 : following]), lines[head]


def test_commit_headers_are_kept_and_every_commit_is_named():
    log = "".join(
        f"commit {n:040x}\nAuthor: A <a@b.example>\nDate:   Mon Jan 1 00:00:00 2026 +0000\n\n    Change number {n}\n\n"
        + changed(f"file{n}.py", 400, set(range(5, 400, 20)))
        for n in range(1, 13)
    )
    clip, *_ = clipped(log, tokens=1_500)
    for n in range(1, 13):
        assert f"{n:040x}"[:7] + f" Change number {n}\n" in clip.text or f"commit {n:040x}" in clip.text
    assert "commit " + f"{1:040x}" in clip.text
    assert "    Change number 1\n" in clip.text
    assert "12 commits, 12 files changed" in clip.text
    assert_no_bare_headers(clip.text)


def test_what_a_tool_wrote_and_what_is_the_same_everywhere_wait():
    lock = changed("packages.lock", 2_000, set(range(5, 2_000, 10)))
    same = "".join(
        f"diff --git a/h{n}.py b/h{n}.py\n--- a/h{n}.py\n+++ b/h{n}.py\n@@ -1,2 +1,2 @@\n def h{n}():\n-    info({n})\n+    debug({n})\n"
        for n in range(80)
    )
    telling = changed("money.py", 40, {20})
    clip, *_ = clipped(lock + same + telling, tokens=800)
    assert "+changed money.py line 20" in clip.text
    assert "+    debug(0)" in clip.text
    assert "+changed packages.lock line 995" not in clip.text


def test_short_hunks_are_whole_before_a_long_one_gets_more(repository):
    clip, *_ = clipped(repository("diff", "HEAD~1"), tokens=4_000)
    for name in "abcdef":
        assert f"-{name} = 10\n+ten = 10\n" in clip.text


def test_changed_lines_come_before_context():
    text = "".join(changed(f"{number}.txt", 40, {20}) for number in range(40))
    clip, *_ = clipped(text, tokens=3_600)
    for number in range(40):
        assert f"-{number}.txt line 20\n+changed {number}.txt line 20" in clip.text


def test_each_file_has_its_first_hunk_before_another_has_its_second():
    text = "".join(changed(f"{name}.txt", 2_000, set(range(5, 2_000, 40))) for name in "abcdefgh")
    clip, spans, full = clipped(text, tokens=1_200)
    assert full <= 1
    named = [span.why for span in spans if re.match(r"hunk \d+ of 400", span.why)]
    by_file = [sum(f"in {name}.txt" in why for why in named) for name in "abcdefgh"]
    assert max(by_file) - min(by_file) <= 1
    assert sum(by_file) >= 8
    assert_no_bare_headers(clip.text)


def test_where_nothing_else_fits_one_changed_line_does(repository):
    clip, *_ = clipped(repository("diff", "HEAD~1"), tokens=200)
    assert "diff --git a/a.py b/a.py" in clip.text
    assert_no_bare_headers(clip.text)


def test_hundreds_of_files_are_counted():
    text = "".join(changed(f"file{number}.txt", 20, {3}) for number in range(500))
    clip, *_ = clipped(text, tokens=400)
    assert "500 files changed, +500 \N{MINUS SIGN}500" in clip.text
    assert re.search("and \\d+ more files \\+\\d+ \N{MINUS SIGN}\\d+", clip.text)


def test_a_removed_comment_is_no_name_of_a_file(repository):
    _, spans, _ = clipped(repository("diff", "HEAD~1"), tokens=2_600)
    assert not [span for span in spans if "comment" in span.why]


@pytest.mark.parametrize(
    "text", ["", "word\n" * 5_000, "diff of two things\n" * 5_000, "--- a\n+++ b\n" * 3_000, "@@ -1 +1 @@\n" * 3_000]
)
def test_what_is_no_diff_is_left_to_others(text):
    assert not clipped(text, tokens=200)[1]


def document(data, sections=None, blob=None):
    meter = Meter()
    meter.feed(data)
    sections = sections or (Section(0, len(data)),)
    return Document(blob or MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections)


@pytest.mark.parametrize("block", [7, 100, 1_000])
def test_headers_are_found_whatever_the_blocks(monkeypatch, block):
    data = "".join(changed(f"{name}.txt", 300, {5, 100, 200}) for name in "abc").encode()
    expected = diff.parse(document(data))
    assert (len(expected.files), len(expected.hunks)) == (3, 9)
    assert {(hunk.additions, hunk.removals) for hunk in expected.hunks} == {(1, 1)}  # lines added and removed
    monkeypatch.setattr(diff, "BLOCK_BYTES", block)
    assert diff.parse(document(data)) == expected


LINE = st.sampled_from(["--- x\n", "+++ y\n", "@@ -1,2 +3,4 @@ f\n", "diff --git a/q b/q\n", "+a\n", "-b\n", " c\n", "\n",
                        "commit 0123456789\n", "é" * 99 + "\n", "\\ No newline\n", "x" * 400 + "\n"])  # fmt: skip


@settings(max_examples=200)
@given(st.lists(LINE, max_size=120), st.integers(200, 3_000), st.booleans())
def test_whatever_the_output_and_the_limits_lines_are_whole_and_it_fits(lines, limit, cut):
    text = "".join(lines)[: -1 if cut else None]
    clip, spans, full = clipped(text, bytes=limit)
    assert len(clip.text.encode()) <= limit
    data, at = text.encode(), -1
    for span in spans or []:
        assert at < span.start < span.end <= len(data)
        assert span.start == 0 or data[span.start - 1] == 0x0A
        assert span.end == len(data) or data[span.end - 1] == 0x0A
        at = span.end
    assert full <= 1


def test_what_is_defined_anew_is_named_before_anything_is_shown_at_length():
    bodies = [[f"def added_{nth}(value):", *(f"    value += {number}" for number in range(60))] for nth in range(6)]
    after = [f"{line}\n" for body in bodies for line in body]
    text = "".join(difflib.unified_diff([], after, "a/new.py", "b/new.py"))
    shown = clipped(text, tokens=1_000)[0].text
    assert [f"+def added_{nth}(value):" in shown for nth in range(6)] == [True] * 6
    assert_no_bare_headers(shown)


@pytest.mark.parametrize(
    ("name", "turns"),
    [("src/a.py", 0), ("tests/a.py", 1), ("README.md", 2), ("CHANGELOG", 2), ("a/vendor/b.py", 6), ("uv.lock", 6)],
)
def test_how_long_a_file_waits(name, turns):
    assert diff.TURNS[path_weight(name.encode())] == turns

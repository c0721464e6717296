"""Diffs: files and hunks are named before the body of any is shown."""

import difflib
import re
import subprocess

import pytest
from chosen_by import clipped_by
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.intake.blob import Ends, Held
from spillover.intake.meter import Meter
from spillover.select import diff
from spillover.view.document import Document, Section

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
def test_every_file_and_every_hunk_of_git_is_named_before_any_body_is_long(repository, words):
    text = repository(*words)
    clip, spans, full = clipped(text, tokens=2_600)
    for name in FILES:
        assert f"diff --git a/{name} b/{name}" in clip.text
    hunks = [line for line in text.splitlines() if re.match(r"(?:\x1b\[\d*m)*@@ -", line)]
    assert len(hunks) == 20
    assert len(re.findall(r"(?m)^@@ -", clip.text)) == 20
    assert "Binary files" in clip.text
    assert "+half = 200" in clip.text
    assert "+new 0" in clip.text
    assert "+new 2999" in clip.text
    assert "+new 1500" not in clip.text
    assert 0.9 < full <= 1
    assert spans[0].why == "names a.py"


def test_short_hunks_are_whole_before_a_long_one_gets_more(repository):
    clip, *_ = clipped(repository("diff", "HEAD~1"), tokens=4_000)
    for name in "abcdef":
        assert f"-{name} = 10\n+ten = 10\n" in clip.text


def test_changed_lines_come_before_context():
    text = "".join(changed(f"{number}.txt", 40, {20}) for number in range(40))
    clip, *_ = clipped(text, tokens=2_800)
    for number in range(40):
        assert f"-{number}.txt line 20\n+changed {number}.txt line 20" in clip.text


def test_when_not_all_headers_fit_each_file_and_its_first_hunk_come_before_second_hunks():
    text = "".join(changed(f"{name}.txt", 2_000, set(range(5, 2_000, 40))) for name in "abcdefgh")
    clip, spans, full = clipped(text, tokens=900)
    assert full <= 1
    for name in "abcdefgh":
        assert f"--- a/{name}.txt\n+++ b/{name}.txt\n@@ -3,7 +3,7 @@" in clip.text
    seconds = [span.why for span in spans if re.match(r"hunk \d+ of 400", span.why)]
    by_file = [sum(f"in {name}.txt" in why for why in seconds) for name in "abcdefgh"]
    assert max(by_file) - min(by_file) <= 1
    assert sum(by_file) > 8


def test_when_not_even_files_fit_whole_their_names_do(repository):
    clip, *_ = clipped(repository("diff", "HEAD~1"), tokens=330)
    assert [line for line in clip.text.splitlines() if line.startswith("diff ")] == [
        f"diff --git a/{name} b/{name}" for name in FILES
    ]


def test_hundreds_of_files_are_named_from_both_ends():
    text = "".join(changed(f"file{number}.txt", 20, {3}) for number in range(500))
    clip, *_ = clipped(text, tokens=300)
    assert "file0.txt" in clip.text
    assert "file499.txt" in clip.text


def test_a_removed_comment_is_no_name_of_a_file(repository):
    _, spans, _ = clipped(repository("diff", "HEAD~1"), tokens=2_600)
    assert not [span for span in spans if "comment" in span.why]


@pytest.mark.parametrize(
    "text", ["", "word\n" * 5_000, "diff of two things\n" * 5_000, "--- a\n+++ b\n" * 3_000, "@@ -1 +1 @@\n" * 3_000]
)
def test_what_is_no_diff_is_left_to_others(text):
    assert clipped(text, tokens=200)[1] is None


def document(data, sections=None, blob=None):
    meter = Meter()
    meter.feed(data)
    sections = sections or (Section(0, len(data)),)
    return Document(blob or Held(data), meter.index, meter.lines, meter.newlines, sections)


def test_several_sections_and_outputs_with_a_hole_are_left_to_others():
    data = changed("a.txt", 900, {3, 500}).encode() * 20
    assert diff.select(document(data), lambda spans: 0.0)
    assert diff.select(document(data, (Section(0, 9), Section(9, len(data)))), lambda spans: 0.0) is None
    assert diff.select(document(data, blob=Ends(Held(data[:80]), data[-80:], len(data))), lambda spans: 0.0) is None


@pytest.mark.parametrize("block", [7, 100, 1_000])
def test_headers_are_found_whatever_the_blocks(monkeypatch, block):
    data = "".join(changed(f"{name}.txt", 300, {5, 100, 200}) for name in "abc").encode()
    expected = diff._parts(document(data))
    assert (len(expected[0]), len(expected[1])) == (3, 9)
    monkeypatch.setattr(diff, "BLOCK", block)
    assert diff._parts(document(data)) == expected


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

"""vtcode's own tests (its repository at a62a8b2d, 2026-08-23, and its history before 37c65171), applied to our profile.

Cases that do not apply say why. The estimator, the previews and the display helpers are in tests/profiles/test_vtcode_*.py.
"""

import json
import re
from pathlib import Path

import pytest

from spillover import DirStore, Limits, UsageError, profiles
from spillover.profiles import vtcode

X = "x" * 200
PAGE = Path(__file__).parents[2] / "docs/profiles/vtcode.md"


@pytest.fixture
def spooled(tmp_path):
    """Return `spooled(text, max_tokens=…, tool=…)`, which gives the clip and the files in the folder."""

    def spool(text, tool="tool", **choices):
        folder = tmp_path / ".vtcode/tool-output"
        clip = vtcode.clipper(folder=str(folder), **choices).clip(text, tool=tool)
        files = [path for path in folder.iterdir() if path.is_file()] if folder.exists() else []
        return clip, files

    return spool


def test_a_small_value_is_not_spooled_and_stays_as_it_is(spooled):
    small = json.dumps({"result": "ok"})
    clip, files = spooled(small)
    assert (clip.text, clip.outcome, files) == (small, "whole", [])


def test_above_the_threshold_it_is_spooled(spooled):
    clip, files = spooled(X, max_tokens=25)
    assert clip.outcome == "stored"
    assert [file.read_text() for file in files] == [X]


@pytest.mark.parametrize(
    ("tool", "named"), [("read_file", "read_file"), ("mcp/fetch", "mcp_fetch"), ("tool-name", "tool_name")]
)
def test_the_file_has_the_name_of_the_tool_made_harmless(spooled, tool, named):
    _, [file] = spooled(X, tool=tool, max_tokens=25)
    assert re.fullmatch(rf"{named}_\d+\.txt", file.name)


def test_a_large_value_names_its_file_and_has_no_other_keys(spooled):
    clip, [file] = spooled(X, max_tokens=25)
    facts = vtcode.metadata(clip, vtcode.clipper(max_tokens=25))
    assert facts == {"applied_max_tokens": 25, "truncated": True, "spool_path": str(file)}


def test_one_token_forces_a_file_for_any_tool(spooled):
    for tool in ("exec", "pty", "bash", "shell", "mcp/fetch"):
        clip, _ = spooled("two words", tool=tool, max_tokens=1)
        assert clip.outcome == "stored"


@pytest.mark.parametrize("tokens", [1, 50_000])
def test_a_budget_per_call_is_taken(tokens):
    assert vtcode.clipper(max_tokens=tokens).settings.limits.tokens == tokens


@pytest.mark.parametrize("tokens", [0, 1.0, "100", True])
def test_a_budget_per_call_that_is_none_is_refused(tokens):
    with pytest.raises(UsageError):
        vtcode.clipper(max_tokens=tokens)


def test_twenty_thousand_lines_are_all_in_the_file_and_reading_it_back_spools_nothing(spooled):
    log = "".join(f"line-{number:05}\n" for number in range(20_000))
    clip, [file] = spooled(log, tool="exec")
    lines = file.read_text().splitlines()
    assert (len(lines), lines[0], lines[-1]) == (20_000, "line-00000", "line-19999")
    store = DirStore(file.parent / ".spillover")
    read = vtcode.clipper(store=store).but(limits=Limits(tokens=200))
    assert "81: line-00080" in read.read(clip.ref, lines="81:90").text
    assert len(list(store.list())) == 1


def test_a_page_of_a_spool_goes_on_where_it_ended(spooled):
    log = "".join(f"line{number}\n" for number in range(1, 121))
    clip, [file] = spooled(log, max_tokens=25)
    reader = vtcode.clipper(store=DirStore(file.parent / ".spillover"), hints="tools")
    assert "81: line81" in reader.read(clip.ref, lines="81:+40").text.splitlines()
    page = reader.read(clip.ref, lines="1:40").text
    assert page.splitlines()[-1].startswith("[Lines 1-40 of 120.")
    assert 'lines="41:' in page.splitlines()[-1]
    assert "Next" not in reader.read(clip.ref, lines="81:120").text.splitlines()[-1]


def test_five_kinds_of_tool_with_20_000_characters_all_name_their_file(spooled):
    for tool in ("read_file", "exec_command", "unified_search", "mcp_fetch", "web_fetch"):
        clip, _ = spooled("word " * 4_000, tool=tool, max_tokens=2_000)
        assert clip.path
        assert clip.path in clip.text


def test_head_1_and_tail_1_survive_520_lines_at_200_tokens(spooled):
    log = "\n".join(f"head-{number}" for number in range(1, 261)) + "\n"
    log += "\n".join(f"tail-{number}" for number in range(260, 0, -1))
    clip, _ = spooled(log, max_tokens=200)
    assert {"head-1", "tail-1"} < set(clip.text.splitlines())


def test_start_and_end_survive_50_tokens_and_200_bytes(spooled):
    log = "START_LINE\n" + "filler of some length\n" * 500 + "END_LINE"
    clip, _ = spooled(log, limits=Limits(tokens=50, bytes=200))
    assert {"START_LINE", "END_LINE"} < set(clip.text.splitlines())


def test_5_000_a_at_100_bytes_say_that_bytes_are_missing(spooled):
    clip, _ = spooled("a" * 5_000, limits=Limits(tokens=25_000, bytes=100))
    assert clip.shown.bytes <= 100
    assert f"[... {5_000 - clip.shown.bytes} bytes truncated ...]" in clip.text


#: Cases that do not apply; the profile's page says why.
NOT_OURS = (
    "no_spool wins",
    "read_file spools raw content and source_path",
    "exec spools raw output, not its JSON wrapper",
    "double-serialised JSON recovered",
    "raw_output preferred over a pre-truncated output",
    "password=… becomes [REDACTED_SECRET]",
    "cleanup max_age 0 after 1.1 s removes 1",
    "spool_complete, spool_pending",
    "50 001 tokens rejected",
    "40 lines a page, at most 50",
    "missing spool error text",
    "large_output header of 5 lines",
)


@pytest.mark.parametrize("case", NOT_OURS)
def test_the_page_says_why_a_case_does_not_apply(case):
    assert f"\n| {case} | " in PAGE.read_text(encoding="utf-8")


def test_every_profile_has_a_clipper():
    assert [name for name in profiles.NAMES if not callable(profiles.find_profile(name).clipper)] == []

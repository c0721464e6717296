"""A short version of every part of `make soak`: the same code for a few seconds, always with the same seed."""

import runpy
from pathlib import Path

import clips
import pytest
import records
import redaction
import refs
import store_faults
import store_kills
import store_quota
import syscall_faults


def test_clips_of_every_kind_hold_under_every_failure():
    figures = clips.clips(0, "test", count=200)
    assert figures.pop("clips") > 350
    for outcome in ("whole", "stored", "lost"):
        assert figures.pop(outcome) > 25
    assert figures.pop("examples") == []
    assert figures == dict.fromkeys(figures, 0)


@pytest.mark.parametrize(
    ("output", "text", "said"),
    [
        (b"0\b0 bold\n", "0 bold\n", True),
        (b"abc\b\b\babc", "abc", True),
        (b"o\b+ a bullet", "+ a bullet", True),
        (b"_\ba line under a", "a line under a", True),
        (b"abc\b\b\bxbc", "xbc", False),
        (b"FATAL\rok\b\n", "ok\n", False),
    ],
)
def test_a_letter_struck_twice_is_one_and_a_letter_written_over_is_missed(output, text, said):
    """A soak once reported a bold zero as lost."""
    assert clips.all_said(output, text) is said


def test_hostile_refs_reach_nothing():
    figures = refs.refs(0, "test", count=3_000)
    assert figures.pop("refs") == 3_000
    assert figures.pop("named") > 50
    assert figures == dict.fromkeys(figures, 0)


def test_records_tampered_with_give_an_answer_or_an_error_of_ours():
    figures = records.records(0, "test", count=16)
    assert figures.pop("examples") == []
    assert figures.pop("tampered") == 16
    assert figures.pop("answers") > 60
    assert figures.pop("refused") > 30
    assert figures == dict.fromkeys(figures, 0)


def test_writers_at_once_never_exceed_a_tiny_quota():
    figures = store_quota.quota(1.5, "test", writers=24)
    assert figures.pop("stored") > 0
    assert figures.pop("looks") > 0
    figures.pop("refused")
    assert figures == dict.fromkeys(figures, 0)


def test_a_store_whose_calls_fail_in_turn_says_what_it_lost():
    figures = store_faults.faults(0, "test", every=149)
    assert figures.pop("examples") == []
    assert figures.pop("calls") > 300
    assert figures.pop("injected") >= figures.pop("sessions") > 4
    assert figures == dict.fromkeys(figures, 0)


def test_a_process_that_is_killed_at_any_call_leaves_outputs_whole_or_unseen():
    figures = store_kills.kills(0, "test", every=67)
    assert figures.pop("examples") == []
    assert figures.pop("calls") > 300
    assert figures.pop("kills") > 4
    assert figures == dict.fromkeys(figures, 0)


def test_a_run_whose_system_calls_fail_ends_with_the_exit_code_of_its_command():
    if why := syscall_faults.unavailable():
        pytest.skip(why)
    figures = syscall_faults.syscall_faults(0, "test", every=60)
    assert figures.pop("examples") == []
    assert figures.pop("calls") > 60
    assert figures.pop("runs") > figures.pop("missed")
    assert figures == dict.fromkeys(figures, 0)


def test_every_part_of_the_soak_has_a_short_version_here_or_in_the_laws():
    here = Path(__file__)
    others = (here.parent / "test_fleet.py", here.parents[1] / "laws" / "test_law_07_time_is_linear.py")
    tested = here.read_text() + "".join(other.read_text() for other in others)
    parts = runpy.run_path(str(here.parents[2] / "scripts" / "soak.py"))["PARTS"]
    functions = [where.rpartition(":")[2] for where, *_ in parts.values()]
    assert [name for name in functions if f"{name}(" not in tested] == []


def test_no_secret_is_shown_at_any_offset_or_with_any_options():
    figures = redaction.redaction(0, "test", count=3)
    assert (figures.pop("texts"), figures.pop("examples")) == (3, [])
    assert figures.pop("covered") > 0
    assert figures == dict.fromkeys(figures, 0)
    figures = redaction.options(0, "test", count=20)
    assert (figures.pop("clips"), figures.pop("examples")) == (20, [])
    assert figures.pop("lost") > 0
    assert figures == dict.fromkeys(figures, 0)

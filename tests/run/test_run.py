"""Running a command: what the model gets of it, what is kept of it, and what is told while it runs."""

import hashlib
import sys
import threading
import time

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, verify
from spillover.errors import StoreError, UsageError
from spillover.run import LAST_LINE_CHARS, PROGRESS_SECONDS, tool_name
from spillover.store.record import REF_DIGITS
from spillover.testing import FailingStore, content

LIMITS = Limits(bytes=2_000)


@pytest.fixture
def store(tmp_path):
    return DirStore(tmp_path / "a store")


@pytest.fixture
def clipper(store):
    return Clipper(LIMITS, store=store)


def sh(clipper, script, **options):
    return clipper.run(["sh", "-c", script], **options)


def test_what_fits_is_whole_and_no_output_is_stored_for_it(clipper, tmp_path):
    run = sh(clipper, "echo out; exit 3")
    assert (run.exit_code, run.clip.text, run.clip.outcome, run.clip.ref) == (3, "out\n", "whole", None)
    assert list(clipper.settings.store.list()) == []
    (noted,) = clipper.settings.store.runs()
    assert (noted.outcome, noted.exit_code, noted.data) == ("whole", 3, b"out\n")


def test_nothing_printed_is_an_empty_text(clipper):
    run = clipper.run(["true"])
    assert (run.exit_code, run.clip.text, run.streams, run.clip.total.bytes) == (0, "", (), 0)


def test_each_stream_is_known_when_nothing_was_cut(clipper):
    run = sh(clipper, "echo out; echo err >&2")
    assert sorted(run.streams) == [("stderr", "err\n"), ("stdout", "out\n")]
    assert (run.stdout_bytes, run.stderr_bytes) == (4, 4)
    assert sorted(run.clip.text.split()) == ["err", "out"]


def test_what_is_cut_is_stored_whole_with_all_that_is_known_of_it(clipper, store):
    run = sh(clipper, "seq 5000; seq 5000 >&2; exit 7", call_id="call 1")
    expected = b"".join(b"%d\n" % number for number in range(1, 5001))
    assert (run.exit_code, run.clip.outcome, run.streams) == (7, "stored", ())
    assert len(run.clip.text.encode()) <= 2_000
    record = store.get(run.clip.ref)
    assert run.clip.ref == f"sh-{record.sha256[:REF_DIGITS]}"
    assert (record.tool, record.call_id, record.lines) == ("sh", "call 1", 10_000)
    assert record.command == "sh -c seq 5000; seq 5000 >&2; exit 7"
    by_stream, at, stored = {"stdout": b"", "stderr": b""}, 0, content(store, run.clip.ref)
    for stream, count in record.segments:
        by_stream[stream] += stored[at : at + count]
        at += count
    assert by_stream == {"stdout": expected, "stderr": expected}
    assert run.stdout_bytes == run.stderr_bytes == len(expected)
    assert verify(store, run.clip.ref) is None


def test_a_command_with_one_stream_has_no_segments(clipper, store):
    run = clipper.run(["seq", "5000"])
    assert store.get(run.clip.ref).segments == ()


def test_twenty_megabytes_are_the_same_bytes_in_the_store(clipper, store):
    code = "import sys\nfor number in range(200): sys.stdout.write(f'{number} ' * 30_000 + '\\n')"
    run = clipper.run([sys.executable, "-c", code], tool="big")
    whole = hashlib.sha256(b"".join(f"{number} ".encode() * 30_000 + b"\n" for number in range(200))).hexdigest()
    assert run.clip.ref == f"big-{whole[:REF_DIGITS]}"
    assert hashlib.sha256(content(store, run.clip.ref)).hexdigest() == whole
    assert run.clip.total.lines == 200


def test_binary_output_is_shown_clean_and_stored_as_it_was(clipper, store):
    data = bytes(range(256)) * 100
    run = clipper.run([sys.executable, "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)"])
    assert content(store, run.clip.ref) == data
    assert "\0" not in run.clip.text
    assert len(run.clip.text.encode()) <= 2_000


def test_past_the_cap_the_first_part_is_kept_and_the_clip_says_so(store):
    clipper = Clipper(LIMITS, store=store, cap=10_000)
    run = sh(clipper, "seq 100000; exit 7")
    record = store.get(run.clip.ref)
    assert (run.exit_code, run.clip.outcome) == (7, "stored")
    assert "Stored in part: first 10,000 bytes" in run.clip.text
    assert "of 100,000 lines" in run.clip.text
    assert (record.bytes, record.produced_bytes, record.produced_lines) == (10_000, 588_895, 100_000)
    assert record.partial == run.clip.reason == "the cap on one output was reached"
    assert "\n100000\n" in run.clip.text, "the end is shown, though it is not stored"
    assert verify(store, run.clip.ref) is None


@pytest.mark.parametrize("on", ["writer", "write", "publish"])
def test_a_store_that_fails_costs_the_middle_and_nothing_else(on):
    clipper = Clipper(LIMITS, store=FailingStore(MemoryStore(), on=on))
    run = sh(clipper, "seq 100000; exit 7")
    assert (run.exit_code, run.clip.outcome, run.clip.ref, run.clip.path) == (7, "lost", None, None)
    assert "not kept: No space left on device" in run.clip.text
    assert run.clip.total.lines == 100_000
    assert len(run.clip.text.encode()) <= 2_000
    assert "\n100000\n" in run.clip.text


@pytest.mark.parametrize(
    ("argv0", "name"),
    [("pytest", "pytest"), ("/usr/bin/make", "make"), ("./run me.sh", "run me.sh"), ("dir/", "dir/"), ("/", "/")],
)
def test_an_output_is_called_after_the_command(argv0, name):
    assert tool_name(argv0) == name


def test_a_rule_for_a_tool_holds_for_the_command_of_that_name(store):
    clipper = Clipper(LIMITS, store=store, rules={"seq": {"keep": "head"}})
    assert clipper.run(["seq", "5000"]).clip.ranges[0][0] == 1
    assert len(clipper.run(["seq", "5000"]).clip.ranges) == 1
    assert len(sh(clipper, "seq 5000").clip.ranges) == 2


def test_what_it_is_to_read_may_be_text_or_bytes(clipper):
    assert clipper.run(["cat"], input="grün").clip.text == "grün"
    assert clipper.run(["cat"], input="grün".encode()).clip.text == "grün"
    assert clipper.run(["cat"]).clip.text == "", "nothing, not what we read ourselves"


def test_words_may_be_paths(clipper, tmp_path, store):
    path = tmp_path / "a file"
    path.write_text("line\n" * 1_000)
    run = clipper.run(["cat", path])
    assert store.get(run.clip.ref).command == f"cat {path}"


def test_time_that_is_up_keeps_what_was_printed(clipper):
    run = sh(clipper, "echo said; sleep 60", timeout=1)
    assert (run.exit_code, run.timed_out, run.clip.text) == (124, True, "said\n")


def test_a_wrong_command_is_an_error_and_a_missing_one_is_not(clipper):
    with pytest.raises(UsageError, match="list of words"):
        clipper.run("make -j8")
    assert clipper.run(["no-such-command-anywhere"]).exit_code == 127


def test_it_runs_beside_the_main_thread(clipper):
    runs = []
    thread = threading.Thread(target=lambda: runs.append(clipper.run(["seq", "5000"])))
    thread.start()
    thread.join()
    assert runs[0].clip.outcome == "stored"


# What is told while it runs.


def progress_of(clipper, code, **options):
    told = []
    return clipper.run([sys.executable, "-uc", code], on_progress=told.append, **options), told


def test_progress_is_told_now_and_then_and_only_when_there_is_some(clipper):
    code = "import time\nfor _ in range(300): print('x' * 500); time.sleep(0.002)\ntime.sleep(0.5)"
    started = time.monotonic()
    run, told = progress_of(clipper, code)
    assert 1 <= len(told) <= (time.monotonic() - started) / PROGRESS_SECONDS
    counts = [progress.bytes for progress in told]
    assert counts == sorted(set(counts)), "each told something new"
    assert counts[-1] <= run.clip.total.bytes


@pytest.mark.parametrize("kind", ["memory", "folder", "lost", "capped"])
def test_progress_shows_the_end_of_the_last_line_cleaned_and_short(kind, tmp_path):
    code = "print('a' * 5000, end='\\x1b[31mz\\n', flush=True); import time; time.sleep(0.4)"
    store = {
        "memory": MemoryStore(),
        "folder": DirStore(tmp_path / "store"),
        "lost": FailingStore(MemoryStore()),
        "capped": MemoryStore(),
    }[kind]
    _, told = progress_of(Clipper(LIMITS, store=store, cap=3_000 if kind == "capped" else 1 << 30), code)
    assert told[-1].bytes == 5_007
    assert told[-1].last == "a" * (LAST_LINE_CHARS - 1) + "z"


def test_progress_of_something_small_is_reported_too(clipper):
    _, told = progress_of(clipper, "print('one\\ntwo', flush=True); import time; time.sleep(0.4)")
    assert (told[-1].bytes, told[-1].last) == (8, "two")


@pytest.mark.parametrize("error", [RuntimeError("no more"), StoreError("no more")])
def test_a_callback_that_fails_is_logged_and_the_command_runs_on(clipper, caplog, error):
    def fail(_):
        raise error

    run = sh(clipper, "seq 5000; sleep 0.4; echo done", on_progress=fail)
    assert (run.exit_code, run.clip.outcome) == (0, "stored")
    assert run.clip.text.endswith("done\n")
    assert caplog.messages[0] == f"The on_progress of a run failed: {type(error).__name__}: no more"


def test_what_only_went_to_stderr_is_recorded_as_such(tmp_path):
    clipper = Clipper(Limits(bytes=600), store=DirStore(tmp_path / "store"))
    ended = clipper.run(["sh", "-c", "seq 1000 >&2"])
    assert clipper.settings.store.get(ended.clip.ref).segments == (("stderr", ended.stderr_bytes),)

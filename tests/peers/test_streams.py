"""stdout and stderr, from published cases: sizes in → sizes out; and what a command printed is read and stored."""

import sys

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.testing import content
from support import fair

N = 9_000
SHARES = [
    # codex exec_tests aggregate_output, a cap of N: stdout, stderr → kept of each (stderr gets two thirds)
    ("both are full", N, N, N // 3, 2 * N // 3),
    ("stderr is tiny", N, 1, N - 1, 1),
    ("stdout is small", N // 10, N, N // 10, N - N // 10),
    ("both fit", N // 4, N // 4, N // 4, N // 4),
    ("exactly", N // 2, N // 2, N // 2, N // 2),
    ("stdout is empty", 0, N + 5, 0, N),
    ("stderr is empty", N + 5, 0, N, 0),
]


@pytest.mark.parametrize(("case", "stdout", "stderr", "out", "err"), SHARES, ids=[case for case, *_ in SHARES])
def test_room_is_reserved_for_stderr_and_unused_room_goes_to_the_other_stream(case, stdout, stderr, out, err):
    assert fair(N, [stdout, stderr], [1, 2]) == [out, err]


@pytest.mark.parametrize(("case", "stdout", "stderr", "out", "err"), SHARES, ids=[case for case, *_ in SHARES])
def test_clip_streams_reserves_the_same_room(clipping, case, stdout, stderr, out, err):
    room = N + 400  # for the notice, two labels and two markers
    clip = clipping(Limits(bytes=room), keep="tail").clip_streams(stdout="o" * stdout, stderr="e" * stderr)
    lines = clip.text.split("\n")
    shown = {letter: max((len(line) for line in lines if set(line) == {letter}), default=0) for letter in "oe"}
    assert shown["o"] == pytest.approx(out, abs=450)
    assert shown["e"] == pytest.approx(err, abs=450)
    assert len(clip.text) <= room


DAYCARE = [
    # daycare exec: stdout, stderr → what each must end with
    ("a" * 100 + "z" * 9_000, "", "z" * 200, ""),
    ("", "a" * 100 + "z" * 9_000, "", "z" * 200),
    ("a" * 100 + "z" * 9_000, "b" * 100 + "y" * 9_000, "z" * 200, "y" * 200),
]


@pytest.mark.parametrize(("stdout", "stderr", "out", "err"), DAYCARE)
def test_each_stream_is_cut_by_itself_and_labelled(clipping, store, stdout, stderr, out, err):
    clip = clipping(Limits(chars=8_000), keep="tail").clip_streams(stdout=stdout, stderr=stderr)
    assert out in clip.text
    assert err in clip.text
    assert ("[stdout]" in clip.text) is ("[stderr]" in clip.text) is bool(stdout and stderr)
    assert content(store, clip.ref).decode() == "\n".join(part for part in (stdout, stderr) if part)


@pytest.fixture
def shell(tmp_path):
    clipper = Clipper(store=DirStore(tmp_path / "store"), keep="tail")

    def run(code, **options):
        return clipper.run([sys.executable, "-c", code], **options)

    run.store = clipper.settings.store
    return run


COMMANDS = [
    # opencode OC2, vtcode pipes: what is printed → lines in the stored file
    ("opencode shell, lines", "print(*range(1, 2_501), sep='\\n')", 2_500),
    ("opencode shell, lines", "print(*range(1, 2_101), sep='\\n')", 2_100),
    ("opencode shell, bytes", "print('x' * 61_200, end='')", 1),
    ("vtcode pipes", "print(*(f'line-{n:05d}' for n in range(20_000)), sep='\\n')", 20_000),
    ("opencode cancel", "print(*('y' * 106 for _ in range(4_000)), sep='\\n')", 4_000),
]


@pytest.mark.parametrize(("source", "code", "lines"), COMMANDS)
def test_the_stored_file_has_every_line_a_command_printed(shell, source, code, lines):
    run = shell(code)
    assert run.clip.outcome == "stored"
    assert run.clip.path in run.clip.text
    data = content(shell.store, run.clip.ref)
    assert len(data.splitlines()) == lines == run.clip.total.lines


def test_the_first_and_the_last_line_are_the_first_and_the_last(shell):
    """opencode OC2: 1..2100 begins with 1 and ends with 2100."""
    data = content(shell.store, shell("print(*range(1, 2_101), sep='\\n')").clip.ref).split()
    assert (data[0], data[-1]) == (b"1", b"2100")


def test_one_line_is_not_truncated(shell):
    run = shell("print('hello')")
    assert (run.clip.outcome, run.clip.text, run.exit_code) == ("whole", "hello\n", 0)


def test_stderr_is_captured_and_the_exit_code_reported(shell):
    """opencode OC2: stderr is captured, and exit code 42 is reported."""
    run = shell("import sys; print('out'); print('err', file=sys.stderr); sys.exit(42)")
    assert run.exit_code == 42
    assert "err" in run.clip.text
    assert run.stderr_bytes == 4


def test_a_timeout_keeps_what_was_printed(shell):
    """opencode OC2: the command is ended after 500 ms, and its output so far is kept."""
    run = shell("import time; print('before', flush=True); time.sleep(60)", timeout=0.5)
    assert run.timed_out
    assert run.clip.text == "before\n"

"""Which of what was written over is a frame of a progress bar."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.clean import clean_and_count, flatten
from spillover.document.progress import fold

#: what tools really print → what is shown, how many frames are left out
FRAMES = [
    (
        "curl",
        (
            "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\r"
            " 12 1000k   12  124k    0     0   124k      0  0:00:08  0:00:01  0:00:07  124k\r"
            " 90 1000k   90  900k    0     0   500k      0  0:00:02  0:00:02  0:00:01  512k"
        ),
        " 90 1000k   90  900k    0     0   500k      0  0:00:02  0:00:02  0:00:01  512k",
        2,
    ),
    (
        "pip",
        (
            "\r   ━━╸━━━━━━━━━━ 0.1/3.4 MB ? eta -:--:--\r   ━━━━━━╸━━━━━ 900.0 kB/3.4 MB 5.6 MB/s eta 0:00:01\r"
            "   ━━━━━━━━━━━━ 3.4/3.4 MB 6.1 MB/s  0:00:00"
        ),
        "   ━━━━━━━━━━━━ 3.4/3.4 MB 6.1 MB/s  0:00:00",
        2,
    ),
    (
        "git",
        (
            "Receiving objects:  12% (5/40)\rReceiving objects: 100% (40/40), 1.20 MiB | 3.40 MiB/s\r"
            "Receiving objects: 100% (40/40), 1.20 MiB | 3.40 MiB/s, done."
        ),
        "Receiving objects: 100% (40/40), 1.20 MiB | 3.40 MiB/s, done.",
        2,
    ),
    (
        "tqdm",
        (
            "\repoch:   0%|          | 0/100 [00:00<?, ?it/s]\repoch:  12%|█▏        | 12/100 [00:01<00:10,  8.20it/s]\r"
            "epoch: 100%|██████████| 100/100 [00:10<00:00,  9.0it/s, loss=0.12]"
        ),
        "epoch: 100%|██████████| 100/100 [00:10<00:00,  9.0it/s, loss=0.12]",
        2,
    ),
    (
        "tqdm with a name behind the bar",
        (
            " 12%|█▏        | 12/100 [00:01<00:10,  8.20it/s, file=a.txt]\r"
            " 13%|█▏        | 13/100 [00:01<00:10,  8.20it/s, file=b.txt]"
        ),
        " 13%|█▏        | 13/100 [00:01<00:10,  8.20it/s, file=b.txt]",
        1,
    ),
    (
        "rsync",
        "         32,768   0%    0.00kB/s    0:00:00\r    104,857,600 100%  101.34MB/s    0:00:00 (xfr#1, to-chk=0/1)",
        "    104,857,600 100%  101.34MB/s    0:00:00 (xfr#1, to-chk=0/1)",
        1,
    ),
    (
        "ffmpeg",
        (
            "frame=    1 fps=0.0 q=0.0 size=       0kB time=00:00:00.00 bitrate=N/A speed=N/A\r"
            "frame=   50 fps= 25 q=28.0 size=     256kB time=00:00:02.00 bitrate=1048.6kbits/s speed=1.2x"
        ),
        "frame=   50 fps= 25 q=28.0 size=     256kB time=00:00:02.00 bitrate=1048.6kbits/s speed=1.2x",
        1,
    ),
    (
        "cargo, whose bar names crates and is followed by a message",
        "   Building [==>        ] 3/20: serde(build)\r   Building [======>    ] 6/20: syn, quote\r   Compiling foo v1.0",
        "   Compiling foo v1.0",
        2,
    ),
    (
        "apt",
        "\rReading package lists... 0%\r\rReading package lists... 50%\r\rReading package lists... Done\r",
        "Reading package lists... Done",
        2,
    ),
    (
        "docker pull",
        "a1b2: Downloading [=====>       ]  1.2MB/3.4MB\ra1b2: Downloading [===========> ]  3.1MB/3.4MB\ra1b2: Pull complete",
        "a1b2: Pull complete",
        2,
    ),
    (
        "wget",
        (
            "\rf.bin   0%[          ]       0  --.-KB/s               \rf.bin  45%[===>      ]   1.2M  3.0MB/s    eta 5s     \r"
            "f.bin 100%[=========>]   3.4M  3.2MB/s    in 1.1s    "
        ),
        "f.bin 100%[=========>]   3.4M  3.2MB/s    in 1.1s    ",
        2,
    ),
    (
        "dd",
        "1234567 bytes (1.2 MB, 1.2 MiB) copied, 1 s, 1.2 MB/s\r2234567 bytes (2.2 MB, 2.1 MiB) copied, 2 s, 1.1 MB/s",
        "2234567 bytes (2.2 MB, 2.1 MiB) copied, 2 s, 1.1 MB/s",
        1,
    ),
    ("npm", "⠋ idealTree: timing\r⠙ idealTree: timing\r⠹ reify: foo", "⠙ idealTree: timing\n⠹ reify: foo", 1),
    ("a spinner", "- working\r\\ working\r| working\rdone", "| working\ndone", 2),
    ("dots", "Working.\rWorking..\rWorking...", "Working...", 2),
    ("a bare count", "1\r2\r3", "3", 2),
    ("three of twenty", "file 3 of 20\rfile 4 of 20", "file 4 of 20", 1),
    ("the same again", "ready\rready", "ready", 1),
    # not frames: shown as rows, nothing left out
    ("what was lost once", "FATAL: 3 failed\rok", "FATAL: 3 failed\nok", 0),
    ("rows of a log", "\r".join(f"row {n} of the log" for n in range(40)), None, 0),
    ("a stamped log", "2024/01/02 12:00:01 GET /a 200\r2024/01/02 12:00:02 GET /a 500", None, 0),
    ("a log of paths", "opened /v1/2 in 5\ropened /v1/2 in 900", None, 0),
    ("measurements", "took 5 ms\rtook 9000 ms", None, 0),
    ("other words", "a 10%\rb 20%", "a 10%\nb 20%", 0),
    ("bad news beside a bar", "[===>       ] 3/20: FAILED foo\r[=====>     ] 4/20: bar", None, 0),
    ("names that change, without a bar", "[1/20] Building a.o\r[2/20] FAILED: b.o", None, 0),
    ("figures, then words", "20%\rdone", "20%\ndone", 0),
    ("a bar, then two messages alike", "[====>    ]\rtook 5 ms\rtook 7 ms", "took 5 ms\ntook 7 ms", 1),
    ("blanks that clear the line", "Resolving\r                \rDone", "Resolving\nDone", 0),
    ("Mac line ends", "import os\rdef f():\r    return 1\r", "import os\ndef f():\n    return 1", 0),
    ("nothing but blanks", "  \r \r", " ", 0),
]


@pytest.mark.parametrize(("tool", "written", "shown", "left_out"), FRAMES, ids=[row[0] for row in FRAMES])
def test_frames_are_folded_and_everything_else_is_shown_as_rows(tool, written, shown, left_out):
    text, count = clean_and_count(written.encode())
    assert (text, count) == (written.replace("\r", "\n") if shown is None else shown, left_out)


@pytest.mark.parametrize("trouble", ["FATAL: 3 failed", "error: no such file", "Exception in thread main"])
def test_bad_news_that_was_written_over_is_in_the_flat_view(trouble):
    assert flatten(f"{trouble}\rok\nnext".encode()) == f"{trouble} ok\nnext"
    assert flatten(b"all is well\rok\nnext") == "ok\nnext"


PIECES = st.sampled_from(
    ["\r", "\r", "\n", "10%", "20%", "5/20", "FATAL", "ok", "[==>    ]", "|/-\\", "working", " ", "...", "3 MB/s", "█▌"]
)
written = st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=300)
@given(written)
def test_every_word_is_shown_or_a_frame_is_counted(text):
    shown, left_out = fold(text)
    if not left_out:
        assert re.findall(r"[^\s\r]+", text) == re.findall(r"[^\s\r]+", shown)
    assert "FATAL" in shown or "FATAL" not in text or left_out


@settings(max_examples=300)
@given(written)
def test_lines_are_folded_each_for_itself(text):
    lines = [fold(line) for line in text.split("\n")]
    assert fold(text) == ("\n".join(line for line, _ in lines), sum(count for _, count in lines))
    assert fold(text, flat=True)[0].count("\n") == text.count("\n")


#: What could make folding slow: states without end, brackets that never close, marks with nothing beside them.
HOSTILE = [
    "[",
    "|",
    "(",
    "/",
    " of ",
    "%",
    "1/",
    "\r",
    "[=\r",
    "a\rb\r",
    "[======",
    "10%\r1x\r",
    "█",
    "░\r",
    "[==>    ] a\r",
    ":",
    "9",
    "N/A",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_folding_takes_time_in_proportion_to_the_text(piece, grows_as_fast_as_its_text):
    def work(size):
        text = "\r" + piece * (size // len(piece)) + "\r" + piece
        return lambda: fold(text)

    grows_as_fast_as_its_text(work, 1 << 16, 1 << 19, margin=4, floor=0.002)

"""Growing texts: repeat, double and cut off the pieces of each grammar, and measure what clipping and reading back cost.

`make soak` runs `grow`; tests/laws/test_law_07_time_is_linear.py is the short version.
"""

import random
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

import spillover.kinds.fit
from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import Work

#: For each kind of text: its beginning, its pieces, and its end.
GRAMMARS = {
    "dump": ("", ["000000 7f 45 4c 46 02 01 01 00  >.ELF<\n", "0000: ", "00000010: 7f45 4c46 ", "7f ", "\n", "  "], ""),
    "html": (
        "<!DOCTYPE html><html><body>",
        ["<p>a</p>", "<a", '<b c="', "'", "<!-- -->", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!DOCTYPE[", "]", " >", "</a>",
         "<script>", "</script ", "<li>", "status='fail", "FooError ", "&amp;", "</", ">", "x", " "],
        "</body></html>",
    ),
    "xml": (
        '<?xml version="1.0"?><r>',
        ["<t n='1'>", "</t>", "<failure>", "</failure>", "<testsuite ", "<!--", "<t/>", '"', "<e a='<", ">", "error ", "\n"],
        "</r>",
    ),
    "json": ("[", ['{"a": 1, "b": "x"}, ', '"a\\\\", ', "[[1], [2]], ", '{"k": {"k": [', "]}}, ", '"\\u00e9\\ud83d\\ude00", ', "      ", "1e5, ",
                   '"          ", ', "null, "], "0]"),
    "ndjson": ('{"a": 1}\n{"a": 2}\n', ['{"a": 1, "b": "ok"}\n', '{"a": "', "          ", '"}\n', '{"b": [1, 2, {"c": 3}]}\n', "{}\n", "[", "\\", "\n"], ""),
    "diff": (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n",
        ["diff --git a/x b/x\n", "diff --git a/", " b/", "--- a/x\n", "+++ b/x\n", "@@ -1,2 +1,2 @@ f\n", "+added\n", "-gone\n", " same\n", "\n",
         "\x1b[32m", "index 1..2\n", "@@ -1", "commit abcdef0\n", "=", "Index: x\n"],
        "\n",
    ),
    "table": ("a,b,c\n1,2,3\n4,5,6\n7,8,9\n1,1,1\n2,2,2\n3,3,3\n4,4,4\n5,5,5\n6,6,6\n",
              ["1,2,3\n", '"a ""b"" c",2,3\n', '"', '""', ",", "1111111111", "fail,1,2\n", "x\n", "\r\n", " ", "1.5e3,"], "1,2,3\n"),
    "trace": ("", ["Traceback (most recent call last):\n", '  File "a.py", line 1, in f\n', "    g(x)\n", "ValueError: bad\n", "  at a.b(C.java:1)\n",
                   "Caused by: x\n", "E   assert\n", "FAILED a::b\n", "    ^^^^\n", "-----", "=====", "\n", "error: x\n", "panic: "], ""),
    "escapes": ("", ["\x1b[31m", "\x1b[0m", "\x1b]8;;http://x\x07", "\x1b]0;", "\x1b[", "1;2;3;", "\x1b", "\x9b", "\x07", "\x1b\\", "text ", "\b", "\n", "\x1bP", "  "], "\n"),
    "frames": ("", ["\r", " 50% [####    ]", "downloading", "\r\n", "\n", "\b \b", "\x1b[2K", "100%", "\x1b[1A"], "\n"),
    "notices": ("", ["[Output clipped: 1 of 2 lines shown.\n", "[", "...", "\u2026", "[... lines 1-2 ...]\n", "Next: spill read ", "bash-0123456789ab", "]", "\n", "(",
                     " ", ".", "\u202e", "\u200b", "C", "l"], "\n"),
    "base64": ("", ["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5\n", "data:image/png;base64,", "-----BEGIN X-----\n", "aGVsbG8gd29ybGQ",
                    "=", "deadbeef0123", "/", "\n", "\r\n", "AAAA"], ""),
    "page": ("- generic [ref=e1]:\n" + '  - button "Save" [ref=e2]\n' * 9,
             ['  - link "Next" [ref=e12] [cursor=pointer]:\n', "    - /url: /next\n", '  - button "', '"', "\\", "[ref=e", "]", "  ", "- ", "uid=1_2 button ", "\t[12] ",
              "StaticText '", "'", ": Save\n", "\n", "x"], "\n"),
    "prose": ("## One\n\nThe first of some sentences stands here.\n## Two\n" + "And this is another one, which is as long.\n" * 9,
              ["## More\n", "Words that read like a sentence do. ", "`name`", "`", "a/b.c:1 ", "- item of a list\n", "| a | b |\n", "```\n", "**bold** ", "*", ". A", "_", ".", "\n",
               "word ", "---\n"], "\n"),
    "repr": ("[", ["{'a': 1, 'b': None}, ", "{'a': \"it's\"}, ", "('x', True), ", "'\\\\', ", "'", '"', "\\x41", "\\'", "b'y', ", "   ", "1.5, ", "\n"], "0]"),
    "search": (
        "src/a.py:1:def f():\n" * 9,
        ["src/a.py:1:def f():\n", "src/a.py-2-    x\n", "--\n", "src/a.py:", "12:", "-12-", "/", "a-1-", "./b/c.txt\n", "./b:\n", "\n", "  Line 3: x\n", " M a.py\n", ":",
         "\tmodified:   a.py\n", "-rw-r--r-- 1 a b 1 Nov 1 1:00 c\n", " "],
        "src/z.py:9:f()\n",
    ),
    "source": (
        "import os\n\n\ndef f():\n    return 1\n" * 9,
        ["def f(a):\n", "    return x\n", "class A:\n", "func f() {\n", "}\n", "{", "(", "\t", "    ", "x = 1\n", "# says\n", "\n", "     1\u2192a\n", "'", '"""', "=> {\n", "@a\n",
         "#if\n", "const A = 1;\n", "\\\n"],
        "\n",
    ),
    "log": ("", ["2026-01-01 10:00:00 INFO start\n", "2026-01-01T10:00:00Z ", "[INFO] ", "error: no such file\n", "make: *** [all] Error 1\n", "ok 1\n", "not ok 2\n",
                 "# heading\n", "$ make\n", "====", "    ", "word ", "/a/b/c.py:10:5: ", "\n", "é", "0x7f3a "], ""),
}  # fmt: skip
#: Report a text only if work grows this many times faster than size and takes at least this much CPU time, to ignore noise.
MARGIN, FLOOR_SECONDS = 2.2, 0.4
SIZES = (1 << 17, 1 << 18, 1 << 19)
#: A call that takes this much CPU time at these sizes has hung.
HANG_SECONDS = 30


@dataclass(frozen=True)
class Text:
    """A text of any size: its beginning, the unit that is repeated, and its end."""

    grammar: str
    unit: str
    first: str = ""
    last: str = ""

    def of(self, size: int) -> str:
        begins, _, ends = GRAMMARS[self.grammar]
        room = max(0, size - len(begins) - len(ends) - len(self.first) - len(self.last))
        return begins + self.first + self.unit * max(1, room // len(self.unit)) + self.last + ends


@dataclass
class Figures:
    """The figures of a run."""

    texts: int = 0
    calls: int = 0
    slowest: float = 0.0  # microseconds per byte
    slowest_at: str = ""
    steepest: float = 0.0  # growth of work relative to size, among texts examined closely
    failed: list[str] = field(default_factory=list)


def texts(rng: random.Random):
    """Yield texts forever: pieces repeated, doubled and cut off in any order, or one piece repeated very often."""
    while True:
        grammar = rng.choice(list(GRAMMARS))
        pieces = GRAMMARS[grammar][1]

        def some(most, pieces=pieces):
            out = []
            for piece in rng.choices(pieces, k=rng.randint(1, most)):
                how = rng.random()
                out.append(piece if how < 0.6 else piece * 2 if how < 0.75 else piece[: rng.randint(1, len(piece))])
            return "".join(out)

        unit = some(1) if rng.random() < 0.4 else some(5)
        yield Text(grammar, unit, some(4) if rng.random() < 0.5 else "", some(4) if rng.random() < 0.5 else "")


def calls(text: str):
    """Yield the operations to time on a text, by name."""
    clipper = Clipper(Limits(tokens=1_000), store=MemoryStore())
    scored = Clipper(Limits(tokens=1_000), keep="signal", store=MemoryStore())
    yield "auto", lambda: clipper.clip(text)
    yield "asked", lambda: clipper.clip(text, tool="Read", query="where is error 10 handled in src/a.py?")
    yield "signal", lambda: scored.clip(text)
    with unbounded_work(), ended_when_hung():
        ref = clipper.clip(text).ref
    if ref is not None:
        yield "read", lambda: clipper.read(ref, lines="1:")
        yield "grep", lambda: clipper.grep(ref, "error|[0-9]+", context=100)
        yield "outline", lambda: clipper.outline(ref)


class Hung(BaseException):  # a BaseException, so that no selector can catch it
    """A call took HANG_SECONDS of CPU time and was interrupted."""


@contextmanager
def unbounded_work():
    """Disable the work budget, which would stop fast-growing work before its growth can be measured."""
    before, spillover.kinds.fit.work_for = spillover.kinds.fit.work_for, lambda _: Work()
    try:
        yield
    finally:
        spillover.kinds.fit.work_for = before


@contextmanager
def ended_when_hung():
    """Turn a hang into a failure. `re` checks for signals while it backtracks, but only the main thread receives them."""

    def end(*_):
        raise Hung

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def cpu(call) -> float:
    """Return the CPU seconds of all threads of this process, so other load on the machine does not count."""
    started = time.process_time()
    with unbounded_work(), ended_when_hung():
        call()
    return time.process_time() - started


def judge(text: Text, figures: Figures, sizes=SIZES) -> None:
    """Clip a text and read it back; measure more closely only what is slow at the smallest size."""
    figures.texts += 1
    whole = text.of(sizes[0])
    for name, call in calls(whole):
        figures.calls += 1
        try:
            seconds = cpu(call)
            if seconds * 1e6 / len(whole) > figures.slowest:
                figures.slowest, figures.slowest_at = seconds * 1e6 / len(whole), f"{name} of {text}"
            if seconds > FLOOR_SECONDS:
                _look_closely(text, name, figures, sizes)
        except Hung:
            figures.failed.append(f"{name} of {text} hung")
            return


def _look_closely(text: Text, name: str, figures: Figures, sizes) -> None:
    """Take the best of several runs at each size, so that a busy moment is not reported."""
    best = [float("inf")] * len(sizes)
    for _ in range(3):
        for nth, size in enumerate(sizes):
            best[nth] = min(best[nth], cpu(dict(calls(text.of(size)))[name]))
            if best[0] <= FLOOR_SECONDS:
                return
        steep = (best[-1] / best[0]) / (sizes[-1] / sizes[0])
        if steep <= MARGIN:
            figures.steepest = max(figures.steepest, steep)
            return
    figures.failed.append(
        f"{name} of {text}: {steep:.1f} times as fast as size; {', '.join(f'{s:.2f} s' for s in best)}"
    )


def grow(seconds: float, seed: str) -> dict:
    """Try random texts for a number of seconds and return the figures; `failed` must be 0."""
    rng, figures, until = random.Random(seed), Figures(), time.monotonic() + seconds
    for text in texts(rng):
        judge(text, figures)
        if time.monotonic() >= until:
            break
    return vars(figures) | {"failed": len(figures.failed), "examples": figures.failed}

"""vtcode against its document, written again from the text alone: 5,000 outputs, its estimator, and what the page says of the rest."""

from dataclasses import dataclass
from functools import cached_property

import pytest
from from_text import outputs
from from_text import vtcode as document
from from_text.compared import (
    Difference,
    check_the_page,
    compare,
    first_bytes,
    human_lines,
    last_bytes,
)

from spillover import Limits, MemoryStore, profiles
from support import vtcode_tokens

vtcode = profiles.vtcode


def count_thrice(text):
    """Return what a tokenizer says that finds more in a line than its length does."""
    return 3 * document.count_by_lines(text)


COUNTERS = {"its own": document.count_by_lines, "another": count_thrice}


@dataclass(frozen=True)
class Case:
    text: str
    max_tokens: int
    counter: str
    banner: bool

    @property
    def count(self):
        return COUNTERS[self.counter]

    @cached_property
    def overflows(self):
        return self.count(self.text) > self.max_tokens

    @cached_property
    def lines(self):
        return human_lines(self.text)

    @property
    def half(self):
        return self.max_tokens // 2

    @cached_property
    def ends(self):
        """How many lines of either end the document keeps."""
        return document.halves(document.lines_of(self.text), self.max_tokens)


def cases(count, seed):
    random = outputs.seeded(seed)
    for _ in range(count):
        counter = "another" if random.random() < 0.1 else "its own"
        least = 36 if counter == "another" else 8  # a third of it is for both ends
        max_tokens = random.choice((least, 40, random.randint(least, 80)))
        text = outputs.output(random, random.randint(3, 30), random.choice((2, 4, 7)) * max_tokens)
        if random.random() < 0.45:
            text = outputs.log(random, outputs.around(random, max_tokens // 4))
        yield Case(text, max_tokens, counter, random.random() < 0.2)


def line_above_the_budget(case):
    ends = case.lines[:1] + case.lines[-1:]
    return case.overflows and any(document.count_by_lines(line) > case.half for line in ends)


def tokenizer_counts_more(case):
    return case.overflows and case.counter == "another"


def path_for_a_person_only(case):
    return case.overflows and case.banner


def no_lines_between(case):
    head, tail = case.ends
    return case.overflows and head + tail >= len(case.lines)


def shown_as_it_came(case):
    """The head ends with white space, a line with CRLF, or the last one with a newline."""
    if not case.overflows:
        return False
    head = parts(case, line_above_the_budget(case))[0].removesuffix("\n")
    return head != head.rstrip() or "\r\n" in case.text or case.text.endswith("\n")


DIFFERENCES = {
    "line_above_the_budget": Difference("a line longer than the budget is shown whole", line_above_the_budget),
    "tokenizer_counts_more": Difference("whatever the tokenizer says", tokenizer_counts_more),
    "path_for_a_person_only": Difference("the path is shown to the user only", path_for_a_person_only),
    "no_lines_between": Difference("`[... 0 lines truncated ...]`", no_lines_between),
    "shown_as_it_came": Difference("is trimmed", shown_as_it_came),
}


def theirs(case, given):
    return document.truncate(case.text, case.max_tokens, case.count)


def by_the_page(case, given, causes):
    if not case.overflows:
        return case.text
    if "tokenizer_counts_more" in causes:
        return smaller(case, given)
    start, end, hidden = parts(case, "line_above_the_budget" in causes)
    between = document.marker(hidden)
    if hidden == 0 and "no_lines_between" in causes:
        missing = len(case.text.encode()) - len(start.encode()) - len(end.encode())
        between = between.replace("0 lines", f"{missing} bytes")
    if "shown_as_it_came" not in causes:
        start = "\n".join(document.lines_of(start)).rstrip()
        end = "\n".join(document.lines_of(end))
    before = ""
    if "path_for_a_person_only" in causes:
        before, between = shown_to_a_person(case, given, start, between, end)
    return f"{before}{start}{'' if start.endswith(chr(10)) else chr(10)}{between}{end}"


def parts(case, cut_long_lines):
    """Return what is shown of either end, as it came, and how many lines there are between."""
    lines = case.lines
    head, tail = case.ends
    start, end = "".join(lines[:head]), "".join(lines[len(lines) - tail :])
    if cut_long_lines:
        room = int(case.half * document.TOKENS_PER_CHARACTER)
        if document.count_by_lines(lines[0]) > case.half:
            start = first_bytes(lines[0], room)
        if document.count_by_lines(lines[-1]) > case.half:
            end, tail = last_bytes(lines[-1], room), 1
    return start, end, max(len(lines) - head - tail, 0)


def smaller(case, given):
    """Return ours, once it is sure that both of its ends hold the budget and that the count between them is true."""
    text = given.text
    if case.banner:
        before, _ = shown_to_a_person(case, given, "", "", "")
        text = text.removeprefix(before.rpartition("First")[0]).partition("\n")[2]
    start, _, rest = text.partition("[... ")
    told, _, end = rest.partition(" truncated ...]\n")
    end = end.partition("tokens shown\n")[2] if case.banner else end
    start = start if case.text.startswith(start) else start.removesuffix("\n")
    assert case.text.startswith(start)
    assert case.text.endswith(end)
    assert case.count(start + end) <= case.max_tokens
    hidden = len(case.lines) - len(human_lines(start)) - len(human_lines(end))
    missing = len(case.text.encode()) - len(start.encode()) - len(end.encode())
    assert told == (f"{hidden} lines" if hidden > 0 else f"{missing} bytes")
    return given.text


def shown_to_a_person(case, given, start, between, end):
    size = len(case.text.encode())
    counts = case.count(start), between, case.count(end)
    return document.shown_to_a_person(given.ref, f"{max(1, round(size / 1_024))}KB", len(case.lines), *counts)


def test_its_two_halves_on_5_000_texts():
    store = MemoryStore()

    def ours(case):
        clipper = vtcode.clipper(
            max_tokens=case.max_tokens, banner=case.banner, store=store, tokenizer=COUNTERS[case.counter]
        )
        clip = clipper.clip(case.text)
        return clip.text, clip

    tally = compare(
        "vtcode",
        cases(5_000, 4),
        ours,
        theirs,
        by_the_page,
        DIFFERENCES,
        whole=lambda case, result: result == case.text,
    )
    assert tally.cut > 500


@pytest.mark.parametrize("text", outputs.near_limits(9_000, 87_000), ids=outputs.NEAR)
def test_its_own_numbers(tmp_path, text):
    clipper = vtcode.clipper(folder=str(tmp_path), banner=False, tokenizer=document.count_by_lines)
    theirs = document.truncate(text, document.MAX_TOOL_RESPONSE_TOKENS, document.count_by_lines)
    assert clipper.clip(text).text == theirs


def test_its_estimator_on_5_000_texts():
    random = outputs.seeded(44)
    seen = set()
    for _ in range(5_000):
        text = outputs.output(random, random.randint(1, 30), random.randint(1, 300))
        assert vtcode_tokens(text) == document.estimate(text), text
        seen.add((not text.strip(), sum(char in document.CODE_INDICATOR_CHARS for char in text) > len(text) // 20))
    assert seen >= {(True, False), (False, True), (False, False)}


def dots_on_top(line):
    return len(line) > document.MAX_LINE_LENGTH


DISPLAY = {"dots_on_top": Difference("150 characters of a line and `...`", dots_on_top)}


def test_its_display_of_1_000_lines():
    random = outputs.seeded(150)
    letters = str.maketrans(
        "", "", "\t\x00\x0b\x0c\x85\N{LINE SEPARATOR}\N{COMBINING ACUTE ACCENT}\N{ZERO WIDTH JOINER}"
    )
    lines = [outputs.long_line(random, outputs.around(random, 150)).translate(letters) for _ in range(1_000)]
    compare(
        "vtcode, display",
        lines,
        lambda line: (vtcode.render(line, "code"), None),
        lambda line, given: document.display_line(line),
        lambda line, given, causes: document.display_line(line[:147] if causes else line) + "..." * bool(causes),
        DISPLAY,
        whole=lambda line, result: line == result,
    )


@dataclass(frozen=True)
class Window:
    size: int
    used: int


def little_is_left(window):
    return window.size - window.used < document.dynamic_limit(window.used / window.size)


PRESSURE = {"little_is_left": Difference("however little is left", little_is_left)}


def test_its_limits_under_1_000_pressures():
    random = outputs.seeded(80)
    sizes = [random.choice((128_000, 200_000, 1_000_000, random.randint(20_000, 300_000))) for _ in range(1_000)]
    windows = [Window(size, random.choice((size // 2, size * 4 // 5, random.randint(0, size)))) for size in sizes]

    def ours(window):
        budget = vtcode.budget(window.size)
        budget.add("user", window.used)
        return budget.limits(Limits(tokens=document.MAX_TOOL_RESPONSE_TOKENS)).tokens, None

    def theirs(window, given):
        return document.dynamic_limit(window.used / window.size)

    def by_the_page(window, given, causes):
        limit = theirs(window, given)
        return max(min(limit, window.size - window.used), 100) if causes else limit

    compare("vtcode, pressure", windows, ours, theirs, by_the_page, PRESSURE)


#: Rows that no text can show, and where they are tested.
ELSEWHERE = {
    "HuggingFace tokenizers by model": "profiles/test_vtcode_differences.py",
    "`First ~12.5k tokens shown`": "profiles/test_vtcode_differences.py",
    "a file above 200 KB": "profiles/test_vtcode_differences.py",
    "settings in `vtcode.toml`": "profiles/test_vtcode_display.py",
    "gzip before spooling": "profiles/test_vtcode_differences.py",
}


def test_the_page_has_these_differences_and_says_of_the_others_why_not():
    check_the_page("vtcode", DIFFERENCES | DISPLAY | PRESSURE, ELSEWHERE)

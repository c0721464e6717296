"""klaude against its document, written again from the text alone: 5,000 outputs, and what the page says of the rest."""

from dataclasses import astuple, dataclass, replace

import pytest
from from_text import klaude as document
from from_text import outputs
from from_text.compared import Difference, check_the_page, compare

from spillover import MemoryStore, profiles
from spillover.testing import FailingStore

klaude = profiles.klaude
FULL = "No space left on device"


@dataclass(frozen=True)
class Case:
    text: str
    max_length: int
    head: int
    tail: int
    disk_is_full: bool

    @property
    def sizes(self):
        return {"max_length": self.max_length, "head": self.head, "tail": self.tail}


def cases(count, seed):
    random = outputs.seeded(seed)
    for _ in range(count):
        head, tail = random.choice(((5, 5), (10, 10), (20, 20), (random.randint(0, 12), random.randint(0, 12))))
        max_length = random.choice((head + tail, 2 * (head + tail), random.randint(0, 60)))
        text = outputs.output(random, 5, max_length)
        yield Case(text, max_length, head or int(not tail), tail, random.random() < 0.1)


def too_long(case):
    return len(case.text) > case.max_length


def ends_meet(case):
    return too_long(case) and case.head + case.tail >= len(case.text)


def no_tail(case):
    return too_long(case) and case.tail == 0


def not_saved(case):
    return too_long(case) and case.disk_is_full


DIFFERENCES = {
    "no_tail": Difference("`tail=0` shows everything", no_tail),
    "ends_meet": Difference("head and tail together longer than the text", ends_meet),
    "not_saved": Difference("head only when nothing can be written", not_saved),
}


def theirs(case, given):
    return astuple(document.truncate(case.text, None if case.disk_is_full else given, **case.sizes))


def by_the_page(case, given, causes):
    if "ends_meet" in causes:
        return case.text, False, None, len(case.text), 0
    if "not_saved" in causes:
        hidden = len(case.text) - case.head - case.tail
        why = f"\n\n... ({hidden} characters truncated) ...\n\n[{given}"
        return case.text[: case.head + case.tail] + why, True, None, len(case.text), hidden
    result = document.truncate(case.text, given, **case.sizes)
    if "no_tail" in causes:
        result = replace(result, output=result.output.removesuffix(case.text))
    return astuple(result)


def test_its_strategy_on_5_000_texts():
    whole, full = MemoryStore(), FailingStore(MemoryStore(), reason=FULL)

    def ours(case):
        strategy = klaude.SmartTruncationStrategy(
            max_length=case.max_length,
            head_chars=case.head,
            tail_chars=case.tail,
            store=full if case.disk_is_full else whole,
        )
        result = strategy.truncate(case.text, "Bash", "call_abc123")
        given = result.ref  # this store has no paths, and says its own name for the output
        if result.reason:
            given = result.output.rpartition("\n\n[")[2]
            assert FULL in given
        facts = result.was_truncated, result.ref, result.original_length, result.truncated_length
        return (result.output, *facts), given

    tally = compare(
        "klaude", cases(5_000, 2), ours, theirs, by_the_page, DIFFERENCES, whole=lambda case, result: not result[1]
    )
    assert tally.cut > 1_000


@pytest.mark.parametrize("text", outputs.near_limits(6_000, document.TOOL_OUTPUT_MAX_LENGTH), ids=outputs.NEAR)
def test_its_own_numbers(tmp_path, text):
    strategy = klaude.SmartTruncationStrategy(folder=str(tmp_path))
    result = klaude.truncate_tool_output(text, "Bash", "call_1", strategy=strategy)
    theirs = document.truncate(text, result.saved_file_path)
    assert (result.output, result.was_truncated) == (theirs.output, theirs.was_truncated)
    assert result.truncated_length == theirs.truncated_length


def test_its_file_has_the_name_of_the_document(tmp_path):
    strategy = klaude.SmartTruncationStrategy(folder=str(tmp_path), clock=lambda: 1732521600)
    result = klaude.truncate_tool_output("a" * 45_000, "Bash", "call_abc123", strategy=strategy)
    name = document.file_name("Bash", "call_abc123", 1732521600)
    assert name == "Bash-call_abc123-1732521600.txt"
    assert result.saved_file_path == str(tmp_path / name)
    assert (tmp_path / name).read_text() == "a" * 45_000
    assert result.output == document.truncate("a" * 45_000, result.saved_file_path).output


#: Rows that no text can show, and where they are tested.
ELSEWHERE = {
    "`saved_file_path: str`": "profiles/test_klaude_ui.py",
    "`BaseModel`": "profiles/test_klaude_ui.py",
    "half a character (a lone surrogate)": "profiles/test_klaude.py",
    "`/tmp/klaude` for everybody": "profiles/test_klaude.py",
    "without a call id": "profiles/test_klaude.py",
}


def test_the_page_has_these_differences_and_says_of_the_others_why_not():
    check_the_page("klaude", DIFFERENCES, ELSEWHERE)

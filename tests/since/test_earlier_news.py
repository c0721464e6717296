"""Which lines lead when an output is told against an earlier run."""

import pytest

from spillover.api import Clipper
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore

STEPS = [f"compiled part_{chr(97 + number % 26)}{chr(97 + number // 26)} of the whole\n" for number in range(400)]
FRAMES = [f"\tat org.acme.step{chr(97 + number % 26)}.Run{chr(97 + number // 26)}.go(Run.java:1{number})\n" for number in range(40)]  # fmt: skip
TRACE = ["java.lang.IllegalStateException: part q is broken\n", *FRAMES]


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="cli", worth=0)


def tell(clipper, before, after):
    return clipper.clip("".join(after), since=clipper.clip("".join(before)).ref).text


def test_a_stack_trace_that_is_new_is_shown_whole(clipper):
    text = tell(clipper, STEPS, [*STEPS[:300], *TRACE, *STEPS[300:]])
    assert "".join(TRACE) in text


def test_errors_that_the_earlier_run_had_too_take_no_room_from_new_lines(clipper):
    known = [f"error: cannot find branch {chr(97 + number)} of the repository\n" for number in range(26)]
    before = [line for number, step in enumerate(STEPS) for line in (step, *known[number // 10 : number // 10 + 1])]
    text = tell(clipper, before, [*before[:300], *TRACE, *before[300:]])
    assert "".join(TRACE) in text


def test_plain_new_lines_lead_before_errors_that_the_earlier_run_had_too(clipper):
    letters = [f"{chr(97 + first)}{chr(97 + second)}" for first in range(12) for second in range(26)]
    known = [f"error: {word * 3} cannot find the {word} branch of {word * 2}\n" for word in letters]
    news = [f"linked {chr(97 + number)} to the rest\n" for number in range(20)]
    after = [
        line
        for number, line in enumerate(known)
        for line in (line, *news[number // 15 : number // 15 + (number % 15 == 7)])
    ]
    text = tell(clipper, known, after)
    assert [line for line in news if line not in text] == []


def test_a_new_line_that_only_its_indent_tells_from_one_before_is_shown_once(clipper):
    again = [f"\t{line}" for line in FRAMES]
    told = ["Caused by: java.io.IOException: no space left\n"]
    text = tell(clipper, STEPS, [*STEPS[:300], *TRACE, *told, *again, *STEPS[300:]])
    assert "".join(TRACE) in text
    assert told[0] in text
    assert text.count("(Run.java:17)") == 1


def test_each_new_failure_is_named_though_only_a_number_tells_it_from_the_others(clipper):
    failures = [f"FileSystemException: /tmp/test{number}1746444880: no space left\n" for number in range(5)]
    blocks = [line for failure in failures for line in (failure, *FRAMES[:25])]
    text = tell(clipper, STEPS, [*STEPS[:300], *blocks, *STEPS[300:]])
    assert [failure for failure in failures if failure not in text] == []


def test_of_new_lines_that_count_upwards_a_few_are_shown_and_the_error_behind_them(clipper):
    progress = [f"Progress ({number}): 0.{number} of 1.8 MB\n" for number in range(200)]
    text = tell(clipper, STEPS, [*STEPS, *progress, "ERROR: no tag class, it has failed\n"])
    assert "no tag class" in text
    assert text.count("Progress (") < 60


def test_an_earlier_output_that_has_almost_nothing_in_common_changes_no_choice(clipper):
    other = [f"linked {line}" for line in STEPS]
    after = [*STEPS[:300], *TRACE, *STEPS[300:], "\n"]
    alone, told = clipper.clip("".join(after)), tell(clipper, [*other, "\n", STEPS[0]], after)
    assert "lines new" in told
    assert told.count("org.acme") >= 0.8 * alone.text.count("org.acme")
    assert TRACE[0] in told


def test_one_new_line_of_a_log_of_records_is_shown_whole_where_there_is_room():
    thrifty = Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="cli")
    fine = [f'{{"at": "02:{n // 60:02}:{n % 60:02}", "level": "info", "message": "request done", "path": "/api/items/{n * 37 % 9_973}", "status": 200, "took_ms": {n % 89}}}\n' for n in range(1_200)]  # fmt: skip
    wrong = '{"at": "02:13:33", "level": "error", "message": "request failed", "path": "/api/items/2275", "status": 500, "took_ms": 48, "cause": "deadlock detected", "query": "update stock set count = count - 1 where item = 2275 and place = 7", "retried": 3}\n'
    text = tell(thrifty, fine, [*fine[:800], wrong, *fine[801:]])
    assert wrong in text


def test_a_new_line_that_is_longer_than_the_limits_is_shown_in_part(clipper):
    line = "error: " + " ".join(f"field{number}" for number in range(4_000)) + " at the end of it\n"
    text = tell(clipper, STEPS, [*STEPS[:300], line, *STEPS[300:]])
    assert "error: field0" in text
    assert "at the end of it" in text

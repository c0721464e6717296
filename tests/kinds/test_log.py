"""The lines that matter are kept, whatever is around them, and each says why."""

import random
import re
from pathlib import Path

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.testing import FailingStore, chunked


def passing(count, name="test_case"):
    return [
        f"tests/test_{number % 9}.py::{name}_{number} PASSED [{number * 100 // count:3}%]" for number in range(count)
    ]


TRACE = """\
________________________________ test_interest _________________________________

    def test_interest():
>       assert interest(200, 0.05) == 10
E       assert 10.5 == 10
E        +  where 10.5 = interest(200, 0.05)

tests/test_money.py:14: AssertionError""".splitlines()


def compiled(count):
    return [
        f"cc -O2 -Wall -Werror -Iinclude -c -o obj/mod_{number}.o src/error_handler_{number}.c"
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        pytest.param([*passing(400), *TRACE, *passing(400)], ["E       assert 10.5 == 10", "tests/test_money.py:14: AssertionError"], id="a failed test"),
        pytest.param(
            [*compiled(300), "src/alloc.c:212:17: error: too few arguments to function 'take'", *compiled(300), "make: *** [Makefile:9: all] Error 1"],
            ["src/alloc.c:212:17: error: too few arguments to function 'take'", "make: *** [Makefile:9: all] Error 1"],
            id="-Werror and error_handler.c on every line",
        ),
        pytest.param(
            [line for number in range(500) for line in (f"step {number}: 0 errors, 0 failures", f"copied file {number}")]
            + ["fatal: the remote end hung up unexpectedly"]
            + [f"step {number}: 0 errors, 0 failures" for number in range(500)],
            ["fatal: the remote end hung up unexpectedly"],
            id="a thousand times 0 errors",
        ),
        pytest.param(
            [*passing(300, "test_failure_is_reported"), "FAILED tests/test_a.py::test_total - assert 3 == 4", *passing(300, "test_error_page")],
            ["FAILED tests/test_a.py::test_total - assert 3 == 4"],
            id="passing tests with failure in their names",
        ),
        pytest.param(
            [f"src/a{number}.ts:{number}:3 - warning: unused variable" for number in range(400)]
            + ["src/b.ts:10:5 - error TS2322: Type 'string' is not assignable to type 'number'."]
            + [f"src/c{number}.ts:{number}:3 - warning: unused variable" for number in range(400)],
            ["src/b.ts:10:5 - error TS2322: Type 'string' is not assignable to type 'number'."],
            id="one error among hundreds of warnings",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keep", ["auto", "signal"])
def test_what_matters_is_kept_and_decoys_are_not_mistaken_for_it(shown, lines, kept, keep):
    text = shown("\n".join(lines) + "\n", tokens=600, keep=keep).text
    assert [line for line in kept if line not in text.splitlines()] == []


def test_ten_megabytes_with_one_error_one_odd_line_and_a_thousand_zeros(shown):
    """The error has a keyword, the other line has none: what is rare is the signal."""
    dice = random.Random(1)
    lines = []
    for number in range(125_000):
        lines.append(
            f"[{number * 100 // 125_000:3}%] Building C object src/CMakeFiles/core.dir/mod_{number:06}.c.o in {dice.random():.3f} s"
        )
        if number % 110 == 0:
            lines.append(f"pass {number}: 0 errors, 0 warnings")
    lines.insert(60_000, "/src/core/alloc.c:212:17: error: too few arguments to function 'arena_take'")
    lines.insert(31_000, "linker region FLASH resized to 0x8000 by board.ld")
    output = "\n".join(lines) + "\n"
    assert len(output) > 9_000_000
    clip = shown(output, tokens=2_000)
    assert lines[60_001] in clip.text
    assert lines[31_000] in clip.text


def test_many_failures_are_all_named_before_one_is_shown_at_length(shown):
    lines = passing(200)
    for number in range(30):
        lines += [f"FAIL: test_rate_{number} (bank.tests.RateTests)", "-" * 70, "Traceback (most recent call last):"]
        lines += [f'  File "/srv/bank/layer_{frame}.py", line {frame * 7}, in call_{frame}' for frame in range(20)]
        lines += [f"AssertionError: {number} != {number + 1}", ""]
    text = shown("\n".join(lines), tokens=1_500).text
    named = [number for number in range(30) if f"FAIL: test_rate_{number} (" in text]
    assert len(named) >= 25


def test_every_line_that_is_shown_for_a_reason_says_which(shown):
    clip = shown("\n".join([*passing(400), *TRACE, *passing(400)]))
    said = {line: reason.why for reason in clip.why for line in range(reason.first, reason.last + 1)}
    lines = [line for first, last in clip.ranges for line in range(first, last + 1)]
    assert set(lines) == set(said)
    assert said[404] == "expected and actual"
    assert said[405] == said[408] == "exception"
    assert said[403] == "near line 404"
    assert str(clip.why[0]).startswith("line")


def test_what_a_compiler_warns_of_is_a_warning_although_it_names_a_place(shown):
    lines = [f"[{n}/2000] compiling part {n} in {n % 97} ms" for n in range(2_000)]
    for line in (300, 500, 700):
        lines[line] = f"src/part.c:{line}:5: warning: unused variable 'x' [-Wunused-variable]"
    lines[900] = "src/part.c:12:5: error: expected ';' before 'x'"
    why = {reason.first: reason.why for reason in shown("\n".join(lines)).why}
    assert (why[301], why[901]) == ("warning", "error message")


def test_a_line_is_near_another_only_within_a_few_lines(shown):
    lines = [f"test {n} ... {'FAILED' if n == 31_415 else 'ok'}" for n in range(1, 50_001)]
    why = [str(reason) for reason in shown("\n".join(lines), tokens=200).why]
    assert "line 31,415: verdict" in why
    assert "at the beginning" in why[0]
    assert why[-1] == "line 50,000: at the end"


NEAR = re.compile(r"(near|in the block around) line ([\d,]+)")


@pytest.mark.parametrize("tokens", [300, 1_000, 4_000])
@pytest.mark.parametrize("name", ["maven", "pytest_failures", "webpack", "terraform", "go_test"])
def test_no_reason_names_a_line_that_is_far_away(name, tokens):
    log = (Path(__file__).parent.parent / "tools" / f"{name}.txt").read_text(errors="replace")
    clip = Clipper(Limits(tokens=tokens), keep="signal", store=MemoryStore()).clip(log)
    for reason in clip.why:
        for how, number in NEAR.findall(reason.why):
            away = max(abs(int(number.replace(",", "")) - line) for line in (reason.first, reason.last))
            assert away <= (5 if how == "near" else 40), reason


def test_the_same_bytes_give_the_same_clip_in_any_pieces():
    data = "\n".join([*passing(300), *TRACE, *compiled(300)]).encode()
    clipper = Clipper(Limits(tokens=500), store=MemoryStore())
    texts = {
        clipper.clip(source).text
        for source in (data, data.decode(), chunked(data, [1, 7, 4096]), chunked(data, [100] * 99))
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param("".join(f"{number:6}\tdef handle_error_{number}(self, error):\n{number:6}\t    raise ValueError(error)\n" for number in range(500)), id="source"),
        pytest.param("".join(f"commit {number * 7919:040x}\n\n    Fix error {number}\n\n" for number in range(400)), id="git log"),
    ],
)  # fmt: skip
def test_where_nothing_failed_the_end_is_kept_and_some_of_the_beginning(shown, listing):
    clip = shown(listing, tokens=500)
    assert clip.text.endswith(listing.rstrip("\n").rsplit("\n", 1)[1] + "\n") or clip.text.rstrip().endswith(
        listing.rstrip()[-20:]
    )
    assert len(clip.ranges) <= 3


def test_a_line_far_too_long_is_shown_at_both_its_ends(shown):
    wide = "fatal: [web2]: FAILED! => " + "x" * 50_000 + ' "msg": "no such host"}'
    text = shown("\n".join([*passing(200), wide, *passing(200)]), tokens=600).text
    assert "fatal: [web2]: FAILED! =>" in text
    assert '"msg": "no such host"}' in text


def test_both_streams_are_represented_each_by_what_matters_in_it():
    clipper = Clipper(Limits(tokens=800), store=MemoryStore())
    out, err = (
        "\n".join([*passing(300), *TRACE, *passing(300)]),
        "\n".join(["warning: slow"] * 200 + ["Segmentation fault (core dumped)"] + compiled(200)),
    )
    text = clipper.clip_streams(stdout=out, stderr=err).text
    assert "E       assert 10.5 == 10" in text.split("[stderr]")[0]
    assert "Segmentation fault (core dumped)" in text.split("[stderr]")[1]


def test_a_line_like_no_other_is_kept_where_nothing_failed_and_so_are_both_ends(shown):
    lines = [f"[{number}] Building object {number} of 9000" for number in range(9_000)]
    lines.insert(4_000, "region FLASH resized by board.ld")
    clip = shown("\n".join(lines) + "\n", tokens=500)
    assert "region FLASH resized by board.ld" in clip.text
    assert lines[0] in clip.text
    assert lines[-1] in clip.text
    assert "line 4,001: like no other line" in map(str, clip.why)


def test_the_rest_of_a_line_at_the_edge_of_what_was_lost_is_no_line_like_no_other():
    """It was pinned, and the beginning had no room any more."""
    data = "".join(f"{number}\n" for number in range(1, 300_001)).encode()
    store = FailingStore(MemoryStore(), after_bytes=60_000)
    text = Clipper(store=store).clip(chunked(data, [65_536] * 40)).text
    assert "\n1\n2\n3\n" in text
    assert text.endswith("\n300000\n")


def source_code(functions):
    """A module full of words for what might go wrong, in which nothing has."""
    return [
        line
        for number in range(functions)
        for line in (
            f"def step_{number}(value):",
            f'    """Raises ValueError: step {number} failed, if the value is no number."""',
            "    if not isinstance(value, int):",
            f'        raise ValueError("error: expected a number in step {number}")',
            "    try:",
            f"        return table_{number}[value]",
            "    except KeyError as error:",
            '        raise RuntimeError("fatal: cannot look it up") from error',
            "",
        )
    ]


def test_source_code_is_no_log_however_much_it_speaks_of_failure(shown):
    clip = shown("\n".join(source_code(120)) + "\n", tokens=600)
    assert clip.kind == "source"
    assert not any("fail" in reason.why or "error" in reason.why for reason in clip.why)


def test_what_a_compiler_says_about_code_is_no_source_code(shown):
    said = [
        line
        for number in range(120)
        for line in (
            f"src/a{number}.c:{number}:9: warning: unused variable 'x{number}' [-Wunused-variable]",
            f"    int x{number} = get({number});",
        )
    ]
    error = ["src/b.c:7:5: error: too few arguments to function 'take'", "    take();", "    ^~~~"]
    text = shown("\n".join([*said, *error, *said]) + "\n", tokens=600).text
    assert error[0] in text.splitlines()


def test_an_error_among_more_lines_than_are_ever_looked_at_is_found(shown):
    numbers = [str(number) for number in range(29_000)]
    text = shown("\n".join([*numbers[:20_000], "ERROR: it broke", *numbers[20_000:]]) + "\n", tokens=1_000).text
    assert "ERROR: it broke" in text.splitlines()


def test_every_error_at_a_place_is_named_before_one_is_shown_at_length(shown):
    errors = [
        f"src/part{number}.c:{number}:5: error: no member named 'm{number}' in 'struct box'" for number in range(12)
    ]
    notes = [f"/usr/include/box.h:{number}:1: note: candidate cannot be used: failed to match" for number in range(60)]
    lines = [line for error in errors for line in (error, *notes)]
    text = shown("\n".join(lines) + "\n", tokens=1_000).text
    assert [error for error in errors if error not in text] == []


def test_what_only_looks_like_a_failure_leaves_the_room_to_one(shown):
    lines = [
        f"npm http fetch GET 200 https://registry.example.org/signal-exit/-/signal-exit-3.0.{n}.tgz" for n in range(150)
    ]
    lines += [f"-rw-r--r-- root/root 1{n} ./usr/share/man/man3/backtrace_symbols_fd.{n}.gz" for n in range(150)]
    lines += [f'src/app/views_{n}.py:{n}:        return "not found", 404' for n in range(150)]
    lines += [
        f"tests/test_{n}.py:{n}: DeprecationWarning: clock.now() is deprecated, call clock.utc()" for n in range(150)
    ]
    clip = shown("\n".join(lines), tokens=600)
    words = {"exit code", "exception", "error message", "crash", "killed", "verdict"}
    assert not [reason for reason in clip.why if words & set(reason.why.split("; "))]
    lines.insert(333, "E   sqlite3.OperationalError: no such table: accounts")
    assert lines[333] in shown("\n".join(lines), tokens=600).text


def test_a_family_of_failures_says_how_many_more_there_are(shown):
    lines = []
    for n in range(200):
        lines += [f"____ test_order_{n} ____", "", "    total(order)", ">   return price - discount"]
        lines += [f"E   TypeError: unsupported operand in order {n}", "", f"shop/pricing.py:{n}: TypeError"]
    clip = shown("\n".join([*lines, "200 failed"]), tokens=700)
    assert "more like the next line: lines " in clip.text
    assert re.search(r"E   TypeError: unsupported operand in order \d+\n", clip.text)
    assert re.search(r"shop/pricing.py:\d+: TypeError", clip.text)


def test_no_family_that_outline_names_is_left_out():
    kinds = ["disk is full", "peer went away", "checksum differs", "table is locked", "token has expired"]
    lines = [f"step {n} took {n % 7} s" for n in range(3_000)]
    for nth, kind in enumerate(kinds):
        for copy in range(1 + 40 * nth):
            lines.insert(100 + 450 * nth + 2 * copy, f"ERROR: {kind}, job {copy}")
    clipper = Clipper(Limits(tokens=1_000), store=MemoryStore())
    clip = clipper.clip("\n".join(lines))
    named = clipper.outline(clip.ref).text
    assert [kind for kind in kinds if f"ERROR: {kind}" not in named] == []
    assert [kind for kind in kinds if f"ERROR: {kind}" not in clip.text] == []


def test_equal_lines_stay_folded_although_something_failed_and_there_is_room(shown):
    lines = ["pool: waiting"] * 3_000
    lines[1_700] = "FATAL: too many clients already"
    clip = shown("\n".join(lines), tokens=1_000)
    assert "FATAL: too many clients already" in clip.text
    assert clip.shown.lines < 12
    assert "1,69" in clip.text  # how many more there are


def test_failures_of_one_family_leave_the_room_to_what_explains_one(shown):
    names = [f"tests/test_{word}.py::test_{word}_{how}" for word in "abcdefghij" for how in "klmnopqrst"]
    why = [
        "def connect(url):",
        ">   raise ConnectionError(url)",
        "E   ConnectionError: refused by 10.0.0.7",
        "net.py:3: ConnectionError",
    ]
    lines = [f"FAILED {name} - ConnectionError: refused..." for name in names] + ["100 failed in 2 s"]
    clip = shown("\n".join([*(f"collected {n}" for n in range(99)), *why, *lines]), tokens=700)
    assert all(line in clip.text for line in why)
    assert clip.text.count("FAILED ") < 40


def test_names_that_sound_like_failures_leave_the_room_to_one(shown):
    lines = [f"fetched signal-exit-3.0.{n}.tgz" for n in range(99)] + [
        f"man3/backtrace_symbols_fd.{n}.gz" for n in range(99)
    ]
    lines += [f'app.py:{n}:    return "not found", 404' for n in range(99)]
    lines += ["test_rates FAILED", "E   AssertionError: rate is 3, expected 4"]
    lines += [f"x.py:{n}: DeprecationWarning: utcnow() is deprecated; errors will be raised" for n in range(99)]
    clip = shown("\n".join(lines), tokens=400)
    assert "test_rates FAILED\nE   AssertionError: rate is 3, expected 4" in clip.text
    for often in ("signal-exit", "backtrace", "not found", "DeprecationWarning"):
        assert clip.text.count(often) < 15


@pytest.mark.parametrize("tokens", range(150, 320, 25))
def test_an_error_is_shown_within_any_small_limit(tokens):
    """Once, with 200 to 290 tokens, no room that fits was found in ten tries, and both ends were shown instead."""
    log = [f"cc -Werror -c -o mod_{n}.o mod_{n}.c" for n in range(3_000)]
    log[1_700] += "\nmod_1700.c:12:5: error: expected ';' before '}' token\n   12 | int main("
    clip = Clipper(Limits(tokens=tokens), store=MemoryStore(), hints="tools").clip("\n".join(log))
    assert "error: expected ';'" in clip.text

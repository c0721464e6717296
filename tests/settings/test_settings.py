"""Settings: immutable, and checked when they are made."""

import sys

import pytest

from spillover import Budget, Retention
from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.kinds.selection import Span
from spillover.notice.hints import CLI, PATH
from spillover.settings.limits import Limits
from spillover.settings.settings import Settings
from spillover.store.memory import MemoryStore

BIG = "".join(f"line {number}\n" for number in range(1, 5_001))


def settings(**given):
    return Settings(store=MemoryStore(), **given)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"keep": "middle"},
            "keep='middle' is not valid; use auto, signal, head, ends, tail or a selector.",
        ),
        ({"cap": 0}, "cap=0 is not valid; use a number of bytes, e.g. cap=500_000_000."),
        ({"cap": "2 GB"}, "cap='2 GB' is not valid; use a number of bytes"),
        ({"cap": True}, "cap=True is not valid"),
        ({"limits": 4_000}, "limits=4000 is not valid; use Limits, e.g. Limits(tokens=4_000)."),
        (
            {"limits": Limits(tokens=100), "tokenizer": lambda text: 9 * len(text)},
            "leaves no room for the notice, as your tokenizer counts",
        ),
        ({"hints": "telepathy"}, "'telepathy' is not a hint"),
        ({"hints": None}, "None is not a hint; use cli, tools, path"),
        ({"hints": ["cli", 3]}, "3 is not a hint"),
        ({"raw": "no"}, "raw='no' is not valid; use True or False."),
        ({"rules": ["bash"]}, "rules=['bash'] is not valid; map names of tools to settings, e.g. {"),
        ({"rules": {"bash*": "tail"}}, "the rule for 'bash*' is not settings by name; use e.g. {"),
        ({"rules": {"bash*": {"colour": "red"}}}, "the rule for 'bash*' has 'colour'"),
        ({"rules": {"bash*": {"keep": "middle"}}}, "is not valid"),
        ({"rules": {"bash*": {"rules": {}}}}, "a rule may set"),
    ],
)
def test_a_wrong_choice_fails_when_it_is_made_and_says_what_to_do(wrong, told):
    with pytest.raises(UsageError) as caught:
        settings(**wrong)
    assert told in str(caught.value)


def test_a_choice_is_varied_by_copying():
    first = settings(limits=Limits(lines=40))
    second = first.but(keep="tail", hints="cli")
    assert (first.keep, first.hints) == ("auto", (PATH,))
    assert (second.keep, second.hints, second.limits) == ("tail", (CLI,), Limits(lines=40))


RULES = {
    "bash_quiet": {"keep": "head"},
    "bash*": {"keep": "tail", "limits": Limits(lines=20)},
    "read_*": {"clip": False},
    "*_page": {"hints": "none"},
}


@pytest.mark.parametrize(
    ("tool", "keep", "lines"),
    [
        ("bash", "tail", 20),
        ("bash_quiet", "head", 60),  # the first rule that fits, and no other
        ("bash.sh", "tail", 20),
        ("BASH", "auto", 60),  # names are names: capitals matter
        ("web", "auto", 60),
    ],
)
def test_the_first_rule_whose_pattern_fits_the_tool_holds(tool, keep, lines):
    ruled = settings(limits=Limits(lines=60), rules=RULES).for_call(tool)
    assert (ruled.keep, ruled.limits) == (keep, Limits(lines=lines))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tool": 3}, "tool=3 is not the name of a tool."),
        ({"query": 3}, "query must be text"),
        ({"since": ""}, "since='' is not valid"),
        ({"call_id": [1]}, "call_id=[1] is not text"),
    ],
)
def test_a_wrong_fact_of_a_call_is_refused_before_any_work_is_done(wrong, told):
    with pytest.raises(UsageError) as caught:
        Clipper(store=MemoryStore()).clip(iter([]), **wrong)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"budget": 3}, "budget=3 is not a Budget; use e.g. Budget(200_000)."),
        ({"colour": "red"}, "'colour' is not an option of a Clipper; use limits, "),
        ({"tokens": 500}, "'tokens' is not an option of a Clipper; use limits=Limits(tokens=...)."),
        ({"settings": "x"}, "settings='x' is not Settings"),
    ],
)
def test_a_clipper_refuses_what_is_no_option_of_it(wrong, told):
    with pytest.raises(UsageError) as caught:
        Clipper(store=MemoryStore(), **wrong)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("tool", "alone"), [("read_file", True), ("reads", False), ("read_page", True), ("tool", False)]
)
def test_a_rule_can_leave_a_tool_alone(tool, alone):
    assert settings(rules=RULES).leaves_alone(tool) is alone


def test_a_rule_reaches_the_clip_and_the_ref():
    clipper = Clipper(Limits(lines=60), store=MemoryStore(), rules=RULES)
    clip = clipper.clip(BIG, tool="bash")
    assert clip.ref.startswith("bash-")
    assert clip.ranges[-1][1] == 5_000
    assert len(clip.ranges) == 1
    assert clip.text.count("\n") <= 20
    assert clipper.clip(BIG, tool="web").ref.startswith("web-")


def test_a_selector_of_your_own_may_choose_any_spans_and_ask_what_fits():
    asked = []

    def middle(document, fill):
        start, end = document.start(2_500), document.start(2_503)
        asked.append(fill([Span(start, end)]))
        return [Span(start, end)]

    clip = Clipper(Limits(lines=20), keep=middle, store=MemoryStore()).clip(BIG)
    assert "line 2500\nline 2501\nline 2502\n" in clip.text
    assert clip.ranges == ((2_500, 2_502),)
    assert asked[0] <= 1


@pytest.mark.usefixtures("selectors_may_fail")
@pytest.mark.parametrize(
    "selector",
    [
        lambda document, fill: [Span(0, document.size)],  # asks for everything
        lambda document, fill: [Span(-5, 10**9), Span(50, 20)],  # and for what is not there
        lambda document, fill: [],
        lambda document, fill: 1 / 0,
    ],
)
def test_a_selector_that_errs_does_not_fail_the_tool_call(selector):
    limits = Limits(lines=20)
    clip = Clipper(limits, keep=selector, store=MemoryStore()).clip(BIG)
    assert clip.outcome == "stored"
    assert clip.ranges
    assert limits.hold(clip.text, len)


def test_a_counter_that_fails_does_not_fail_the_tool_call():
    def counts(text):
        if "line 4999" in text:
            raise RuntimeError("out of vocabulary")
        return len(text)

    clip = Clipper(Limits(tokens=900), tokenizer=counts, store=MemoryStore()).clip(BIG)
    assert clip.outcome == "stored"
    assert len(clip.text) <= 900


@pytest.mark.parametrize("wrong", [{"outputs": ["a"]}, {"outputs": {"a": "b"}, "tools": 5}])
def test_outputs_without_keys_are_refused(wrong):
    with pytest.raises(UsageError, match="clip_many takes outputs by key"):
        Clipper(store=MemoryStore()).clip_many(**wrong)


def test_a_wrong_input_is_refused_before_the_command_runs(tmp_path):
    with pytest.raises(UsageError, match="input=5 is not text or bytes"):
        Clipper(store=MemoryStore()).run(["touch", str(tmp_path / "ran")], input=5)
    assert not (tmp_path / "ran").exists()


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Limits(token=500), "Limits has no option 'token'; use lines, bytes, chars, tokens."),
        (lambda: Limits(500), "Limits takes its options by name; use lines,"),
        (lambda: Retention(days=7), "Retention has no option 'days'; use age_seconds, bytes, count,"),
        (lambda: Settings(tokens=500), "Settings has no option 'tokens'; use limits, keep,"),
        (lambda: Settings(keep=Unspeakable()), "keep=an object of Unspeakable is not valid; use auto,"),
        (lambda: Settings(store=Unspeakable()), "store=an object of Unspeakable is not a store"),
        (lambda: Limits(lines=Unspeakable()), "Limits(lines=an object of Unspeakable) is not a whole number."),
        (lambda: Clipper(settings=Unspeakable()), "settings=an object of Unspeakable is not Settings"),
        (lambda: Retention(count=Unspeakable()), "Retention(count=an object of Unspeakable) is not a limit"),
    ],
)
def test_wrong_options_are_named_even_if_they_have_no_repr(make, said):
    with pytest.raises(UsageError) as caught:
        make()
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "make",
    [
        lambda value: Limits(lines=value),
        lambda value: Limits(lines=-(10**6_000)),
        lambda value: Settings(store=f"ftp://{value}"),
        lambda value: Settings(tokenizer=value),
        lambda value: Settings(rules={"x": {value: 1}}),
        lambda value: Settings(rules={f"a {value}": {"clip": False}}),
        lambda value: Settings(rules={"x": {"cap": value}}),
        lambda value: Settings(since=[value]),
    ],
)
def test_a_message_quoted_a_value_of_100_kb(make):
    with pytest.raises(UsageError) as caught:
        make("x" * 100_000)
    assert len(str(caught.value)) < 500


def test_a_tool_that_a_rule_leaves_alone_returned_135000_tokens_through_clip():
    budget = Budget(20_000)
    text = "password=hunter2x9 and more words\n" * 9_000
    clipper = Clipper(
        Limits(tokens=500), store=MemoryStore(), budget=budget, redact="shown", rules={"own": {"clip": False}}
    )
    clip = clipper.clip(text, tool="own")
    assert clip.outcome == "stored"
    assert clip.total.tokens > clipper.settings.count(clip.text) <= 500
    used = budget.used
    shown = clipper.wrap(lambda: text[:2_000], tool="own")()
    assert "hunter2x9" not in shown
    assert len(shown.splitlines()) == len(text[:2_000].splitlines()), "it bounds itself: only its secrets are covered"
    assert budget.used == used + clipper.settings.count(shown)


@pytest.mark.parametrize("name", ["on_progress", "cancel"])
def test_a_callback_that_raises_ended_the_run(name, caplog):
    def fail(*_):
        raise RuntimeError("mine")

    run = Clipper(store=MemoryStore()).run(
        [sys.executable, "-c", "import time; print('done', flush=True); time.sleep(1.2)"], **{name: fail}
    )
    assert (run.exit_code, run.clip.text) == (0, "done\n")
    assert f"The {name} of a run failed: RuntimeError: mine" in caplog.text

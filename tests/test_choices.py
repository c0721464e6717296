"""All choices about how to clip, checked when they are made."""

import pytest
from msgspec.structs import replace

from spillover.choices import Choices
from spillover.clipper import Clipper
from spillover.errors import UsageError
from spillover.notice.hints import CLI, PATH
from spillover.select.span import Span
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore

BIG = "".join(f"line {number}\n" for number in range(1, 5_001))


def choices(**given):
    return Choices(store=MemoryStore(), **given)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"keep": "middle"},
            "keep='middle' is not valid; use auto, signal, head, ends, tail or a selector.",
        ),
        ({"cap": 0}, "cap=0 would store nothing"),
        ({"cap": "2 GB"}, "cap='2 GB' is not a number of bytes, e.g. cap=500_000_000."),
        ({"cap": True}, "cap=True is not a number of bytes"),
        ({"limits": 4_000}, "limits and trigger must be Limits"),
        ({"trigger": 4_000}, "limits and trigger must be Limits"),
        ({"limits": Limits(lines=50), "trigger": Limits(lines=40)}, "trigger has 40 lines, the limits 50"),
        (
            {"limits": Limits(tokens=100), "tokenizer": lambda text: 9 * len(text)},
            "leaves no room for the notice, as your tokenizer counts",
        ),
        ({"hints": "telepathy"}, "'telepathy' is not a hint"),
        ({"hints": None}, "None is not a hint; use cli, tools, path"),
        ({"hints": ["cli", 3]}, "3 is not a hint"),
        ({"raw": "no"}, "raw='no' is not valid; use True or False."),
        ({"tool": 3}, "tool=3 is not the name of a tool."),
        ({"budget": 3}, "budget=3 is not a Budget; use e.g. Budget(200_000)."),
        ({"rules": ["bash"]}, "rules must map names of tools to choices, e.g. {"),
        ({"rules": {"bash*": "tail"}}, "the rule for 'bash*' is not choices by name; use e.g. {"),
        ({"rules": {"bash*": {"colour": "red"}}}, "the rule for 'bash*' has 'colour'"),
        ({"rules": {"bash*": {"keep": "middle"}}}, "is not valid"),
        ({"rules": {"bash*": {"rules": {}}}}, "a rule may set"),
    ],
)
def test_a_wrong_choice_fails_when_it_is_made_and_says_what_to_do(wrong, told):
    with pytest.raises(UsageError) as caught:
        choices(**wrong)
    assert told in str(caught.value)


def test_a_choice_is_varied_by_copying():
    first = choices(limits=Limits(lines=40))
    second = replace(first, keep="tail", hints="cli")
    assert (first.keep, first.ways) == ("auto", (PATH,))
    assert (second.keep, second.ways, second.limits) == ("tail", (CLI,), Limits(lines=40))


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
        (None, "auto", 60),
    ],
)
def test_the_first_rule_whose_pattern_fits_the_tool_holds(tool, keep, lines):
    ruled = choices(limits=Limits(lines=60), rules=RULES).for_tool(tool)
    assert (ruled.keep, ruled.limits) == (keep, Limits(lines=lines))


def test_a_rule_is_for_the_name_that_was_given_also_when_it_is_the_clippers_own():
    assert choices(rules=RULES, tool="bash").for_tool(None).keep == "tail"
    assert choices(rules=RULES, tool="bash").for_tool("web").tool == "web"


@pytest.mark.parametrize(("tool", "alone"), [("read_file", True), ("reads", False), ("read_page", True), (None, False)])
def test_a_rule_can_leave_a_tool_alone(tool, alone):
    assert choices(rules=RULES).leaves_alone(tool) is alone


def test_a_rule_reaches_the_clip_and_the_ref():
    clipper = Clipper(Limits(lines=60), store=MemoryStore(), rules=RULES)
    clip = clipper.clip(BIG, tool="bash")
    assert clip.ref.startswith("bash-")
    assert clip.ranges[-1][1] == 5_000
    assert len(clip.ranges) == 1
    assert clip.text.count("\n") <= 20
    assert clipper.clip(BIG, tool="web").ref.startswith("web-")


def test_nothing_is_cut_below_the_trigger_and_above_it_down_to_the_limits():
    clipper = Clipper(Limits(lines=10), trigger=Limits(lines=100), store=MemoryStore())
    at, over = "x\n" * 100, "x\n" * 101
    assert clipper.clip(at).text == at
    assert clipper.clip(over).outcome == "stored"
    assert clipper.clip(over).text.count("\n") <= 10


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

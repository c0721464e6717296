"""The budget: true sums, limits that stay within the window, the same for the same call; under threads and in async code.

Numbers and names of cases: seed 004 ("Token Budget Manager", "Testing", "Configuration", "Dynamic Token Limits").
"""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from spillover import Budget, Clipper, Limits, MemoryStore, UsageError
from spillover.budget import COMPONENTS, MAX_DECISIONS
from spillover.errors import ConfigError
from spillover.profiles import klaude
from spillover.settings.limits import SMALLEST
from spillover.settings.load import load
from spillover.tokens import estimate

LEAST = SMALLEST["tokens"]
TOOL = Limits(tokens=25_000)


def filled(share, window=100_000, **choices):
    budget = Budget(window, **choices)
    budget.add("user", round(share * window))
    return budget


# ── counting and components ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_budget_starts_empty_with_the_window_of_the_document():
    budget = Budget()
    assert (budget.window, budget.used, budget.promised, budget.left, budget.usage) == (128_000, 0, 0, 128_000, 0.0)
    assert (budget.level, budget.components) == ("ok", dict.fromkeys(COMPONENTS, 0))


def test_each_component_is_tracked_by_itself():  # seed 004: test_component_tracking
    budget = Budget()
    for tokens, component in enumerate(COMPONENTS, 1):
        assert budget.add(component, tokens * 100) == tokens * 100
    assert budget.components == {"system": 100, "user": 200, "assistant": 300, "tool_results": 400}
    assert budget.used == 1_000


def test_text_is_counted_as_chosen():  # seed 004: test_token_counting
    assert Budget().add("user", "Hello, world!") == estimate("Hello, world!")
    assert Budget(tokenizer="o200k_base").add("user", "hello world") == 2
    assert Budget(tokenizer="model:gpt-4o").add("user", "hello world") == 2
    assert Budget(tokenizer=len).add("user", "hello world") == 11


def test_tokens_are_taken_out_again_and_never_more_than_there_are():  # seed 004: test_token_deduction
    budget = Budget()
    budget.add("tool_results", 500)
    assert budget.deduct("tool_results", 200) == 200
    assert budget.used == 300
    assert budget.deduct("tool_results", 1_000) == 300
    assert budget.components["tool_results"] == 0


def test_usage_follows_another_window():  # seed 004: test_usage_ratio_updates_with_config_changes
    budget = filled(0.5)
    assert budget.usage == 0.5
    budget.resize(200_000)
    assert budget.usage == 0.25
    budget.resize(50_000)
    assert (budget.usage, budget.level, budget.left) == (1.0, "alert", 0)


def test_a_reset_forgets_what_was_used_promised_and_decided():
    budget = filled(0.9)
    before = budget.limits(TOOL, call_id="a")
    budget.reset()
    assert (budget.used, budget.promised, budget.level) == (0, 0, "ok")
    assert budget.limits(TOOL, call_id="a") != before


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Budget(0), "no room for one call; use 100 or more"),
        (lambda: Budget(99), "no room for one call; use 100 or more"),
        (lambda: Budget(True), "window=True is not a whole number"),
        (lambda: Budget(1e5), "window=100000.0 is not a whole number"),
        (lambda: Budget(tokenizer="words"), "is unknown"),
        (lambda: Budget(warning=0.9), "shares of the window"),
        (lambda: Budget(on_level="print"), "on_level must be a function that gets the new level"),
        (lambda: Budget().resize(-1), "window=-1 is not a whole number"),
        (lambda: Budget().add("tools", 1), "use one of system, user, assistant, tool_results"),
        (lambda: Budget().deduct("", 1), "use one of system"),
        (lambda: Budget().add("user", -1), "tokens=-1 is not a whole number of 0 to 1,000,000,000,000"),
        (lambda: Budget().add("user", b"x"), "tokens=b'x' is not a whole number"),
        (lambda: Budget().count(b"x"), "takes a str, not bytes"),
        (lambda: Budget().limits(max_tokens="100"), "max_tokens='100' is not a whole number"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(call, said):
    with pytest.raises(UsageError, match=said):
        call()


def test_a_callback_that_fails_does_not_fail_the_call_and_is_logged(caplog):
    budget = Budget(1_000, on_level={}.__getitem__)
    budget.add("user", 700)
    clip = Clipper(Limits(tokens=250), keep="tail", store=MemoryStore(), budget=budget).clip("a word on a line\n" * 200)
    assert (clip.outcome, budget.level) == ("stored", "alert")
    assert caplog.messages[0] == "The on_level of a Budget failed: KeyError: 'warning'"


# ── levels ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("used", "level"),
    [(0, "ok"), (74_999, "ok"), (75_000, "warning"), (84_999, "warning"), (85_000, "alert"), (200_000, "alert")],
)
def test_the_levels_are_at_75_and_85_percent(used, level):  # seed 004: test_threshold_detection
    budget = Budget(100_000)
    budget.add("user", used)
    assert budget.level == level


def test_each_level_is_told_once_when_it_is_reached_and_again_after_a_fall():
    told = []
    budget = Budget(1_000, on_level=told.append)
    steps = [("add", 700), ("add", 60), ("add", 10), ("add", 100), ("deduct", 200), ("add", 300)]
    heard = []
    for verb, tokens in steps:
        getattr(budget, verb)("user", tokens)
        heard.append(tuple(told))
        told.clear()
    assert heard == [(), ("warning",), (), ("alert",), (), ("warning", "alert")]


def test_a_smaller_window_can_reach_a_level_too_and_a_reset_reaches_none():
    told = []
    budget = Budget(1_000, on_level=told.append)
    budget.add("user", 500)
    budget.resize(600)
    budget.reset()
    budget.add("user", 600)
    assert told == ["warning", "warning", "alert"]


def test_whoever_is_told_may_use_the_budget():
    budget = Budget(1_000, on_level=lambda level: budget.deduct("user", 500))
    budget.add("user", 800)
    assert (budget.used, budget.level) == (300, "ok")


def test_other_thresholds_can_be_chosen():
    assert filled(0.4, warning=0.3, alert=0.5).level == "warning"


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("usage", "tokens"),  # seed 004, "Dynamic Token Limits"; on a window large enough for any of them
    [(0, 35_000), (0.499, 35_000), (0.5, 25_000), (0.65, 25_000), (0.8, 25_000), (0.801, 15_000), (0.95, 15_000)],
)
def test_a_call_gets_its_limit_by_how_full_the_window_is(usage, tokens):
    assert filled(usage, 1_000_000, stretch=1.4).limits(TOOL).tokens == tokens
    assert filled(usage, 1_000_000, stretch=1.4).limits().tokens == tokens
    assert filled(usage, 1_000_000).limits(TOOL).tokens == min(tokens, 25_000), (
        "a limit is a ceiling, but for a profile"
    )


@given(
    st.integers(1, 60_000),
    st.floats(0, 2),
    st.none() | st.integers(0, 90_000),
    st.sampled_from([None, "a", "b"]),
    st.integers(100, 50_000),
)
def test_no_call_gets_more_than_the_limit_that_somebody_set(tokens, usage, asked, call_id, other):
    budget = filled(usage)
    budget.limits(Limits(tokens=other), call_id="a")
    assert budget.limits(Limits(tokens=tokens), call_id=call_id, max_tokens=asked).tokens <= tokens


@pytest.mark.parametrize(
    ("used", "tokens"),
    [(80_000, 20_000), (90_000, 10_000), (99_800, 200), (99_950, LEAST), (100_000, LEAST), (10**9, LEAST)],
)
def test_a_window_that_is_full_bounds_most_of_all(used, tokens):
    assert filled(used / 100_000).limits(TOOL).tokens == tokens


def test_the_other_limits_stay_as_they_were():
    base = Limits(lines=50, bytes=9_000, chars=8_000, tokens=10_000)
    assert filled(0.6).limits(base) == base
    assert filled(0.1).limits(base) == base
    assert filled(0.6).limits(Limits(lines=50)) == Limits(lines=50, tokens=25_000)


@pytest.mark.parametrize(("asked", "tokens"), [(1, LEAST), (2_000, 2_000), (50_000, 25_000)])
def test_a_call_may_ask_for_less_but_not_for_more(asked, tokens):  # seed 004: max_tokens per call
    assert Budget().limits(TOOL, max_tokens=asked).tokens == tokens


def test_a_larger_smallest_limit_can_be_chosen():
    assert filled(1, smallest=500).limits(TOOL).tokens == 500


def test_the_same_call_gets_the_same_limit_whatever_happened_since():
    budget = Budget(100_000)
    first = budget.limits(TOOL, call_id="a")
    budget.add("tool_results", 30_000, call_id="a")
    budget.add("user", 69_000)
    assert budget.limits(TOOL, call_id="b").tokens == 1_000
    assert budget.limits(TOOL, call_id="a") == first
    assert budget.promised == 1_000, "a call that has its result is promised nothing more"


def test_calls_at_the_same_time_are_not_promised_the_same_tokens():
    budget = Budget(100_000)
    given = [budget.limits(TOOL, call_id=str(number)).tokens for number in range(6)]
    assert given == [25_000, 25_000, 25_000, 25_000, LEAST, LEAST]
    assert budget.left == 0


def test_a_promise_ends_with_the_result_or_when_it_is_released():
    budget = Budget(100_000)
    budget.limits(TOOL, call_id="a")
    budget.limits(TOOL, call_id="b")
    assert budget.promised == 50_000
    budget.add("tool_results", 1_000, call_id="a")
    assert (budget.used, budget.promised) == (1_000, 25_000)
    budget.release("b")
    budget.release("unknown")
    assert (budget.used, budget.promised, budget.left) == (1_000, 0, 99_000)


def test_a_call_without_an_id_is_promised_nothing():
    budget = Budget()
    budget.limits(TOOL)
    assert budget.promised == 0


def test_decisions_are_bounded_and_the_oldest_goes_with_its_promise():
    budget = Budget(10**9)
    for number in range(MAX_DECISIONS + 1):
        budget.limits(TOOL, call_id=str(number))
    assert len(budget._decided) == len(budget._promised) == MAX_DECISIONS
    assert "0" not in budget._decided
    assert str(MAX_DECISIONS) in budget._decided


# ── with a Clipper ───────────────────────────────────────────────────────────────────────────────────────────────────

LOG = "".join(f"{number} compiled src/module_{number}.c\n" for number in range(20_000))


def test_what_a_call_adds_is_within_what_it_was_promised():
    budget, clipper = Budget(50_000), Clipper(TOOL, store=MemoryStore())
    sizes = []
    for number in range(5):
        call = str(number)
        clip = clipper.but(budget.limits(TOOL, call_id=call)).clip(LOG, call_id=call)
        sizes.append((budget.promised, budget.add("tool_results", clip.text, call_id=call)))
    assert all(taken <= promised for promised, taken in sizes)
    assert budget.used <= budget.window + LEAST * len(sizes)
    again = clipper.but(budget.limits(TOOL, call_id="0")).clip(LOG)
    assert estimate(again.text) == sizes[0][1]


def test_a_rule_for_the_tool_comes_first_and_the_budget_after_it():
    rules = {"bash": {"limits": Limits(tokens=1_000), "keep": "tail"}}
    clipper = Clipper(TOOL, store=MemoryStore(), rules=rules, budget=filled(0.9))
    ruled = clipper.call("bash").within_budget()
    assert (ruled.limits.tokens, ruled.settings.keep, ruled.tool) == (600, "tail", "bash")
    assert clipper.call("other").within_budget().limits.tokens == 10_000


def test_a_budget_that_is_tied_to_a_clipper_is_asked_and_told_by_every_call():
    budget = Budget(10_000)
    clipper = Clipper(Limits(tokens=4_000), keep="ends", store=MemoryStore(), hints="tools", budget=budget)
    clips = [clipper.clip(LOG) for _ in range(4)]
    sizes = [estimate(clip.text) for clip in clips]
    assert budget.used == sum(sizes) <= 10_000 + LEAST
    assert (sizes[0] > 3_000, sizes[-1] <= LEAST) == (True, True)
    assert budget.promised == 0, "what a call did not take is free again"
    budget.deduct("tool_results", 9_000)
    used = budget.used
    answer = clipper.tools()[1](clips[0].ref, "compiled")
    assert budget.used - used == estimate(answer) <= 10_000 - used


def test_the_same_call_gets_the_same_text_from_a_tied_budget():
    budget = Budget(5_000)
    clipper = Clipper(Limits(tokens=4_000), store=MemoryStore(), budget=budget)
    first = clipper.clip(LOG, call_id="a").text
    assert estimate(clipper.clip(LOG, call_id="b").text) < 1_500
    assert clipper.clip(LOG, call_id="a").text == first


def test_a_trigger_lets_nothing_pass_that_is_above_the_promise():
    form = replace(klaude.form(), trigger=Limits(tokens=10_000, lines=10**6))
    clipper = Clipper(Limits(tokens=2_000), wording=form, store=MemoryStore(), budget=filled(0.9))
    assert clipper.call().within_budget().trigger == Limits(tokens=1_200, lines=10**6)
    assert estimate(clipper.clip(LOG[:20_000]).text) <= 1_200


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-sonnet-4", "gemini-2.5-pro", "gpt-4o", "nobody-knows"])
def test_the_smallest_limit_can_be_used_with_the_counter_of_every_model(model):
    budget = filled(1, tokenizer=f"model:{model}")
    clipper = Clipper(TOOL, tokenizer=f"model:{model}", store=MemoryStore(), budget=budget)
    clip = clipper.clip(LOG, call_id="a")
    assert clipper.settings.count(clip.text) <= LEAST


# ── the environment ──────────────────────────────────────────────────────────────────────────────────────────────────

BOTH = ("VTCODE_CONTEXT_TOKEN_LIMIT", "SPILLOVER_CONTEXT_TOKENS")


@pytest.mark.parametrize(
    ("environ", "variables", "window"),
    [
        ({}, BOTH, 128_000),
        ({"SPILLOVER_CONTEXT_TOKENS": "100000"}, BOTH[1:], 100_000),
        ({"SPILLOVER_CONTEXT_TOKENS": " 200_000 "}, BOTH, 200_000),
        ({"SPILLOVER_CONTEXT_TOKENS": ""}, BOTH, 128_000),
        ({"VTCODE_CONTEXT_TOKEN_LIMIT": "100000"}, BOTH[1:], 128_000),  # only who asks for it honours it
        ({"VTCODE_CONTEXT_TOKEN_LIMIT": "100000"}, BOTH, 100_000),  # seed 004, "Environment Variables"
        ({"VTCODE_CONTEXT_TOKEN_LIMIT": "100000", "SPILLOVER_CONTEXT_TOKENS": "5000"}, BOTH, 100_000),
    ],
)
def test_the_environment_decides_on_the_window(monkeypatch, environ, variables, window):
    for name in BOTH:
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert Budget.from_env(variables=variables).window == window


def test_a_window_that_is_given_holds_where_the_environment_says_nothing(monkeypatch):
    assert Budget.from_env(64_000, tokenizer=len).window == 64_000
    monkeypatch.setenv("SPILLOVER_CONTEXT_TOKENS", "32000")
    assert Budget.from_env(64_000, tokenizer=len).window == 32_000


@pytest.mark.parametrize("value", ["128k", "0", "-1", "1e5", "x" * 9_999])
def test_a_window_that_is_no_number_is_refused_by_the_variables_name(monkeypatch, value):
    monkeypatch.setenv("SPILLOVER_CONTEXT_TOKENS", value)
    with pytest.raises(ConfigError, match=r"SPILLOVER_CONTEXT_TOKENS=.* use one such as 128000") as caught:
        Budget.from_env()
    assert len(str(caught.value)) < 200


def test_the_variable_is_no_mistake_to_the_settings():
    assert load(environ={"SPILLOVER_CONTEXT_TOKENS": "1000", "HOME": "/nowhere"})


# ── threads and async ────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_threads_lose_no_token_and_tell_each_level_once():
    told = []
    budget = Budget(16_000, on_level=told.append)
    start = threading.Barrier(16)

    def work(number):
        start.wait()
        for step in range(1_000):
            budget.add(COMPONENTS[step % 4], 1)
            budget.count(f"{number % 4} {step % 50}")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    assert budget.components == dict.fromkeys(COMPONENTS, 4_000)
    assert told == ["warning", "alert"]


def test_many_threads_are_never_promised_more_than_the_window():
    budget = Budget(100_000)
    start = threading.Barrier(16)

    def work(number):
        start.wait()
        return [budget.limits(Limits(tokens=1_000), call_id=f"{number // 2} {step}").tokens for step in range(50)]

    with ThreadPoolExecutor(16) as pool:
        given = list(pool.map(work, range(16)))
    assert all(given[number] == given[number + 1] for number in range(0, 16, 2)), "each call was asked for twice"
    promised = sum(tokens for row in given[::2] for tokens in row)
    assert promised == budget.promised
    assert sum(tokens for row in given[::2] for tokens in row if tokens > LEAST) <= 100_000


async def test_async_calls_share_it_too():
    budget, clipper = Budget(20_000), Clipper(Limits(tokens=1_000), store=MemoryStore())

    async def call(number):
        limits = budget.limits(Limits(tokens=1_000), call_id=str(number))
        clip = await clipper.but(limits).aclip(LOG)
        return budget.add("tool_results", budget.count(clip.text), call_id=str(number))

    taken = await asyncio.gather(*(call(number) for number in range(12)))
    assert (budget.used, budget.promised) == (sum(taken), 0)
    assert budget.used <= budget.window


# ── properties ───────────────────────────────────────────────────────────────────────────────────────────────────────


@given(
    st.integers(LEAST, 10**6),
    st.integers(0, 2 * 10**6),
    st.integers(LEAST, 10**6),
    st.none() | st.integers(0, 10**6),
)
def test_no_limit_is_above_what_is_left_or_below_the_smallest(window, used, normal, most):
    budget = Budget(window)
    budget.add("user", used)
    tokens = budget.limits(Limits(tokens=normal), max_tokens=most).tokens
    assert LEAST <= tokens <= max(LEAST, min(window - used, round(1.4 * normal), *([] if most is None else [most])))


class Conversation(RuleBasedStateMachine):
    """Calls that come, end, fail and are asked for again, in any order."""

    calls = Bundle("calls")

    def __init__(self):
        super().__init__()
        self.budget = Budget(10_000)
        self.first, self.small, self.other = {}, set(), 0

    @rule(target=calls, call=st.text(max_size=2), normal=st.integers(LEAST, 20_000))
    def decide(self, call, normal):
        left = self.budget.left
        tokens = self.budget.limits(Limits(tokens=normal), call_id=call).tokens
        if call not in self.first:
            assert tokens <= max(left, LEAST)
            self.small |= {call} if tokens > left else set()
        assert min(self.first.setdefault(call, tokens), normal) == tokens
        return call

    @rule(call=calls, part=st.floats(0, 1))
    def settle(self, call, part):
        if call in self.budget._promised:
            self.budget.add("tool_results", int(self.first[call] * part), call_id=call)
            assert call not in self.budget._promised

    @rule(call=calls)
    def fail(self, call):
        self.budget.release(call)

    @invariant()
    def the_window_holds(self):
        assert self.budget.used + self.budget.promised <= self.budget.window + LEAST * len(self.small)
        assert self.budget.used == sum(self.budget.components.values())


TestConversation = Conversation.TestCase


@pytest.mark.parametrize(
    "wrong", [{"window": 10**400}, {"stretch": float("inf")}, {"stretch": "2"}, {"warning": "x"}, {"alert": None}]
)
def test_a_number_that_no_window_has_is_refused_when_the_budget_is_made(wrong):
    """`Budget(10**400)` was made, and every clip after it raised an OverflowError."""
    with pytest.raises(UsageError):
        Budget(**wrong)


@pytest.mark.parametrize("wrong", [{"base": 5}, {"call_id": []}])
def test_limits_are_asked_for_by_limits_and_the_id_of_a_call(wrong):
    with pytest.raises(UsageError, match="limits\\(\\) takes Limits"):
        Budget().limits(**wrong)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, UsageError])
def test_a_call_that_ends_while_its_output_is_published_leaves_no_promise(monkeypatch, failure):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr("spillover.kinds.cut.fit", fail)
    budget = Budget(50_000)
    with pytest.raises(failure):
        Clipper(TOOL, store=MemoryStore(), budget=budget).clip(LOG)
    assert budget.promised == 0

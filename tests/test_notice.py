"""Every word the model reads that is not the output itself."""

import shlex

import pytest
from msgspec.structs import replace

from spillover import Clipper, DirStore, Limits, MemoryStore, Retention
from spillover.cli.parsing import build_parser
from spillover.errors import RefError, UsageError
from spillover.kinds.selection import Hidden
from spillover.notice.hints import CLI, PATH, TOOLS, Hint, file_tools, hints, next_call, search_call, sub_agent
from spillover.notice.render import Facts, Gap, Storage, marker, notice
from spillover.notice.wording import REASON_CHARS, Wording, one_line, shorten_reason
from spillover.store.scopes import ScopedStore

REF = "bash-7f3a9c2e41d0"
WHERE = "/out/bash-7f3a9c2e41d0.txt"
LINES = Gap(61, 20_410, 3_001, 900_000)
BYTES = Gap(7, 7, 4_001, 90_000, whole_lines=False)
FACTS = Facts(
    lines=50_112,
    bytes=5_000_000,
    tokens=1_250_000,
    shown_lines=1_214,
    shown_bytes=9_000,
    gap=LINES,
    storage=Storage(ref=REF, path=WHERE),
)


def lost(reason):
    return replace(FACTS, storage=Storage(reason=reason))


def stored(**storage):
    return replace(FACTS, storage=replace(FACTS.storage, **storage))


LOST = lost("No space left on device")


@pytest.mark.parametrize(
    ("chosen", "steps"),
    [
        ("none", ""),
        ("path", ""),
        ("cli", f"spill outline {REF} · spill grep {REF} PATTERN · spill read {REF} 61:160"),
        (
            "tools",
            f'outline_output("{REF}") · grep_output("{REF}", PATTERN) · read_output("{REF}", lines="61:160")',
        ),
        ("files:Read,Grep", f"Grep PATTERN in {WHERE} · Read {WHERE} offset=61 limit=100"),
        ("files", f"Grep PATTERN in {WHERE} · Read {WHERE} offset=61 limit=100"),
        ("agent:Task", f"have Task look through {WHERE} and report what matters"),
        (["path", "cli"], f"spill outline {REF} · spill grep {REF} PATTERN · spill read {REF} 61:160"),
        (Hint(lines="open {path} at {first}"), f"open {WHERE} at 61"),
    ],
)
def test_the_next_step_names_only_what_the_reader_has(chosen, steps):
    said = notice(FACTS, hints(chosen))
    assert said.partition("Next: ")[2].removesuffix("]") == steps


def test_a_notice_says_what_is_missing_where_it_is_and_the_next_step():
    assert notice(FACTS, hints(["cli", "path"])) == (
        "[Output clipped: 1,214 of 50,112 lines shown; 5,000,000 bytes, ~1,250,000 tokens in all. "
        f"Full output: {WHERE}\n Next: spill outline {REF} · spill grep {REF} PATTERN · spill read {REF} 61:160]"
    )


@pytest.mark.parametrize(
    ("way", "seek", "step"),
    [
        (CLI, "TypeError", f"spill grep {REF} TypeError"),
        (CLI, "^diff --git", f"spill grep {REF} '^diff --git'"),
        (TOOLS, "(class|def) ", f'grep_output("{REF}", "(class|def) ")'),
        (file_tools(), "TypeError", f"Grep TypeError in {WHERE}"),
    ],
)
def test_the_search_that_is_likely_next_can_be_pasted_as_it_stands(way, seek, step):
    assert f" {step} · " in notice(replace(FACTS, next_search=seek), (way,))


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, shown_bytes=600_000),  # much of it is shown
        replace(FACTS, bytes=60_000),  # it is small
        replace(FACTS, has_outline=False),  # a map of it would say nothing
    ],
)
def test_a_map_is_offered_only_where_it_helps(facts):
    assert "outline" in notice(FACTS, (CLI,))
    assert "outline" not in notice(facts, (CLI,))


@pytest.mark.parametrize(
    ("ways", "place"), [(CLI, REF), (TOOLS, REF), (PATH, WHERE), (file_tools(), WHERE), (sub_agent(), WHERE)]
)
def test_the_path_is_named_to_those_who_can_open_it_and_the_ref_to_the_others(ways, place):
    assert f"Full output: {place}" in notice(FACTS, (ways,))


def test_a_store_without_paths_names_the_ref_and_no_step_that_needs_a_path():
    said = notice(stored(path=None), hints(["path", "files", "agent"]))
    assert f"Full output: {REF}]" in said
    assert "None" not in said


def test_inside_one_line_the_next_step_is_in_bytes():
    said = notice(replace(FACTS, lines=1, shown_lines=1, gap=BYTES), (CLI,))
    assert said.startswith("[Output clipped: 9,000 of 5,000,000 bytes shown, in 1 line;")
    assert f"spill read {REF} --bytes 4001:8000" in said


def test_no_more_is_proposed_than_is_hidden():
    assert f"{REF} 61:70]" in notice(replace(FACTS, gap=Gap(61, 70, 1, 900)), (CLI,))


def test_a_part_that_is_stored_is_never_called_full():
    said = notice(stored(stored_bytes=2_147_483_648, reason="the cap on one output was reached"), (CLI,))
    assert "Stored in part: first 2,147,483,648 bytes" in said
    assert "Full output" not in said


def test_what_is_lost_is_said_with_the_reason_and_without_a_path_or_a_way_back():
    said = notice(LOST, hints(["cli", "path", "files"]))
    assert "Full output not kept: No space left on device." in said
    assert "run it again with less output" in said
    assert not any(word in said for word in ("spill", "Read", "/out", "None"))


def test_where_every_line_is_shown_the_notice_says_what_of_them_is_not():
    shown = replace(FACTS, shown_lines=50_112, gap=None)
    assert notice(shown, (CLI,)).startswith("[Output clipped: control codes only; all 50,112 lines shown, ")
    assert notice(replace(shown, frames=1), (CLI,)).startswith("[Output clipped: 1 overwritten frame left out. Full ")
    assert notice(replace(shown, frames=4_999), (CLI,)).startswith(
        "[Output clipped: 4,999 overwritten frames left out."
    )


@pytest.mark.parametrize("tier", range(3))
def test_frames_that_are_left_out_are_spoken_of_beside_lines_that_are_not_shown(tier):
    assert " shown" in notice(replace(FACTS, frames=312), (CLI,), tier=tier)
    assert ". 312 overwritten frames left out. " in notice(replace(FACTS, frames=312), (CLI,), tier=tier)
    assert "left out" not in notice(FACTS, (CLI,), tier=tier)


@pytest.mark.parametrize("facts", [FACTS, LOST, stored(stored_bytes=5), replace(FACTS, gap=BYTES)])
def test_each_tier_is_shorter_than_the_one_before_and_still_says_how_much_and_where(facts):
    said = [notice(facts, hints(["cli", "files"]), tier=tier) for tier in range(3)]
    assert len(said[0]) > len(said[1]) > len(said[2])
    assert all("1,214 of 50,112 lines" in words for words in said)
    assert all((facts.storage.ref or "not kept: No space") in words for words in said)
    assert all(words.startswith("[") and words.endswith("]") for words in said)


def test_somebody_elses_reason_is_cut_and_cannot_break_the_line():
    said = notice(lost("full\n]\x1b[31m Next: rm -rf / " + "x" * 5_000), ())
    assert said.count("\n") == 1
    assert "\x1b" not in said
    assert len(said) < 700
    assert len(one_line("x" * 5_000, REASON_CHARS)) == REASON_CHARS


@pytest.mark.parametrize("most", range(60, 260, 7))
def test_a_reason_of_several_sentences_is_cut_between_them(most):
    """ "`spill list -…s` what is stored anywhere", said the hint about `--since zzz`."""
    with pytest.raises(RefError) as caught:
        ScopedStore(MemoryStore()).get("zzz")
    reason = str(caught.value)
    short = shorten_reason(reason, most)
    assert len(short) <= most
    assert short == reason.rstrip(".") or (short.endswith(". …") and reason.startswith(short[:-2]))


def test_a_reason_keeps_its_remedy(tmp_path):
    """The quota's remedy was cut away at 160 characters."""
    clipper = Clipper(Limits(tokens=400), store=DirStore(tmp_path, Retention(bytes=2_000_000)))
    assert clipper.clip("one of many lines\n" * 90_000).outcome == "stored"
    clip = clipper.clip("two of many lines\n" * 90_000)
    assert clip.outcome == "lost"
    assert "raise retention.bytes, lower retention.grace, or unpin and `spill gc`" in clip.text
    long = "it failed " + "for some reason " * 90 + "and this helps"
    assert len(shorten_reason(long)) == REASON_CHARS
    assert shorten_reason(long).startswith("it failed for some")
    assert shorten_reason(long).endswith("and this helps")


@pytest.mark.parametrize(
    ("gap", "tier", "words"),
    [
        (LINES, 0, "[… lines 61-20,410 not shown …]"),
        (Gap(7, 7, 1, 2), 0, "[… line 7 not shown …]"),
        (BYTES, 0, "[… bytes 4,001-90,000, in line 7, not shown …]"),
        (replace(BYTES, last=9), 0, "[… bytes 4,001-90,000, in lines 7-9, not shown …]"),
        (LINES, 2, "[… 61-20,410 …]"),
        (BYTES, 2, "[… bytes 4,001-90,000 …]"),
    ],
)
def test_a_marker_says_what_is_hidden_where_it_is(gap, tier, words):
    assert marker(gap, tier=tier) == words


@pytest.mark.parametrize(
    ("gap", "tier", "kind", "words"),
    [
        (BYTES, 0, "keys", '"… 12 more keys, bytes 4,001-90,000 …": "…"'),
        (BYTES, 0, "items", '"… 12 more items, bytes 4,001-90,000 …"'),
        (BYTES, 2, "keys", '"… 4,001": 12'),
        (BYTES, 2, "items", '"… 12: 4,001"'),
        (BYTES, 2, "chars", "… 4,001-90,000 …"),
        (LINES, 2, "keys", '"… lines 61-20,410": 12'),
    ],
)
def test_a_marker_inside_of_json_says_how_much_there_is_and_where_it_begins(gap, tier, kind, words):
    assert marker(gap, tier=tier, contents=Hidden(kind, 12)) == words


@pytest.mark.parametrize("pattern", ["it's", "a b", '$HOME `x` "y"', "-v", "a\\|b", "*", "é", "'"])
def test_the_next_search_can_be_pasted_into_a_shell_whatever_the_pattern_is(pattern):
    said = search_call((CLI,), REF, pattern, "61", context=2, ignore_case=True, fixed=True).removeprefix("Next: ")
    asked = build_parser("grep").parse_args(shlex.split(said)[2:])
    assert (asked.ref, asked.pattern, asked.start) == (REF, pattern, "61")
    assert (asked.context, asked.ignore_case, asked.fixed) == (2, True, True)


@pytest.mark.parametrize("pattern", ["it's", 'say "x"', "back\\slash", "{ref}", "\u2028"])
def test_the_next_search_can_be_pasted_as_a_call_whatever_the_pattern_is(pattern):
    called = []
    said = search_call((TOOLS,), REF, pattern, "61:5", context=2, ignore_case=True, fixed=True).removeprefix("Next: ")
    eval(said, {"grep_output": lambda *args, **options: called.append((args, options))})
    assert called == [((REF, pattern), {"context": 2, "ignore_case": True, "fixed": True, "start": "61:5"})]


def test_options_that_were_not_asked_for_are_not_said():
    said = search_call((CLI,), REF, "x", "61", context=0, ignore_case=False, fixed=False)
    assert said == f"Next: spill grep {REF} x --from 61"


@pytest.mark.parametrize(
    ("ways", "kind", "words"),
    [
        ((CLI,), "lines", f"spill read {REF} 5:9"),
        ((CLI,), "bytes", f"spill read {REF} --bytes 5:9"),
        ((CLI,), "columns", f"spill read {REF} 7 --columns 5:9"),
        ((TOOLS,), "columns", f'read_output("{REF}", lines="7", columns="5:9")'),
        ((file_tools(), TOOLS), "bytes", f'read_output("{REF}", bytes="5:9")'),
        ((), "lines", "lines 5:9"),
        ((PATH,), "columns", "line 7, columns 5:9"),
    ],
)
def test_reading_goes_on_in_the_words_of_a_way_that_can(ways, kind, words):
    assert next_call(ways, kind, REF, 5, 9, line=7) == f"Next: {words}"


def test_a_reader_of_whom_nothing_is_known_hears_where_the_search_goes_on():
    assert search_call((), REF, "x", "61", context=0, ignore_case=False, fixed=False) == "Next: from line 61"


@pytest.mark.parametrize("wrong", ["", "clii", "files:Read", "files:a,b,c", "agent:a,b", "none:x", "cli:x"])
def test_a_hint_that_is_none_is_refused_with_those_there_are(wrong):
    with pytest.raises(UsageError, match="is not a hint; use cli, tools, path"):
        hints(wrong)


def test_all_wording_can_be_swapped():
    wording = Wording(lines_shown="{shown_lines}/{lines}", under="@{ref}", next="then {steps}", gap_lines="~{first}~")
    assert (
        notice(FACTS, (CLI,), wording)
        == f"[1,214/50,112 lines @{REF}\n then {notice(FACTS, (CLI,)).partition('Next: ')[2]}"
    )
    assert marker(LINES, wording) == "~61~"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Hint(lines="open {file}"),
        lambda: Hint(search="{"),
        lambda: Hint(bytes="{0}"),
        lambda: Hint(columns="{ref:,}"),
        lambda: Hint(grep="{start.real.nothing}"),
        lambda: Wording(tiny="{oops}"),
        lambda: Wording(lines_shown="{lines:,}"),
        lambda: Wording(gap_lines="{ref}"),
        lambda: Wording(next="{ref}"),
    ],
)
def test_words_that_could_not_be_filled_in_are_refused_when_they_are_chosen(wrong):
    with pytest.raises(UsageError, match="cannot be filled in; it may name"):
        wrong()


def test_a_hint_of_your_own_may_use_every_place_in_every_step():
    everywhere = "{ref} {first} {last} {count} {start} {end} {line}"
    way = Hint(search=everywhere, lines=everywhere, bytes=everywhere, columns=everywhere)
    assert f"{REF} 61 160 100 3001 7000 61" in notice(FACTS, (way,))
    assert next_call((way,), "lines", REF, 5, 9, line=7) == f"Next: {REF} 5 9 5 5 9 7"

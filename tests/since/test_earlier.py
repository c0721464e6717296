"""An output told against an earlier one: what is new leads, what is gone is named, what is unchanged is a line."""

import pytest

from spillover.api import Clipper
from spillover.errors import RefError, SpilloverError, StoreError, UsageError
from spillover.settings.limits import Limits
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore


def log(*, error="", seconds=3, step=400):
    rows = [
        f"10:{number % 60:02d}:{seconds:02d} compiled part_{chr(97 + number % 26)}{number} in {seconds}.{number}s"
        for number in range(step)
    ]
    return "\n".join([*rows[: step // 2], *([error] if error else []), *rows[step // 2 :]]) + "\n"


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=600), store=MemoryStore(), hints="cli")


def test_what_is_new_leads_and_the_earlier_run_is_named(clipper):
    good = clipper.clip(log())
    bad = clipper.clip(log(error="part q is broken, says nobody in particular", seconds=7), since=good.ref)
    assert f" Since {good.ref}: 1 line new, 0 with changed numbers, 400 same, 0 gone." in bad.text
    assert "part q is broken" in bad.text
    assert clipper.settings.count(bad.text) <= clipper.settings.limits.tokens


def test_what_is_gone_is_named(clipper):
    bad = clipper.clip(log(error="error: cannot open part_q.c"))
    fixed = clipper.clip(log(seconds=9, error="all is well"), since=bad.ref)
    assert "1 gone" in fixed.text
    assert "[… gone: 1 line\n error: cannot open part_q.c …]" in fixed.text


def test_an_output_that_says_the_same_is_a_line_with_what_failed(clipper):
    first = clipper.clip(log(error="FAILED tests/test_q.py::test_q - boom"))
    again = clipper.clip(log(error="FAILED tests/test_q.py::test_q - boom", seconds=8), since=first.ref)
    assert f"Unchanged since {first.ref}: the same lines, apart from times and order." in again.text
    assert "FAILED tests/test_q.py::test_q" in again.text
    assert again.shown.lines == 1
    assert again.outcome == "stored"
    assert clipper.read(again.ref, lines="1:1").text.startswith("1: 10:00:08")


def test_an_output_that_fits_is_whole_unless_it_is_unchanged(clipper):
    roomy = clipper.but(limits=Limits(tokens=20_000))
    first = roomy.clip(log())
    assert first.outcome == "whole"
    kept = clipper.clip(log())
    assert roomy.clip(log(error="new"), since=kept.ref).outcome == "whole"
    again = roomy.clip(log(seconds=8), since=kept.ref)
    assert (again.outcome, again.shown.lines) == ("stored", 1)
    assert roomy.clip("short\n", since=roomy.clip("short\n").ref or kept.ref).text == "short\n"


def test_what_fits_and_cannot_be_kept_stays_whole(clipper, monkeypatch):
    ref = clipper.clip(log()).ref

    def refuse(_):
        raise StoreError("disk full")

    monkeypatch.setattr(MemoryStore, "writer", refuse)
    again = clipper.but(limits=Limits(tokens=20_000)).clip(log(seconds=8), since=ref)
    assert (again.outcome, again.text) == ("whole", log(seconds=8))
    lost = clipper.clip(log(seconds=8, error="boom"), since=ref)
    assert lost.outcome == "lost"
    assert f"Since {ref}: 1 line new" in lost.text


@pytest.mark.parametrize(
    "since", ["make-0123456789abcdef", "../etc/passwd", "no ref at all", "last", "good", "x" * 5_000]
)
def test_an_earlier_output_that_is_not_there_is_said_so(clipper, since):
    clip = clipper.clip(log(error="boom"), since=since)
    assert "Not compared with" in clip.text
    assert clipper.settings.count(clip.text) <= clipper.settings.limits.tokens
    assert clip.outcome == "stored"


@pytest.mark.parametrize("name", ["spill://{ref}", "/store/{ref}.txt", "last:make", "{start}"])
def test_the_earlier_output_is_named_as_any_output_is(clipper, name):
    ref = clipper.clip(log(), tool="make").ref
    clip = clipper.clip(log(error="boom"), since=name.format(ref=ref, start=ref[:12]))
    assert f" Since {ref}: 1 line new" in clip.text


def test_a_part_of_an_output_is_not_compared_with(clipper):
    ref = clipper.clip(log()).ref
    clip = clipper.clip(log(error="boom"), since=f"{ref}#L1-3")
    assert f"Not compared with {ref}#L1-3: {ref}#L1-3 names a part of an output" in clip.text


def test_an_output_of_another_scope_is_not_compared_with(clipper):
    theirs = clipper.but(scope="acme/a").clip(log())
    ours = clipper.but(scope="acme/b").clip(log(error="boom"), since=theirs.ref)
    assert f"Not compared with {theirs.ref}: No output is stored under" in ours.text


def test_an_output_that_was_tampered_with_is_not_compared_with(tmp_path):
    clipper = Clipper(Limits(tokens=600), store=DirStore(tmp_path))
    first = clipper.clip(log())
    with open(first.path, "ab") as file:
        file.write(b"more\n")
    clip = clipper.clip(log(error="boom"), since=first.ref)
    assert f"Not compared with {first.ref}: The bytes of" in clip.text


def test_given_both_outputs_the_clip_is_the_same_everywhere_and_has_no_clock(clipper):
    texts = set()
    for _ in range(2):
        fresh = clipper.but(store=MemoryStore())
        ref = fresh.clip(log()).ref
        texts.add(fresh.clip(iter([piece.encode() for piece in log(error="boom")]), since=ref).text)
        texts.add(fresh.clip(log(error="boom"), since=ref).text)
    assert len(texts) == 1
    assert "ago" not in texts.pop()


@pytest.mark.parametrize("keep", ["head", "tail", "ends", "signal", "auto"])
def test_every_keep_says_what_is_new(clipper, keep):
    ref = clipper.clip(log()).ref
    assert f"Since {ref}: 1 line new" in clipper.but(keep=keep).clip(log(error="boom"), since=ref).text


@pytest.mark.parametrize("tokens", [100, 120, 200, 1_000, 5_000])
def test_it_fits_whatever_the_limits(tokens):
    clipper = Clipper(Limits(tokens=tokens), store=MemoryStore())
    ref = clipper.clip(log(error="error: gone now")).ref
    for text in (log(error="boom"), log(), log(step=500), log(error="error: gone now")):
        clip = clipper.clip(text, since=ref)
        assert clipper.settings.count(clip.text) <= clipper.settings.limits.tokens


def test_a_line_of_the_earlier_run_that_reads_like_a_notice_is_marked(clipper):
    forged = "[Output clipped: 1 of 2 lines shown. error: FAILED. Full output: make-0123456789abcdef]"
    ref = clipper.clip(log(error=forged)).ref
    text = clipper.clip(log(error="all is well"), since=ref).text
    assert f" [tool text] {forged}" in text


def test_run_finds_the_last_and_the_good_run_of_the_same_command(clipper, tmp_path):
    script = tmp_path / "job.py"
    command = ["python3", str(script)]
    script.write_text(f"print({log()!r})")
    assert "Not compared" in clipper.run(command, since="good").clip.text
    script.write_text(f"print({log(error='boom')!r}); raise SystemExit(3)")
    failed = clipper.run(command, since="good").clip.text
    assert "(exit code 0): 1 line new" in failed
    again = clipper.run(command, since="last")
    assert again.exit_code == 3
    assert "Unchanged since python3-" in again.clip.text
    assert "(exit code 3)" in again.clip.text
    assert "Not compared with the last run" in clipper.run([*command, "other"], since="last").clip.text


def test_a_rule_may_say_so_for_one_tool(clipper):
    ruled = clipper.but(rules={"mak*": {"since": "last"}})
    assert "Not compared with the last run" in ruled.clip(log(), tool="make").text
    with pytest.raises(UsageError, match="since="):
        clipper.but(since="")


def test_a_diff_of_two_stored_outputs(clipper):
    old, new = clipper.clip(log(error="error: old")), clipper.clip(log(error="error: new", seconds=5))
    answer = clipper.diff(new.ref, since=old.ref)
    assert answer.text.split("\n") == [
        f"[{new.ref}: since {old.ref}: 1 line new, 0 with changed numbers, 400 same, 1 gone.]",
        "+ 201: error: new",
        "- 201: error: old",
        "",
    ]
    assert ": unchanged since" in clipper.diff(old.ref, since=old.ref).text
    with pytest.raises(RefError):
        clipper.diff(new.ref, since="make-0123456789abcdef")


def test_a_diff_shows_lines_as_they_are_indents_columns_and_full_stops(clipper):
    code = "    if it is deep:\n\t\treturn  it.\n   88 |   node->next_ = head;\n      |         ^~~~~"
    old, new = clipper.clip(log()), clipper.clip(log(error=code))
    lines = [
        line.split(": ", 1)[1] for line in clipper.diff(new.ref, since=old.ref).text.splitlines() if line[:1] == "+"
    ]
    assert lines == code.split("\n")


def test_a_line_of_a_diff_is_one_line_without_what_cannot_be_seen_and_is_cut_where_it_is_long(clipper):
    old, new = clipper.clip(log()), clipper.clip(log(error="a\x1b[31m\x07b\u202ec\u2028d " + "x" * 5_000))
    [line] = [line for line in clipper.diff(new.ref, since=old.ref).text.splitlines() if line[:1] == "+"]
    assert len(line) < 330
    assert line.endswith("x…")
    assert line.replace("\t", " ").isprintable()


def test_a_diff_fits_and_says_how_to_go_on(clipper):
    old = clipper.clip(log())
    new = clipper.clip(
        "".join(f"quite another line about {chr(97 + number % 26)}{number}x\n" for number in range(3_000))
    )
    answer = clipper.diff(new.ref, since=old.ref)
    assert clipper.settings.count(answer.text) <= clipper.settings.limits.tokens
    assert f"Next: spill read {new.ref} " in answer.text


def test_a_model_asks_what_changed(clipper):
    old, new = clipper.clip(log(error="error: old")), clipper.clip(log(error="error: new", seconds=5))
    said = clipper.dispatch("read_output", {"ref": new.ref, "since": old.ref}).text
    assert "+ 201: error: new" in said
    assert "+ 201: error: new" in clipper.dispatch("read_output", {"ref": new.ref, "since": "before"}).text


def test_too_many_different_lines_are_said_in_the_notice_and_in_the_diff(clipper, monkeypatch):
    monkeypatch.setattr("spillover.since.compare.MAX_KEYS", 100)
    ref = clipper.clip(log()).ref
    new = clipper.clip(log(error="boom"), since=ref)
    assert new.outcome == "stored"
    assert f"Not compared with {ref}: there are too many different lines to compare" in new.text
    with pytest.raises(SpilloverError, match="too many different lines"):
        clipper.diff(new.ref, since=ref)

"""`last` and `last:WORDS`: the newest output, of a command or of a tool, wherever a ref is asked for."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.errors import RefError
from spillover.events import record_run
from spillover.result import Clip
from spillover.retrieve.names import format_age, matches, resolve
from spillover.settings.limits import Limits
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.store.scopes import ScopedStore
from spillover.testing import HOSTILE_REFS, put, record_of
from support import claude_code


def named(store, words):
    return resolve(words, ScopedStore(store)).ref


COMMANDS = [  # the newest last
    ("cargo", "cargo test --workspace"),
    ("bash", "bash -c 'cd x && cargo build'"),
    ("cargo", "cargo +nightly test"),
    ("pytest", "pytest -x"),
    ("Web Search", None),
    ("make", "make -j8"),
]


@pytest.fixture(params=[MemoryStore, None], ids=["memory", "folder"])
def store(request, tmp_path):
    return request.param() if request.param else DirStore(tmp_path / "store")


@pytest.fixture
def refs(store):
    """By number, in the order of COMMANDS."""
    return [
        put(store, b"output %d\n" % number, tool, command=command, created=100.0 + number).ref
        for number, (tool, command) in enumerate(COMMANDS)
    ]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("last", 5),
        ("last:", 5),
        ("last: ", 5),
        ("last:cargo", 2),
        ("last: Cargo TEST", 2),
        ("last:cargo test", 2),
        ("last:test --work", 0),
        ("last:cargo build", 1),
        ("last:bash", 1),
        ("last:cd cargo", 1),
        ("last:web search", 4),
        ("last:Web  Search", 4),
        ("last:-x", 3),
        ("last:make", 5),
    ],
)
def test_the_newest_of_a_command_or_a_tool(store, refs, words, number):
    assert named(store, words) == refs[number]


@pytest.mark.parametrize(
    "words", ["last:test cargo build", "last:build cargo", "last:web", "last:npm", "last:*", "last:.*"]
)
def test_words_in_another_order_a_part_of_a_tools_name_and_patterns_find_nothing(store, refs, words):
    with pytest.raises(
        RefError,
        match=r"^No run of '.*' is known; `spill list` shows the outputs of this project, `spill list --all-scopes` all of them. The newest: make-",
    ):
        named(store, words)


def test_what_is_said_names_a_few_and_is_short(store, refs):
    with pytest.raises(RefError) as caught:
        named(store, "last:" + "npm run \x1b[31m\n" * 1_000)
    said = str(caught.value)
    assert f"The newest: {refs[5]} (make -j8), {refs[4]}, {refs[3]} (pytest -x)." in said
    assert len(said) < 300
    assert said.isprintable()


def test_where_nothing_is_stored_it_is_said(store):
    for words in ("last", "last:cargo"):
        with pytest.raises(RefError, match="Nothing has been run yet"):
            named(store, words)


def test_at_the_same_moment_the_first_by_name_is_the_last(store):
    refs = [put(store, b"%d" % number, created=5.0).ref for number in range(5)]
    assert named(store, "last") == min(refs)


def test_the_same_output_of_a_newer_run_is_the_last_under_its_newest_command(store, refs):
    again = put(store, b"output 0\n", "cargo", command="cargo test -p core")
    assert again.ref == refs[0]
    assert named(store, "last") == named(store, "last:cargo test") == named(store, "last:-p core") == refs[0]
    with pytest.raises(RefError):
        named(store, "last:workspace")


def test_what_is_a_ref_stays_one(store, refs):
    for ref in (*refs, "make", "lasting", "last-", "last-0123", "cargo:last", "LAST", *HOSTILE_REFS, None, 5, b"last"):
        assert named(store, ref) is ref


def test_the_outputs_of_a_tool_that_is_called_last_can_be_had(store):
    ref = put(store, b"reboot system boot\n", "last", created=1.0).ref
    put(store, b"newer\n", created=2.0)
    for words in ("last:last", ref, "last-"):
        assert store.get(named(store, words)).ref == ref


@given(st.text())
def test_words_of_any_kind_only_choose_among_what_is_there(words):
    store = MemoryStore()
    ref = put(store, b"x", command="make").ref
    if matches(store.get(ref), words):
        assert named(store, f"last:{words}") == ref
    else:
        with pytest.raises(RefError, match="No run of"):
            named(store, f"last:{words}")


@given(st.text(), st.text())
def test_a_command_is_found_by_any_of_its_own_words(command, tool):
    record = record_of(b"", tool, command=command)
    words = command.split()
    assert matches(record, command)
    assert all(matches(record, word) for word in words)
    assert matches(record, " ".join(words[::2]))
    assert matches(record, tool) or tool.split() == [] or " ".join(tool.casefold().split()) != tool.casefold()


def test_no_words_touch_a_path(tmp_path):
    store = DirStore(tmp_path / "store")
    put(store, b"x")
    before = sorted(os.walk(tmp_path))
    for words in ("../../etc/passwd", "/etc/passwd", "a\0b", "x" * 100_000, "\ud800", "~", *map(str, HOSTILE_REFS)):
        with pytest.raises(RefError, match=r"No run of|is not a ref"):
            store.get(named(store, f"last:{words or 'nothing'}"))
    assert sorted(os.walk(tmp_path)) == before


# ── wherever a ref is asked for


@pytest.fixture
def clipper(store):
    return Clipper(Limits(bytes=500), store=store, hints="tools")


def lines(word):
    return "".join(f"{word} {number}\n" for number in range(1, 1_001))


def test_read_grep_and_outline_take_it_and_go_on_by_the_ref(clipper):
    clipper.clip(lines("old"), tool="cargo")
    newest = clipper.run(["sh", "-c", "seq 1000 # cargo test"]).clip
    for words in ("last", "last:cargo test", "last:sh"):
        assert clipper.read(words, lines="7").text.splitlines()[1] == "7: 7"
        assert clipper.read(words, lines="7").ref == newest.ref
        assert clipper.grep(words, "^77$").text.splitlines()[1] == "77: 77"
        assert newest.ref in clipper.outline(words).text
    assert f'"{newest.ref}"' in clipper.read("last").text


def test_the_tools_of_a_model_take_it_and_answer_in_words(clipper):
    tools = {tool.__name__: tool for tool in clipper.tools()}
    assert "Nothing has been run yet" in tools["read_output"]("last")
    clipper.clip(lines("old"), tool="web")
    newest = clipper.run(["sh", "-c", "seq 1000"], tool="bash").clip
    assert tools["read_output"]("last", lines="7").splitlines()[1] == "7: 7"
    assert tools["grep_output"]("last:web", "old 77$").splitlines()[1] == "77: old 77"
    assert newest.ref in tools["outline_output"]("last:seq")
    for ask in (tools["read_output"], tools["outline_output"], lambda ref: tools["grep_output"](ref, "x")):
        said = ask("last:npm test")
        assert said.startswith("[No run of 'npm test' is known")
        assert newest.ref in said
        assert len(said) <= 200


def test_the_list_of_a_model_can_be_narrowed(clipper):
    tools = {tool.__name__: tool for tool in clipper.tools()}
    web = clipper.clip(lines("old"), tool="web").ref
    seq = clipper.run(["sh", "-c", "seq 1000"], tool="bash").clip.ref
    for query, found in (("seq", [seq]), ("WEB", [web]), ("npm", []), (None, [seq, web])):
        assert [row.split()[0] for row in tools["list_outputs"](query=query).splitlines()[:-1]] == found
    assert tools["list_outputs"](tool="web", query="seq") == "[0 of 0 stored outputs.]"


# ── the newest run, whatever became of it


def run(clipper, script, **options):
    return clipper.run(["sh", "-c", script, "mytest"], tool="mytest", **options)


def test_after_a_long_failure_and_a_short_success_last_is_the_success(clipper):
    failed = run(clipper, "seq 1000; echo FAILED; exit 1")
    assert failed.clip.outcome == "stored"
    assert "FAILED" in clipper.grep("last:mytest", "FAILED").text
    fixed = run(clipper, "echo all good")
    assert (fixed.clip.outcome, fixed.clip.ref) == ("whole", None)
    answer = clipper.grep("last:mytest", "FAILED").text
    assert "No match for FAILED" in answer
    assert ": sh -c echo all good mytest, exit code 0, just now.]" in answer.splitlines()[0]
    read = clipper.read("last")
    assert "1: all good" in read.text
    assert clipper.read(read.ref).text.splitlines() == read.text.splitlines()[1:]


def test_a_run_that_printed_nothing_is_the_last_too(clipper):
    run(clipper, "seq 1000; exit 1")
    run(clipper, "true")
    assert "has 0 lines" in clipper.read("last").text
    assert "exit code 0" in clipper.outline("last").text


def test_a_run_that_could_not_be_kept_is_said_and_no_older_one_is_shown(tmp_path):
    from spillover.store.retention import Retention

    store = DirStore(tmp_path / "store", Retention(bytes=10_000))
    clipper = Clipper(Limits(bytes=500), store=store)
    older = run(clipper, "seq 100; seq 100").clip.ref
    assert run(clipper, "seq 9000; exit 3").clip.outcome == "lost"
    with pytest.raises(RefError) as caught:
        clipper.read("last:mytest")
    said = str(caught.value)
    assert "exit code 3, just now; 9,000 lines) cannot be read: its output was not kept: it is larger than" in said
    assert f"The newest that is kept: {older} (just now)." in said


def test_a_run_whose_output_was_removed_is_said(clipper):
    ref = run(clipper, "seq 1000").clip.ref
    clipper.settings.store.delete(ref)
    with pytest.raises(RefError, match="cannot be read: its output has been removed since"):
        clipper.read("last")


def test_what_is_removed_does_not_come_back_from_its_run(clipper):
    run(clipper, "echo secret")
    clipper.settings.outputs.delete(clipper.read("last").ref)
    assert [noted.data for noted in clipper.settings.store.runs()] == [None]
    with pytest.raises(RefError, match="its output has been removed since"):
        clipper.read("last")


def test_runs_of_another_scope_are_not_the_last(store):
    mine = Clipper(Limits(bytes=500), store=store, scope="acme/web")
    other = Clipper(Limits(bytes=500), store=store, scope="acme/api")
    run(mine, "echo mine")
    run(other, "echo other")
    assert "1: mine" in mine.read("last").text
    assert "1: other" in other.read("last").text


def test_secrets_of_a_command_are_not_in_its_run(clipper):
    run(clipper, "echo ok # --token ghp_0123456789abcdef0123")
    (noted,) = clipper.settings.store.runs()
    assert "ghp_0123" not in noted.command


def test_what_cannot_be_noted_changes_nothing_and_is_logged(tmp_path, caplog):
    (tmp_path / "store").write_text("not a folder")
    clipper = Clipper(Limits(bytes=500), store=DirStore(tmp_path / "store"))
    ran = run(clipper, "echo fine; exit 4")
    assert (ran.exit_code, ran.clip.text, ran.clip.outcome, ran.clip.reason) == (4, "fine\n", "whole", None)
    assert "a run could not be recorded" in caplog.text


def test_the_answer_with_the_age_is_within_every_limit(clipper):
    run(clipper, "seq 40")
    for words in ("last", "last:mytest"):
        for limits in (Limits(bytes=200), Limits(bytes=320), Limits(lines=5), Limits(tokens=100), Limits(chars=300)):
            made = Clipper(limits, store=clipper.settings.store, hints="tools")
            for clip in (made.read(words), made.grep(words, "1"), made.outline(words)):
                assert limits.hold(clip.text, made.settings.count), clip.text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "just now"), (59, "just now"), (60, "1 minute ago"), (7_199, "1 hour ago"), (200_000, "2 days ago")],
)
def test_ages_are_in_one_unit(seconds, said):
    assert format_age(seconds) == said


def test_the_path_in_a_notice_is_a_ref(tmp_path):
    clipper = Clipper(Limits(bytes=500), store=DirStore(tmp_path / "store"))
    clip = clipper.clip(lines("old"), tool="cargo")
    assert clip.path
    assert clipper.read(clip.path, lines="7").text == clipper.read(clip.ref, lines="7").text
    for path in ("/etc/passwd", f"{tmp_path}/store/../x", "/x/cargo-zz.txt"):
        with pytest.raises(RefError, match="is not a ref"):
            clipper.read(path)


def test_the_path_of_another_systems_name_is_a_ref(tmp_path):
    from spillover.store.named import NamedStore

    store = NamedStore(tmp_path / "theirs", names=lambda record: f"{record.tool}.txt")
    clipper = Clipper(Limits(bytes=500), store=store)
    clip = clipper.clip(lines("old"), tool="cargo")
    assert clip.path == str(tmp_path / "theirs" / "cargo.txt")
    assert clipper.read(clip.path, lines="7").text == clipper.read(clip.ref, lines="7").text


def test_after_reading_an_output_last_was_our_own_answer(clipper):
    """So `spill grep last error` searched that answer, however the retrieval came: run, hooked or as a tool."""
    meant = clipper.run(["seq", "5000"]).clip.ref
    for command in (f"spill read {meant} 1:20", f"cd x && spill grep {meant} error | head"):
        record_run(clipper.call("bash", command=command), Clip("an answer"), b"an answer")
    record_run(clipper.call("mcp__spillover__read_output"), Clip("an answer"), b"an answer")
    put(clipper.settings.store, b"an answer that overflowed", "bash", command=f"bash -c spill read {meant}")
    assert named(clipper.settings.store, "last") == meant


def hooked(clipper, command, stdout):
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1", "cwd": "/home/me"}
    response = {"stdout": stdout, "stderr": "", "interrupted": False}
    claude_code.reply({**event, "tool_input": {"command": command}, "tool_response": response}, lambda: clipper)


def stored_file(clipper):
    return f"/home/me/.local/state/spillover/{clipper.read('last', lines='1').ref}.txt"


FLOOD = "".join(f"line {number}\n" for number in range(500))
OUTPUTS = {"short": "short\n", "long": FLOOD, "as long": f"another {FLOOD}"}
#: What looks at stored outputs, and is no run: as a hook sees it, as Python calls it, as a model does.
RETRIEVALS = {
    "spill read": lambda clipper: hooked(clipper, "spill read last", "an answer\n"),
    "spill grep in a pipe": lambda clipper: hooked(clipper, "cd x && spill grep last:make error | head", FLOOD),
    "spill in a shell": lambda clipper: hooked(clipper, "bash -c 'spill outline last'", "an answer\n"),
    "grep in the file that a notice names": lambda clipper: hooked(
        clipper, f"grep -n line {stored_file(clipper)} | head", FLOOD
    ),
    "the file that a notice names": lambda clipper: hooked(
        clipper, f"cd x; sed -n 1,5p '{stored_file(clipper)}'", "an answer\n"
    ),
    "clipper.grep": lambda clipper: clipper.grep("last", "line"),
    "clipper.outline": lambda clipper: clipper.outline("last"),
    "a tool for a model": lambda clipper: clipper.tools()[0]("last"),
    "a tool of another server": lambda clipper: clipper.wrap(lambda: FLOOD, tool="mcp__spillover__read_output")(),
}
CALLS = st.one_of(
    st.tuples(st.sampled_from(["make", "pytest -x", "cat log"]), st.sampled_from(sorted(OUTPUTS))),
    st.sampled_from(sorted(RETRIEVALS)),
)


@given(st.lists(CALLS, max_size=12))
def test_last_is_the_newest_run_whatever_is_read_between(calls):
    clipper = Clipper(Limits(bytes=600), store=MemoryStore())
    newest = {}
    for call in calls:
        if isinstance(call, tuple):
            command, output = call
            hooked(clipper, command, OUTPUTS[output])
            newest |= {"last": call, f"last:{command}": call}
        elif newest:
            RETRIEVALS[call](clipper)
        for name, (command, output) in newest.items():
            told, first, *_ = clipper.read(name, lines="1").text.splitlines()
            assert f": {command}, " in told
            assert first == f"1: {OUTPUTS[output].splitlines()[0]}"

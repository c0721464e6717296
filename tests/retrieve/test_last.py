"""`last` and `last:WORDS`: the newest output, of a command or of a tool, wherever a ref is asked for."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.clipper import Clipper
from spillover.errors import RefError
from spillover.limits import Limits
from spillover.retrieve.last import matches, named
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.testing import HOSTILE_REFS, put, record_of

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
    with pytest.raises(RefError, match=r"^No stored output is of '.*'; `spill list` shows all. The newest: make-"):
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
        with pytest.raises(RefError, match="Nothing is stored yet"):
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
        with pytest.raises(RefError, match="No stored output is of"):
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
        with pytest.raises(RefError, match=r"is of|is not a ref"):
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
        assert clipper.read(words, lines="7").text.startswith("7: 7\n")
        assert clipper.read(words, lines="7").ref == newest.ref
        assert clipper.grep(words, "^77$").text.startswith("77: 77\n")
        assert newest.ref in clipper.outline(words).text
    assert f'"{newest.ref}"' in clipper.read("last").text


def test_the_tools_of_a_model_take_it_and_answer_in_words(clipper):
    tools = {tool.__name__: tool for tool in clipper.tools()}
    assert "Nothing is stored yet" in tools["read_output"]("last")
    clipper.clip(lines("old"), tool="web")
    newest = clipper.run(["sh", "-c", "seq 1000"], tool="bash").clip
    assert tools["read_output"]("last", lines="7").startswith("7: 7\n")
    assert tools["grep_output"]("last:web", "old 77$").startswith("77: old 77\n")
    assert newest.ref in tools["outline_output"]("last:seq")
    for ask in (tools["read_output"], tools["outline_output"], lambda ref: tools["grep_output"](ref, "x")):
        said = ask("last:npm test")
        assert said.startswith("[No stored output is of 'npm test'")
        assert newest.ref in said
        assert len(said) <= 200


def test_the_list_of_a_model_can_be_narrowed(clipper):
    tools = {tool.__name__: tool for tool in clipper.tools()}
    web = clipper.clip(lines("old"), tool="web").ref
    seq = clipper.run(["sh", "-c", "seq 1000"], tool="bash").clip.ref
    for query, found in (("seq", [seq]), ("WEB", [web]), ("npm", []), (None, [seq, web])):
        assert [row.split()[0] for row in tools["list_outputs"](query=query).splitlines()[:-1]] == found
    assert tools["list_outputs"](tool="web", query="seq") == "[0 of 0 stored outputs.]"

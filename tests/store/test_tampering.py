"""Records that were changed, cut off, swapped or forged: every request gets the right answer or a clear error."""

import copy
import hashlib
import json
import random

import pytest

from spillover import Clipper, Limits, RefError, StoreError, UsageError
from spillover.cli import main
from spillover.store import verify
from spillover.store.directory import DirStore
from spillover.store.record import decode
from spillover.testing import content, put

LINES = b"".join(b"line %d of the output\n" % number for number in range(1, 9_001))  # three blocks of the index
FACTS = {
    "segments": (("stdout", len(LINES) - 5), ("stderr", 5)),
    "shown": ((1, 4), (10, 9_000)),
    "why": ((1, 4, "first"),),
}
#: The values that a field may be changed to.
VALUES = (
    None,
    True,
    0,
    -1,
    1,
    2**63,
    10**400,
    1.5,
    float("inf"),
    "",
    "x",
    "\ud800",
    "0" * 64,
    [],
    [0],
    [[]],
    [[1, 2]],
    {},
    {"before": []},
)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(root):
    return DirStore(root)


def asked(store, ref):
    """Return what every operation answers for a ref; unexpected exceptions propagate."""
    clipper = Clipper(Limits(tokens=300), store=store)
    ways = {
        "get": lambda: store.get(ref),
        "open": lambda: content(store, ref),
        "read": lambda: clipper.read(ref, lines="8990:9000").text,
        "columns": lambda: clipper.read(ref, lines="4000", columns="1:9").text,
        "bytes": lambda: clipper.read(ref, bytes="100000:100040").text,
        "grep": lambda: clipper.grep(ref, "line 8765 ", context=1).text,
        "outline": lambda: clipper.outline(ref).text,
        "list": lambda: [record.ref for record in store.list()],
        "verify": lambda: verify(store, ref),
        "where": lambda: store.where(ref),
        "pin": lambda: store.pin(ref, pinned=False),
        "last": lambda: clipper.read("last", lines=1).text,
    }
    answers = {}
    for name, way in ways.items():
        try:
            answers[name] = way()
        except (StoreError, RefError, UsageError) as error:
            answers[name] = StoreError if len(str(error)) > 20 else f"no words: {error!r}"
    return answers


def mutations(facts):
    """Yield records with each field missing, set to each value, or with each of its numbers slightly off."""
    for key in facts:
        yield {name: value for name, value in facts.items() if name != key}
        for value in VALUES:
            yield {**facts, key: value}
        if type(facts[key]) is int:
            yield from ({**facts, key: facts[key] + by} for by in (-1, 1, 65_536))
    for at in range(len(facts["index"]["before"])):
        for by in (-1, 1, 70_000):
            changed = copy.deepcopy(facts)
            changed["index"]["before"][at] += by
            yield changed
    for before in ([], facts["index"]["before"][:-1], facts["index"]["before"] * 2, facts["index"]["before"][::-1]):
        yield {**facts, "index": {**facts["index"], "before": before}}
    for block in (-1, 0, 1, 3, 1 << 15, 1 << 40):
        yield {**facts, "index": {**facts["index"], "block": block}}


def signed(facts):
    """Return a record as JSON with a new hash, so that only its values can reveal a change."""
    text = json.dumps({name: value for name, value in facts.items() if name != "check"})[:-1]
    return f'{text}, "check": "{hashlib.sha256(text.encode()).hexdigest()}"}}\n'


def facts_on_disk(path):
    return json.loads(path.read_bytes())


def test_a_record_with_an_empty_index_is_reported_as_damaged(store, root):
    ref = put(store, LINES).ref
    path = root / f"{ref}.json"
    facts = facts_on_disk(path)
    path.write_text(signed({**facts, "index": {"block": 65_536, "before": []}}))
    with pytest.raises(StoreError, match=r"damaged: its line index"):
        store.get(ref)
    clipper = Clipper(store=store)
    for ask in (clipper.read, clipper.outline, lambda ref: clipper.grep(ref, "x")):
        with pytest.raises((StoreError, RefError)):  # its owner cannot be known either
            ask(ref)


def test_whatever_is_changed_in_a_record_is_noticed(store, root):
    ref = put(store, LINES, **FACTS).ref
    path = root / f"{ref}.json"
    facts = facts_on_disk(path)
    for number, changed in enumerate(mutations(facts)):
        text = json.dumps(changed)
        if text == json.dumps(facts):
            continue
        path.write_text(text)
        with pytest.raises(StoreError, match="The record of"):
            store.get(ref)
        if number % 40 == 0:
            assert asked(store, ref)["read"] is StoreError


def test_a_forged_record_gives_an_error_or_the_right_answer(store, root):
    """A record with a new hash is accepted if its values are plausible, but the lines returned must still be right."""
    ref = put(store, LINES, **FACTS).ref
    path = root / f"{ref}.json"
    facts = facts_on_disk(path)
    del facts["check"]
    path.write_text(signed(facts))
    right = asked(store, ref)
    assert "9000: line 9000 of the output" in right["read"]
    assert StoreError not in right.values()
    believed = 0
    for changed in mutations(facts):
        path.write_text(signed(changed))
        try:
            decode(path.read_bytes(), ref=ref, pinned=False)
        except ValueError:
            with pytest.raises(StoreError):
                store.get(ref)
            continue
        believed += 1
        answers = asked(store, ref)
        assert answers["open"] in (right["open"], StoreError)
        for way in ("read", "columns"):  # the closing line may name another range or reason
            said = answers[way]
            assert said is StoreError or said.split("\n[")[0] == right[way].split("\n[")[0], (way, changed)
    assert believed > 5


def test_a_record_that_is_cut_off_or_flipped_anywhere_is_noticed(store, root):
    ref = put(store, LINES, **FACTS).ref
    path = root / f"{ref}.json"
    whole, dice = path.read_bytes(), random.Random(9)
    for _ in range(150):
        at = dice.randrange(len(whole) - 1)
        flipped = whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :]
        for changed in (whole[:at], flipped, whole[:at] + whole[at + dice.randrange(1, 9) :], whole[at:] + whole[:at]):
            if changed == whole:
                continue
            path.write_bytes(changed)
            with pytest.raises(StoreError, match="The record of"):
                store.get(ref)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 100_000,
        "9" * 100_000,
        '{"spillover": 1}',
        '"' + "x" * 10**6,
        "\ufeff{}",
        "{}" * 999,
        "NaN",
    ],
)
def test_a_forged_record_is_rejected(store, root, text):
    ref = put(store, LINES).ref
    (root / f"{ref}.json").write_text(text)
    answers = asked(store, ref)
    assert answers["open"] == LINES
    assert {name for name, said in answers.items() if said is StoreError} >= {"get", "read", "grep", "outline"}
    assert "damaged" in answers["verify"]
    store.delete(ref)
    assert put(store, LINES).ref == ref


def test_records_that_were_exchanged_are_noticed(store, root):
    one, two = put(store, LINES).ref, put(store, LINES[:-5]).ref
    paths = [root / f"{ref}.json" for ref in (one, two)]
    texts = [path.read_bytes() for path in paths]
    for path, text in zip(paths, reversed(texts), strict=True):
        path.write_bytes(text)
    for ref in (one, two):
        with pytest.raises(StoreError, match="it belongs to another output"):
            store.get(ref)


@pytest.mark.parametrize(
    "change",
    [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"", lambda data: data.replace(b"\n", b"")],
)
def test_bytes_that_were_changed_are_noticed_by_whoever_looks_for_lines(store, root, change):
    ref = put(store, LINES).ref
    (root / f"{ref}.txt").write_bytes(change(LINES))
    answers = asked(store, ref)
    assert all(answers[way] is StoreError for way in ("read", "columns", "bytes", "grep", "outline"))
    assert answers["verify"]


def test_a_file_that_becomes_shorter_while_it_is_read_is_noticed(store, root):
    ref = put(store, LINES).ref
    blob = store.open(ref)
    (root / f"{ref}.txt").write_bytes(LINES[:100])
    with pytest.raises(StoreError, match="shorter"):
        blob.read(0, 1_000)
    blob.close()


def test_the_command_line_gives_a_message_and_an_exit_code(store, root, capfd, monkeypatch):
    monkeypatch.setenv("SPILLOVER_STORE", str(root))
    ref = put(store, LINES, **FACTS).ref
    path = root / f"{ref}.json"
    facts = facts_on_disk(path)
    del facts["check"]
    some = random.Random(4).sample(list(mutations(facts)), 40)
    for changed in (
        *some,
        {**facts, "index": {"block": 65_536, "before": []}},
        {**facts, "created": 9e11},
        {**facts, "created": -9e11},
    ):
        path.write_text(signed(changed))
        for words in (
            ["list"],
            ["list", "--json"],
            ["show", ref],
            ["read", ref, "5:9"],
            ["grep", ref, "x"],
            ["outline", ref],
            ["verify", ref],
        ):
            code = main(words)
            out, err = capfd.readouterr()
            assert code in (0, 1, 2, 3, 4), (words, changed)
            assert "Traceback" not in out + err
            assert code == 0 or out + err

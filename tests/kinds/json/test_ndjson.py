"""Lines that are JSON records: line N stays record N, and each line shown is JSON."""

import json
import re

import pytest
from chosen_by import CALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import Document, Section
from spillover.kinds.json import ndjson
from spillover.kinds.selection import Room
from spillover.source.blob import MemoryBlob, Meter
from spillover.tokens import estimate

GAP = re.compile(r"\[… (?:lines? )?([\d,]+)(?:-([\d,]+))?(?: not shown)? …\]")
MORE = re.compile(r"… ([\d,]+) more (?:items?|keys?), .* …|… ([\d,]+): [\d,-]+")
TINY_KEYS = re.compile(r"… [\d,-]+")
INSIDE = re.compile(
    r'"… [\d,]+ more items?, bytes [\d,-]+ …"|"… [\d,]+ more keys?, bytes [\d,-]+ …": "…"|… (?:bytes )?[\d,-]+ …'
    r'|"… [\d,]+: [\d,-]+"|"… [\d,-]+": \d+'
)


def agrees(shown, whole):
    """Whether a value that is shown in part is what it was, and its markers count what is missing."""
    if isinstance(whole, dict):
        more = {key: found[1] for key in shown if (found := MORE.fullmatch(key))}
        more |= {key: str(value) for key, value in shown.items() if TINY_KEYS.fullmatch(key)}
        there = {key: value for key, value in shown.items() if key not in more}
        hidden = sum(int(count.replace(",", "")) for count in more.values())
        return len(there) + hidden == len(whole) and all(agrees(value, whole[key]) for key, value in there.items())
    if isinstance(whole, list):
        at = 0
        for value in shown:
            if more := MORE.fullmatch(value) if isinstance(value, str) else None:
                at += int((more[1] or more[2]).replace(",", ""))
            elif at < len(whole) and agrees(value, whole[at]):
                at += 1
            else:
                return False
        return at == len(whole)
    if isinstance(whole, str) and whole != shown:
        head, tail = INSIDE.split(shown)
        return whole.startswith(head) and whole.endswith(tail)
    return shown == whole


def clipped(text, limits=None):
    """What the model sees below the notice, and the spans that were chosen."""
    limits = limits or Limits(tokens=500)
    chosen = []

    def keep(document, fill):
        chosen.append(ndjson.select(document, Room(fill), CALL))
        return chosen[-1] or []

    clip = Clipper(limits, keep=keep, store=MemoryStore()).clip(text)
    if limits.tokens:
        assert estimate(clip.text) <= limits.tokens
    return clip.text.partition("]\n")[2] if chosen else clip.text, chosen[-1] if chosen else None


def shown_of(text, limits=None, must=True):
    """The lines that are shown, by their number; each is checked against the output."""
    body, spans = clipped(text, limits)
    if not spans and not must:
        return None, None
    assert spans
    whole = text.removesuffix("\n").split("\n")
    shown, number = {}, 1
    for line in body.removesuffix("\n").split("\n"):
        if gap := GAP.fullmatch(line):
            assert int(gap[1].replace(",", "")) == number
            number = int((gap[2] or gap[1]).replace(",", "")) + 1
            continue
        original = whole[number - 1].removesuffix("\r")
        if INSIDE.search(line):
            assert agrees(json.loads(line), json.loads(original))
        else:
            assert line == original
        shown[number] = line
        number += 1
    assert number == len(whole) + 1
    return shown, spans


def records(count, **others):
    """Records all alike, but for those in the lines named l5, l7, …"""
    lines = [{"id": number, "msg": f"hello {number}", "level": "info"} for number in range(1, count + 1)]
    for name, changed in others.items():
        lines[int(name[1:]) - 1] |= changed
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize("tokens", [200, 500, 4_000])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=repr)
@pytest.mark.parametrize("final", [True, False])
def test_first_and_last_records_are_shown_whole(tokens, end, final):
    text = records(9_000).replace("\n", end)
    shown, spans = shown_of(text if final else text.removesuffix(end), Limits(tokens=tokens))
    assert json.loads(shown[1])["id"] == 1
    assert json.loads(shown[9_000])["id"] == 9_000
    assert all(span.then is None for span in spans)


def test_the_room_is_used():
    body, _ = clipped(records(9_000, l4000={"level": "warn"}), Limits(tokens=4_000))
    assert estimate(body) > 3_600


@pytest.mark.parametrize(
    ("others", "line", "why"),
    [
        ({"l5001": {"level": "warn"}}, 5_001, 'record 5,001: "level": "warn" is rare'),
        ({"l5001": {"trace": "x"}}, 5_001, "record 5,001: 4 keys, others have 3"),
        ({"l77": {"msg": "z" * 5_000}}, 77, "record 77: far longer than the others"),
        ({"l8999": {"msg": "FATAL"}}, 8_999, 'record 8,999: "fatal" is rare'),
    ],
)
def test_the_record_that_stands_out_is_kept(others, line, why):
    shown, spans = shown_of(records(9_000, **others))
    assert line in shown
    assert why in [span.why for span in spans]


def test_more_than_a_block_is_looked_at_the_same_way(monkeypatch):
    text = records(2_000, l700={"level": "warn"}, l1500={"msg": "y" * 3_000})
    once = clipped(text)
    monkeypatch.setattr(ndjson, "BLOCK_BYTES", 1_000)  # shorter than one of the lines
    assert clipped(text) == once


def test_long_records_are_shortened_inside():
    lines = [json.dumps({"id": n, "all": list(range(3_000)), "text": "x\n" * 2_000, "ok": True}) for n in range(50)]
    shown, _ = shown_of("\n".join(lines), Limits(tokens=800))
    first = json.loads(shown[1])
    assert list(first) == ["id", "all", "text", "ok"]
    assert first["ok"] is True
    assert {1, 50} <= set(shown)


def test_a_long_record_that_stands_out_behind_the_first_is_cut_once():
    parts = {"all": list(range(300)), "more": {f"key {n}": list(range(90)) for n in range(50)}}
    lines = [json.dumps({"id": n} | parts) for n in range(1, 40)]
    lines[1] = json.dumps({"id": 2, "error": "x"} | parts)
    for tokens in range(900, 3_000, 150):
        shown, _ = shown_of("\n".join(lines), Limits(tokens=tokens))
        assert {1, 2, 39} <= set(shown)


def test_an_empty_line_is_no_record_that_stands_out():
    lines = records(3_000).splitlines()
    lines[1_500] = ""
    shown, spans = shown_of("\n".join(lines))
    assert 1_501 not in shown
    assert {span.why for span in spans} == {"first records", "last records"}


def test_records_around_the_one_that_stands_out_are_shown_too():
    shown, _ = shown_of(records(9_000, l5001={"level": "warn"}), Limits(tokens=1_500))
    assert {1, 2, 5_000, 5_001, 5_002, 8_999, 9_000} <= set(shown)


def test_a_line_that_is_no_record_upsets_nothing():
    text = records(3_000, l2000={"level": "warn"})
    lines = text.splitlines()
    lines[500] = 'starting "worker [3} {{{ \\'
    lines[501] = ""
    shown, spans = shown_of("\n".join(lines))
    assert 501 in shown  # it stands out
    assert 2_000 in shown
    assert 'record 2,000: "level": "warn" is rare' in [span.why for span in spans]


@pytest.mark.parametrize(
    "text",
    [
        "plain text\n" * 3_000,
        json.dumps(list(range(9_000))),  # one value
        json.dumps([{"a": n} for n in range(2_000)], indent=1),
        "1\n2\n" * 3_000,  # values, but no records
        '{"a": 1}\nplain\n' * 2_000,
        "\n" * 9_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_lines_of_records_is_left_to_others(text):
    assert Clipper(Limits(tokens=500), store=MemoryStore()).clip(text).kind != "ndjson"


def test_no_more_than_a_block_is_read_at_a_time():
    data = records(60_000, l40000={"msg": "FATAL"}).encode()
    meter, sizes = Meter(), []
    meter.feed(data)

    class Counted(MemoryBlob):
        def read(self, start, end):
            sizes.append(end - start)
            return super().read(start, end)

    whole = Document(Counted(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),), 1 << 16)
    spans = ndjson.select(whole, Room(lambda spans: sum(span.end - span.start for span in spans) / 1_000), CALL)
    assert 'record 40,000: "fatal" is rare' in [span.why for span in spans]
    assert len(data) > 2 * ndjson.BLOCK_BYTES
    assert max(sizes) <= ndjson.BLOCK_BYTES


def test_one_huge_line_among_others_is_hidden_or_shortened():
    lines = records(300).splitlines()
    lines[150] = json.dumps({"id": 151, "msg": "w" * 3_000_000, "level": "info"})
    shown, spans = shown_of("\n".join(lines))
    assert 151 in shown
    assert "record 151: far longer than the others" in [span.why for span in spans]


def test_a_huge_number_is_not_cut():
    lines = records(300).splitlines()
    lines[150] = "[" + "9" * 4_000 + "]"
    shown, _ = shown_of("\n".join(lines))
    assert "999999" not in "".join(shown.values())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="ascii", exclude_characters="\x7f"), max_size=200),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text('abc\\"é', max_size=9), inner, max_size=9),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(st.dictionaries(st.text("abc", max_size=3), values, min_size=1), min_size=2, max_size=30),
    st.integers(1, 60),
    st.integers(200, 2_000),
)
def test_any_records_stay_records(some, times, tokens):
    text = "".join(json.dumps(record) + "\n" for record in some * times)
    shown_of(text, Limits(tokens=tokens), must=False)

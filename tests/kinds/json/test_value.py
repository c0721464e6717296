"""One JSON value stays one: what is shown parses, and all of it but the markers is as it came."""

import ast
import json
import re

import pytest
from chosen_by import CALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.document.clean import clean
from spillover.document.document import Document, Section
from spillover.kinds.json import value as one_value
from spillover.kinds.json.marks import scan
from spillover.kinds.json.tree import explain, share_above
from spillover.kinds.selection import Hidden, Room, Span
from spillover.source.blob import MemoryBlob, Meter
from spillover.tokens import estimate

# The first marker is in full; where there are many, the others are numbers.
ITEMS = re.compile(r"… ([\d,]+) more items?, (?:lines?|bytes) [\d,-]+ …|… ([\d,]+): (?:lines? )?[\d,-]+")
KEYS = re.compile(r"… ([\d,]+) more keys?, (?:lines?|bytes) [\d,-]+ …")
TINY_KEYS = re.compile(r"… (?:lines? )?[\d,-]+")
CHARS = re.compile(r"… (?:lines? |bytes )?[\d,-]+ …", re.DOTALL)


def count(marker):
    return int((marker[1] or marker[2]).replace(",", ""))


def hidden_keys(key, value):
    """How many members a marker in an object stands for; 0 if it is none."""
    if value == "…" and (hidden := KEYS.fullmatch(key)):
        return int(hidden[1].replace(",", ""))
    return int(value) if TINY_KEYS.fullmatch(key) else 0


class Pairs(list):
    """An object's members in order, the same key twice included."""


def loaded(text):
    """A JSON text with its numbers as they are written."""
    return json.loads(
        text.removeprefix("\ufeff"), object_pairs_hook=Pairs, parse_int=str, parse_float=lambda x: ("float", x)
    )


def without_markers(shown, whole):
    """Assert that what is shown is what it was, where it is not a marker."""
    if isinstance(whole, Pairs):
        assert isinstance(shown, Pairs)
        markers = [key for key, value in shown if hidden_keys(key, value)]
        assert len(markers) == len(set(markers))
        at = 0
        for key, value in shown:
            if hidden := hidden_keys(key, value):
                at += hidden
            else:
                assert key == whole[at][0]
                without_markers(value, whole[at][1])
                at += 1
        assert at == len(whole)
    elif isinstance(whole, list):
        at = 0
        for value in shown:
            if isinstance(value, str) and (hidden := ITEMS.fullmatch(value)):
                at += count(hidden)
            else:
                without_markers(value, whole[at])
                at += 1
        assert at == len(whole)
    elif isinstance(whole, str) and shown != whole:
        head, tail = CHARS.split(shown)
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert len(head) + len(tail) < len(whole)
    else:
        assert shown == whole


def clipped(text, limits=None, select=one_value.select):
    """What the model sees below the notice, and the spans that were chosen."""
    limits = limits or Limits(tokens=500)
    chosen = []

    def keep(document, fill):
        chosen.append(select(document, Room(fill), CALL))
        return chosen[-1] or []

    clip = Clipper(limits, keep=keep, store=MemoryStore()).clip(text)
    if limits.tokens:
        assert estimate(clip.text) <= limits.tokens
    if limits.bytes:
        assert len(clip.text.encode()) <= limits.bytes
    return clip.text.partition("]\n")[2] if chosen else clip.text, chosen[-1] if chosen else None


def shown_of(text, limits=None):
    """The same, checked."""
    body, spans = clipped(text, limits)
    assert spans
    raw = text if isinstance(text, bytes) else text.encode()
    shown = loaded(body)
    without_markers(shown, loaded(clean(raw)))
    return body, spans


def chosen(data, sections=(), blob=None, fills=None):
    """The spans alone, with room for 1,000 bytes; `fills` gets how full each choice was."""
    fills = [] if fills is None else fills

    def fill(spans):
        fills.append(sum(span.end - span.start for span in spans) / 1_000)
        return fills[-1]

    meter = Meter()
    meter.feed(data)
    sections = tuple(sections) or (Section(0, len(data)),)
    document = Document(blob or MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections, 1 << 16)
    return one_value.select(document, Room(fill), CALL)


def records(count, **others):
    """Records all alike, but for those named r5, r7, …"""
    all_alike = [{"id": number, "name": f"user {number}", "status": "ok", "n": number * 7} for number in range(count)]
    for name, changed in others.items():
        all_alike[int(name[1:])] |= changed
    return all_alike


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
    | st.sampled_from(["x" * 5_000, "é" * 3_000, "\\" * 999, '\n"\\' * 500, "😀" * 700, "a\u2028b\x7fc" * 100]),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=12), inner, max_size=12),
    max_leaves=25,
)  # fmt: skip
documents = st.one_of(
    st.builds(lambda value, times: [value] * times, values, st.integers(1, 400)),
    st.builds(lambda value, times: {f"key {n}": value for n in range(times)}, values, st.integers(1, 400)),
    st.builds(lambda small, large: {"data": {"items": large}, "meta": small}, values, st.lists(values, max_size=50)),
    values,
)
layouts = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, None, 0, 1, 2, 8, "\t"]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\t"), (",\r\n", ":")]),
        "ensure_ascii": st.booleans(),
    }
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(documents, layouts, st.integers(200, 3_000), st.sampled_from(["", "\n", " \r\n"]))
def test_any_value_in_any_layout_is_json_still_and_holds_what_it_held(value, layout, tokens, behind):
    text = json.dumps(value, **layout) + behind
    body, spans = clipped(text, Limits(tokens=tokens))
    if spans:
        without_markers(loaded(body), loaded(clean(text.encode())))


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}], ids=str)
@pytest.mark.parametrize("tokens", [200, 500, 4_000])
def test_the_shape_is_kept_and_small_siblings_are_whole(layout, tokens):
    value = {"data": {"items": records(5_000)}, "meta": {"count": 5_000, "next": None}, "ok": True}
    body, _ = shown_of(json.dumps(value, **layout), Limits(tokens=tokens))
    shown = json.loads(body)
    assert list(shown) == ["data", "meta", "ok"]
    assert shown["meta"] == value["meta"]
    assert shown["data"]["items"][0]["id"] == 0
    assert shown["data"]["items"][-1]["id"] == 4_999


def test_few_renderings_find_what_fits():
    fills = []
    assert chosen(json.dumps({"data": {"items": records(50_000)}, "n": 1}).encode(), fills=fills)
    assert len(fills) <= 12
    assert max(fill for fill in fills if fill <= 1) > 0.8  # the last one tried may have been too much


def test_the_room_is_used():
    body, _ = clipped(json.dumps({"data": {"items": records(5_000)}}), Limits(tokens=4_000))
    assert estimate(body) > 3_600


def test_keys_of_every_level_come_before_the_contents_of_any():
    value = {f"part {n}": {"settings": {"a": list(range(400)), "b": "x" * 900}, "notes": "y" * 900} for n in range(4)}
    shown = json.loads(shown_of(json.dumps(value), Limits(tokens=900))[0])
    assert [list(part) for part in shown.values()] == [["settings", "notes"]] * 4
    assert [list(part["settings"]) for part in shown.values()] == [["a", "b"]] * 4


def test_an_object_of_many_keys_is_shown_like_an_array_and_hides_one_run():
    value = {f"id {number}": {"a": number, "b": "text"} for number in range(10_000)}
    body, _ = shown_of(json.dumps(value, indent=1))
    shown = json.loads(body)
    assert body.count('"…"') == 1
    assert next(iter(shown)) == "id 0"
    assert list(shown)[-1] == "id 9999"


@pytest.mark.parametrize(
    ("others", "number", "why"),
    [
        ({"r1413": {"status": "failed"}}, 1413, 'record 1,414: "status": "failed" is rare'),
        ({"r1413": {"status": "no"}}, 1413, 'record 1,414: "status": "no" is rare'),  # as long as the others
        ({"r7": {"more": 1}}, 7, "record 8: 5 keys, others have 4"),
        ({"r1999": {"status": "ko"}, "r31": {"name": "z" * 900}}, 31, "record 32: far longer than the others"),
        ({"r1413": {"a": 1}, "r1414": {"b": 1}}, 1414, "record 1,415: 5 keys, others have 4"),  # side by side
        ({"r700": {"name": "an Exception"}}, 700, 'record 701: "exception" is rare'),
    ],
)
@pytest.mark.parametrize("layout", [{}, {"indent": 4}, {"separators": (",", ":")}], ids=str)
def test_the_record_that_stands_out_is_kept(others, number, why, layout):
    body, spans = shown_of(json.dumps({"n": 2, "all": records(2_000, **others)}, **layout), Limits(tokens=600))
    shown = [record for record in json.loads(body)["all"] if isinstance(record, dict)]
    assert number in [record["id"] for record in shown]
    assert why in [span.why for span in spans]


def test_an_object_hides_one_run_even_where_a_member_stands_out():
    value = {f"id {number}": {"a": number, "b": "text"} for number in range(2_000)}
    value["id 1000"]["c"] = 3
    body, _ = shown_of(json.dumps(value))
    assert body.count('"…"') == 1


def test_a_record_without_a_key_stands_out():
    all_of_them = records(3_000)
    del all_of_them[2_222]["name"]
    body, spans = shown_of(json.dumps(all_of_them))
    assert '"id": 2222,' in body
    assert "record 2,223: 3 keys, others have 4" in [span.why for span in spans]


def test_a_rare_value_inside_a_value_stands_out():
    all_of_them = [{"id": number, "result": {"code": 0, "of": "a"}} for number in range(3_000)]
    all_of_them[99]["result"]["code"] = 7
    _, spans = shown_of(json.dumps(all_of_them))
    assert 'record 100: "code": 7' in [span.why for span in spans]


def test_what_is_common_does_not_stand_out():
    body, spans = shown_of(json.dumps([{"id": n, "status": "ok" if n % 2 else "failed"} for n in range(5_000)]))
    assert {span.why for span in spans} == {"first items", "last items"}
    assert body.count("more items") == 1


def test_many_that_stand_out_leave_half_of_the_room_to_the_ends():
    others = {f"r{number}": {f"key {number}": 1} for number in range(100, 5_000, 500)}
    body, _ = shown_of(json.dumps(records(5_000, **others)), Limits(tokens=600))
    assert '"id": 1,' in body


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2, 3" + ", 4" * 9_000,
        '{"a": 1,}' + " " * 9_000,
        "[1] x" * 9_000,
        "[1]\n[2]\n" * 3_000,
        "plain text\n" * 3_000,
        '"a string alone' + "x" * 9_000 + '"',
        "[" + "1, " * 9_000 + "NaN]",
        "[1,\r" + "2," * 9_000 + "1]",  # a person would see the last frame only
        b'["\xff' + b"x" * 9_000 + b'"]',
        b'["\x01' + b"x" * 9_000 + b'"]',
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_json_is_left_to_others(text):
    assert not clipped(text)[1]


def test_whitespace_without_end_is_given_up_soon():
    fills = []
    data = b"[" + b" " * 900_000 + b"1]"
    assert chosen(data, fills=fills) == []
    assert fills == []


def test_a_value_above_the_cap_is_left_to_others(monkeypatch):
    monkeypatch.setattr(one_value, "MAX_BYTES", 1_000)
    assert chosen(json.dumps(records(500)).encode()) == []


@pytest.mark.parametrize("levels", [30, 100, 900, 100_000])
@pytest.mark.parametrize("inner", ["1", '"' + "x" * 9_000 + '"', ", ".join(["1"] * 4_000)])
def test_deep_nesting_is_survived(levels, inner):
    text = "[" * levels + inner + "]" * levels
    body, spans = clipped(text)
    if spans:
        json.loads(body)


def test_more_brackets_than_are_remembered_are_shown_whole_or_not_at_all(monkeypatch):
    monkeypatch.setattr("spillover.kinds.json.marks.MAX_MARKS", 2_000)
    monkeypatch.setattr("spillover.kinds.json.marks.BLOCK_BYTES", 1_000)
    body, _ = shown_of(json.dumps([[number, [number] * 9] for number in range(1_500)]))
    assert json.loads(body)[0] == [0, [0] * 9]


def test_numbers_are_never_altered():
    text = "[" + ", ".join(["1.0", "1e5", "-0", "12345678901234567890.10", "1E+2"] * 900) + "]"
    body, _ = shown_of(text)
    assert body.startswith("[1.0, 1e5, -0, 12345678901234567890.10, 1E+2, ")


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_a_huge_number_is_hidden_whole(at):
    parts = ['"a"', "2", '{"b": 3}']
    parts.insert(at, "9" * 5_000)
    body, _ = shown_of(f"[{', '.join(parts)}]")
    assert "99999" not in body
    assert "… 1 more item, " in body


def test_a_huge_key_is_hidden_with_its_value():
    body, _ = shown_of(json.dumps({"a": 1, "k" * 5_000: 2, "b": 3}))
    assert json.loads(body)["a"] == 1
    assert json.loads(body)["b"] == 3
    assert "1 more key," in body


def test_the_same_key_twice_is_shown_twice():
    body, _ = shown_of('{"a": 1, "a": 2, "rest": "' + "x" * 9_000 + '", "a": 3}')
    assert body.startswith('{"a": 1, "a": 2, "rest": "xxx')
    assert body.endswith('xxx", "a": 3}')


def test_the_layout_stays_as_it_came():
    text = json.dumps(records(900), indent="\t").replace("\n", "\r\n")
    body, _ = shown_of(text)
    assert body.startswith('[\n\t{\n\t\t"id": 0,\n\t\t"name": "user 0",\n')
    assert re.search(r'\n\t},\n\t"… \d+ more items, lines \d+-[\d,]+ …",\n\t\{\n', body)


def test_a_byte_order_mark_stays_before_the_value():
    body, _ = shown_of("\ufeff" + json.dumps(records(900)))
    assert body.startswith('\ufeff[{"id": 0')


def test_an_array_all_hidden_is_one_marker():
    body, _ = shown_of(json.dumps({f"list {n}": ["y" * 70] * 40 for n in range(12)}), Limits(tokens=400))
    assert all(len(value) >= 1 for value in json.loads(body).values())


def test_nothing_but_a_count_is_left_to_others():
    assert not clipped('{"' + "k" * 5_000 + '": 1}')[1]
    assert not clipped("[" + "7" * 5_000 + "]")[1]


@pytest.mark.parametrize(
    ("spans", "parts", "expected"),
    [
        ([(0, 90)], [], [(0, 90, "shape")]),
        ([(0, 90), (95, 99)], [(20, 60, "a")], [(0, 20, "shape"), (20, 60, "a"), (60, 90, "shape"), (95, 99, "shape")]),
        ([(0, 90)], [(2, 40, "a"), (42, 88, "b")], [(0, 42, "a"), (42, 90, "b")]),  # commas go with what they divide
        ([(0, 90)], [(0, 90, "a"), (30, 60, "b")], [(0, 30, "a"), (30, 60, "b"), (60, 90, "a")]),
        ([(0, 90)], [(0, 90, "a"), (30, 60, "first")], [(0, 90, "a")]),  # the usual says least
        ([(0, 40), (50, 90)], [(30, 60, "a")], [(0, 30, "shape"), (30, 40, "a"), (50, 60, "a"), (60, 90, "shape")]),
    ],
)
def test_spans_are_divided_where_the_reason_changes(spans, parts, expected):
    divided = explain([Span(start, end) for start, end in spans], parts, ("first",))
    assert [(span.start, span.end, span.why) for span in divided] == expected


def test_what_follows_a_gap_is_said_once():
    hidden = Hidden("items", 3)
    divided = explain([Span(0, 90, then=hidden), Span(95, 99)], [(20, 60, "a")], ())
    assert [span.then for span in divided] == [None, None, hidden, None]


@pytest.mark.parametrize(
    ("sizes", "leasts", "room", "expected"),
    [
        ([5, 5], [1, 1], 20, [5, 5]),
        ([5, 50], [1, 1], 20, [5, 15]),
        ([50, 50, 2], [1, 1, 1], 22, [10, 10, 2]),
        ([50, 50], [1, 30], 40, [5, 35]),
        ([50, 50], [30, 30], 10, [30, 30]),  # nobody gets less than the least
        ([], [], 10, []),
    ],
)
def test_room_is_shared(sizes, leasts, room, expected):
    assert share_above(sizes, leasts, room) == expected


def by_hand(text):
    """The same as `scan`, one byte after the other."""
    levels, depth, quoted, escaped = {}, 0, False, False
    for at, char in enumerate(text):
        if escaped or (quoted and char == "\\"):
            escaped = not escaped
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in ",[{]}":
            depth += char in "[{"
            levels.setdefault(depth, []).append(at)
            depth -= char in "]}"
    return [levels[depth] for depth in sorted(levels)]


@settings(max_examples=60, deadline=None)
@given(values.filter(lambda value: isinstance(value, list | dict)), layouts, st.integers(1, 70))
def test_marks_are_found_whatever_the_blocks(value, layout, block):
    text = json.dumps(value, **layout | {"ensure_ascii": True})[:2_000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spillover.kinds.json.marks.BLOCK_BYTES", block)
        assert [level.tolist() for level in scan(text.encode()).levels] == by_hand(text)


TABLES = [
    {
        "schema": "public",
        "name": f"table_{n}",
        "kind": "BASE TABLE",
        "owner": None,
        "logged": True,
        "comment": "none so far, as nobody wrote one",
    }
    for n in range(90)
]


def clip_text(text, tokens=600):
    return Clipper(Limits(tokens=tokens), store=MemoryStore()).clip(text)


def test_a_python_repr_is_known_and_its_rows_are_shown():
    clipped = clip_text(repr(TABLES))
    assert clipped.kind == "repr"
    assert sum(f"'table_{n}'" in clipped.text for n in range(90)) > 10
    assert "'none so far, as nobody wrote one'" not in clipped.text.partition("table_1'")[2]


def test_words_around_a_value_stay():
    clipped = clip_text(
        "Backend metadata:\n\n" + json.dumps({"tables": TABLES}, indent=2) + "\n\nCall get-table-schema for more.\n"
    )
    assert clipped.kind == "repr"
    assert "Backend metadata:\n\n{" in clipped.text
    assert clipped.text.rstrip().endswith("Call get-table-schema for more.")


@pytest.mark.parametrize(
    "text",
    ["[INFO] start\n" * 400, "[1/9] building it\n" * 400, "{'a': 1} and more\n" * 400, "[{'a': it's}]" + " " * 4_000],
)
def test_what_only_begins_like_a_value_is_a_log(text):
    assert clip_text(text, 300).kind == "log"


def test_the_head_of_a_minified_file_is_shown():
    banner = "/*! harbour v3.7.1 | (c) Harbour Lamps | harbour.example.org/license */\n"
    text = (
        banner
        + "!function(e,t){"
        + "".join(f'var a{n}=function(b,c){{return b&&c?d({n}):e["x{n}"]}};' for n in range(900))
        + "}(this);"
    )
    clipped = clip_text(text)
    assert clipped.kind == "blob"
    assert "harbour v3.7.1" in clipped.text
    assert "minified code" in clipped.text


PEOPLE = [{"id": number, "name": f"o'neil {number}", "note": None, "ok": True, "pair": (1,)} for number in range(2_000)]
PEOPLE[1_333]["note"] = "FAILED: disk on fire"


def clip_repr(value):
    clipper = Clipper(Limits(tokens=700), store=MemoryStore(), hints="cli", scope="test")
    clip = clipper.clip(repr(value))
    assert clipper.settings.count(clip.text) <= 700
    return clip, clip.text.partition("]\n")[2], clipper


@pytest.mark.parametrize(
    "value", [PEOPLE, tuple(PEOPLE), {"rows": PEOPLE}, [(number, "x\x1b'\"", b"y") for number in range(3_000)]]
)
def test_a_repr_stays_a_repr(value):
    clip, body, _ = clip_repr(value)
    assert clip.kind == "repr"
    shown = ast.literal_eval(body)
    assert type(shown) is type(value)
    assert ("on fire" in body) == ("on fire" in repr(value))


@pytest.mark.parametrize("item", ["datetime.date(2026, 1, 2)", "b'bytes'", "None", "Decimal(15)"])
def test_a_repr_may_begin_with_a_call_bytes_or_a_word(item):
    clipper = Clipper(Limits(tokens=300), store=MemoryStore(), scope="test")
    assert clipper.clip(f"[{', '.join([item] * 2_000)}]").kind == "repr"


def test_a_log_in_a_repr_keeps_its_error_and_can_be_read_by_its_pointer():
    log = "all good\n" * 2_000 + "ERROR: it's broken\n" + "all good\n" * 2_000
    clip, body, clipper = clip_repr({"stdout": log, "code": 2})
    assert "ERROR: it's broken\n" in ast.literal_eval(body)["stdout"]
    assert "2001: ERROR: it's broken" in clipper.read(f"{clip.ref}#/stdout", lines="2001").text


@pytest.mark.parametrize(
    "text", ["[see 'above'] and so on ", "{'a', 'b'} ", "(defun x (y) 'z) ", "[1, 2 'x'] ", "['unclosed, ", "{x: 'y'} "]
)
def test_what_only_looks_like_one_is_none(text):
    clipper = Clipper(Limits(tokens=300), store=MemoryStore(), scope="test")
    assert clipper.clip(text * 2_000).kind != "repr"

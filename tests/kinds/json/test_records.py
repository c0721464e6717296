"""Records alike: many as rows, each with what tells it from the others; what differs is shown wherever it is."""

import json

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.json.marks import parse
from spillover.kinds.json.records import Rows


def clip(value, tokens=600, query=None, **options):
    text = value if isinstance(value, str) else json.dumps(value)
    return Clipper(Limits(tokens=tokens), store=MemoryStore(), **options).clip(text, query=query)


def block(n, **others):
    words = f"words of block {n}, which are many more than a marker has"
    return {
        "object": "block",
        "id": f"25-{n:04d}-cebd",
        "parent": {"type": "page", "id": "the-same-page-for-all"},
        "archived": False,
        "created": f"2026-01-{n % 28 + 1:02d}T10:00:00Z",
        "by": {"object": "user", "id": "the-same-user-for-all"},
        "type": ("paragraph", "heading", "divider")[n % 3],
        "text": {"content": words, "plain": words, "bold": False},
    } | others


def alike(value):
    marks = parse(json.dumps(value).encode())
    return Rows(marks, marks.inside(0, len(marks.data), 1), 1)


def test_all_records_are_named_before_any_is_shown_in_full():
    text = clip({"results": [block(n) for n in range(20)]}, 2_200).text
    assert all(f"25-{n:04d}-cebd" in text for n in range(20))
    assert text.count("the-same-user-for-all") < 20


@pytest.mark.parametrize("tokens", [400, 600, 1_000, 1_450])
def test_a_rare_value_is_shown_before_more_records_are(tokens):
    columns = [
        {
            "table": f"table_{n // 5}",
            "column": f"column_{n % 5}",
            "type": "TEXT" if n % 5 else "INTEGER",
            "default_value": "CURRENT_TIMESTAMP" if n % 5 == 2 else None,
            "primary_key": int(n % 5 == 0),
        }
        for n in range(50)
    ]
    columns[31]["default_value"] = "'card'"
    assert "'card'" in clip(columns, tokens).text


def test_a_lean_record_is_less_than_half_as_long():
    records = alike([block(n) for n in range(12)])
    assert records.record(3).size > 2 * records.lean(3).size


def test_a_field_that_differs_is_shown_however_deep_it_is():
    pods = [
        {
            "name": f"pod-{n:02d}",
            "spec": {"image": "checkout:2.4", "ports": [{"port": 8080}]},
            "status": {
                "phase": "Running",
                "containers": [{"ready": True, "state": {"running": {"since": "2026-01-01T00:00:00Z"}}}],
            },
        }
        for n in range(60)
    ]
    pods[41]["status"]["containers"][0]["state"] = {"waiting": {"reason": "CrashLoopBackOff"}}
    clipped = clip({"items": pods})
    assert '"reason": "CrashLoopBackOff"' in clipped.text
    assert '"pod-41"' in clipped.text
    assert any("CrashLoopBackOff" in reason.why for reason in clipped.why)


def test_in_records_of_many_kinds_no_inner_value_is_rare():
    records = [{"kind": n, "inner": {f"key {n % 32}": n % 32}} for n in range(64)]
    assert not [reason for reason in clip(records, 300).why if "key" in reason.why]


def test_a_rare_inner_value_is_found_among_thousands():
    records = [{"id": n, "inner": {"state": "on"}} for n in range(4_000)]
    records[3_000]["inner"]["state"] = "off"
    clipped = clip(records, 300)
    assert '"state": "off"' in clipped.text
    assert 'record 3,001: "state": "off"' in [reason.why for reason in clipped.why]


def test_what_a_record_says_twice_is_shown_once():
    text = clip([block(n) for n in range(14)], 700).text
    assert text.count("words of block 7") <= 1


def test_an_address_that_only_holds_the_id_gives_way():
    text = clip(
        [
            {"sha": f"{n:040x}", "url": f"https://api.example.org/commits/{n:040x}", "message": f"change {n}"}
            for n in range(40)
        ],
        1_500,
    ).text
    assert text.count("change ") > 20
    assert text.count("https://") < 20


def test_an_object_of_records_is_shown_like_an_array_of_them():
    tables = {
        f"table_{n}": {
            "schema": "public",
            "owner": "shop",
            "comment": f"what table {n} is for",
            "rows": n,
            "kind": "permanent and logged",
        }
        for n in range(30)
    }
    text = clip(tables, 1_100).text
    assert sum(f'"table_{n}"' in text for n in range(30)) > 20


def test_what_answers_the_query_is_among_the_rows():
    records = [block(n) for n in range(400)]
    records[222]["text"]["content"] = "Toronto in autumn"
    assert "25-0222-cebd" not in clip(records).text
    assert "25-0222-cebd" in clip(records, query='{"query": "Toronto autumn"}').text


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("tokens", [120, 300, 900, 3_000])
def test_what_is_shown_is_json_still(tokens, indent):
    text = clip(
        json.dumps({"results": [block(n, extra=[{"a": n}, {"a": n + 1}]) for n in range(80)]}, indent=indent), tokens
    ).text
    body = text[text.index("\n") + 1 :].strip()
    body = body if body.startswith("{") else body[body.index("{") :]
    assert json.loads(body)


def test_records_that_say_nothing_of_their_own_are_not_rows():
    assert not alike([{"a": [1, 2], "b": True}] * 9).are_alike

"""Laws 2, 7 and 9 where outputs are passed by reference: exactly what is stored, of one's own scope and session, up to the cap."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import law_for_processes, outputs
from law_naive import Lines

from spillover import Clipper, MemoryStore
from spillover.adapters.mcp.reference import References
from spillover.errors import UsageError
from spillover.testing import HOSTILE_REFS, put


def references(store, scope="mine", **options):
    choices = Clipper(store=store, scope=scope).for_answers()
    return References(choices=choices, **{"tools": ("save",), "since": 0.0, **options})


@law_for_processes
@given(data=outputs, first=st.integers(1, 40), more=st.integers(0, 40))
def test_what_is_passed_on_is_what_is_stored(data, first, more):
    store = MemoryStore()
    ref = put(store, bytes(data), "probe", scope="mine").ref
    lines = Lines(data)
    passed = references(store).put_into({"text": f"spill://{ref}", "other": f"see spill://{ref}"}, "save", {})
    assert passed.arguments == {"text": bytes(data).decode("utf-8", "replace"), "other": f"see spill://{ref}"}
    assert len(passed.notes) == 1
    if first + more <= len(lines):
        asked = {"text": [f"spill://{ref}#L{first}-{first + more}"]}
        start, end = lines.upto(first, first + more)
        got = references(store).put_into(asked, "save", {}).arguments["text"]
        assert got == [bytes(data)[start:end].decode("utf-8", "replace")]


@law_for_processes
@given(data=outputs)
def test_a_string_inside_of_json_is_passed_on_as_it_is(data):
    store, text = MemoryStore(), data.decode("utf-8", "replace")
    ref = put(store, json.dumps({"a": [{"b": text}]}).encode(), "probe", scope="mine").ref
    assert references(store).put_into({"x": f"spill://{ref}#/a/0/b"}, "save", {}).arguments == {"x": text}


REFUSED = {
    "another scope": {"scope": "yours"},
    "an earlier session": {"since": float("inf")},
    "a tool that nobody allowed": {"tools": ("other",)},
    "more than the cap": {"cap": 10},
}


@pytest.mark.parametrize("how", REFUSED)
def test_nothing_else_is_passed_on_and_the_refusal_says_no_content(how):
    store = MemoryStore()
    ref = put(store, b"a secret of eleven words\n" * 10, "probe", scope="mine").ref
    with pytest.raises(UsageError) as caught:
        references(store, **REFUSED[how]).put_into({"x": f"spill://{ref}"}, "save", {})
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("ref", HOSTILE_REFS)
def test_a_hostile_ref_reaches_nothing(ref):
    with pytest.raises(UsageError):
        references(MemoryStore()).put_into({"x": f"spill://{ref}"}, "save", {})


def test_two_references_share_one_cap():
    store = MemoryStore()
    ref = put(store, b"x" * 600, "probe", scope="mine").ref
    made = references(store, cap=1_000)
    made.put_into({"a": f"spill://{ref}"}, "save", {})
    with pytest.raises(UsageError, match="1,000"):
        made.put_into({"a": f"spill://{ref}", "b": f"spill://{ref}"}, "save", {})

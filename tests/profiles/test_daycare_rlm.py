"""daycare's Python results in both modes."""

import pytest

from spillover import MemoryStore
from spillover.profiles import daycare
from support import EXEC_CHARS


def text(value):
    return {"type": "text", "text": value}


@pytest.fixture
def by():
    return daycare.clipper(store=MemoryStore())


def stored(clipper, ref):
    blob = clipper.store.open(ref)
    return blob.read(0, blob.size).decode()


# A run of Python.


def test_both_modes_of_delivery_say_the_same_text(by):
    result = daycare.rlm_result(["p" * 4_000] * 3, "o" * 12_000, by=by)
    assert result.typed_result == {"summary": result.text, "isError": False}
    assert result.tool_message("c1")["content"] == [text(result.text)]
    assert result.message()["content"] == [text(f"<python_result>\n{result.text}\n</python_result>")]
    assert result.message()["role"] == "user"
    assert len(result.message()["content"][0]["text"]) <= EXEC_CHARS
    whole = [stored(by, ref) for ref in result.refs]
    assert whole[:2] == ["\n".join(["p" * 4_000] * 3), "o" * 12_000]


def test_the_head_survives_the_safety_net(by):
    result = daycare.rlm_result(["p" * 8_000], "o" * 8_000, by=by)
    content = result.tool_message("c1")["content"]
    assert daycare.tool_result(content, by=by) is content
    message = result.message()["content"]
    assert daycare.tool_result(message, by=by) is message


def test_an_error_is_bounded_as_well(by):
    result = daycare.rlm_tool_result("e" * 20_000, is_error=True, by=by)
    assert result.text == daycare.head_tail("e" * 20_000, 16_000, "python result")
    assert result.typed_result == {"summary": result.text, "isError": True}
    assert stored(by, result.refs[0]) == "e" * 20_000


def test_a_short_result_says_what_there_is():
    assert daycare.rlm_result([], "", tool_calls=3).text == (
        "Python execution completed.\n\nTool calls: 3\n\nPrint output:\n(none)\n\nOutput:\n(empty)"
    )

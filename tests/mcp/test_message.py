"""Parsing JSON-RPC lines, including odd ones."""

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.mcp.message import dumps, loads, messages
from spillover.mcp.results import bound_answer, bound_message

#: line → (id, method, result, whether it is a request) for each message in it
LINES = {
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}': [(1, "ping", None, True)],
    b'{"jsonrpc":"2.0","id":"a","result":{"x":[1]}}': [("a", None, {"x": [1]}, False)],
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}': [(None, "notifications/initialized", None, False)],
    b'{"id":null,"error":{"code":1}}': [(None, None, None, False)],
    b'[{"id":1,"method":"a"},{"id":2,"method":"b"}]': [(1, "a", None, True), (2, "b", None, True)],
    b'{"id":1,"result":"\xff"}': [(1, None, "\ufffd", False)],
    b'{"id":1,"result":"\\ud800"}': [(1, None, "?", False)],
    b'{"id":1,"result":NaN}': [(1, None, None, False)],
    b'{"id":1,"result":%s}' % (b"9" * 6_000): [(1, None, "9" * 6_000, False)],
    b"hello": [],
    b"3": [],
    b"[1, 2]": [],
    b"": [],
    b"  \t": [],
    b'{"id":{},"method":"x"}': [],
    b'{"id":1,"method":"x"': [],
    b"[" * 100_000: [],
}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:40].decode("latin-1"))
def test_a_line_is_read_as_what_it_is(line):
    found = [(each.id, each.method, each.result, each.is_request) for each in messages(line)]
    assert found == LINES[line]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":2,"result":{"content":[]},"error":{"message":"%s"}}',
        b'{"id":2,"error":{"message":"%s"},"result":{"content":[]}}',
        b'{"id":2,"method":"x","result":{"content":["%s"]}}',
        b'{"id":2,"method":"x","params":{},"error":"%s"}',
        b'{"id":2,"result":{"content":[]},"params":"%s"}',
    ],
)
def test_a_part_that_does_not_belong_into_a_message_never_passes_with_it(line):
    clipper = Clipper(Limits(tokens=200), store=MemoryStore())
    [message] = messages(line % (b"q" * 100_000))
    assert not message.is_bare
    passed = (
        bound_answer("tools/call", message, clipper.call())
        if message.method is None
        else bound_message(message, clipper.call()).line
    )
    assert len(passed) < 3_000


def test_a_message_has_the_very_line_it_came_in():
    line = b'{ "method" : "x", "params":{"a":1.50}, "id":7, "unknown":true }'
    [message] = messages(line)
    assert message.line is line
    assert message.params == {"a": 1.5}


def test_parameters_that_are_no_object_are_none():
    [message] = messages(b'{"method":"x","params":[1],"id":7}')
    assert message.params == {}


def test_other_parameters_leave_the_rest():
    [message] = messages(b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1.50}}')
    assert loads(message.with_params({"b": 2})) == {"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"b": 2}}


@pytest.mark.parametrize("value", [2**80, 1.5, "\u2028", "a\nb", {"k": [None, True]}])
def test_what_is_written_is_one_line_that_reads_the_same(value):
    assert b"\n" not in dumps(value)
    assert loads(dumps(value)) == value

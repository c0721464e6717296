"""What all hooks share: the query in a call's arguments, and the commands of our own."""

import pytest

from spillover.hosts.hook import QUERY_CHARS, is_our_answer, query_from_arguments


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"pattern": "load_rates", "path": "src", "output_mode": "content", "-n": True}, "load_rates src"),
        ({"command": "curl -H 'Authorization: secret'", "description": "Fetch the page"}, "Fetch the page"),
        ({"file_path": "/src/a.py", "offset": 120}, "/src/a.py"),
        ({"filter": {"and": [{"name": "status"}, {"equals": "open"}]}}, "status open"),
        ('{"query": "open issues"}', "open issues"),
        ("just words", "just words"),
        ('{"not json', '{"not json'),
        (None, ""),
        (3, ""),
    ],
)
def test_the_words_of_the_arguments_are_the_query(arguments, query):
    assert query_from_arguments(arguments) == query


def test_it_is_bounded():
    assert len(query_from_arguments({str(n): "word " * 900 for n in range(900)})) <= QUERY_CHARS
    deep = {"a": "x"}
    for _ in range(50):
        deep = {"a": deep}
    assert query_from_arguments(deep) == ""


def test_a_clip_that_spill_printed_is_no_run_of_its_own_if_it_was_called_by_its_path():
    """`spill grep last` searched the clip, and not what was run: Codex has a shell with a PATH of its own."""
    for command in (
        "spill sh make",
        "/opt/bin/spill sh make",
        "cd /x && /opt/bin/spill run -- make",
        "/opt/bin/spill grep last x",
    ):
        assert is_our_answer(command)
    for command in ("./spill sh make", "/opt/bin/spill-x sh make", "/opt/bin/spill grep last x | sort", ""):
        assert not is_our_answer(command)

"""What a call asks for, by its arguments."""

import pytest

from spillover.hosts.hook import QUERY_CHARS, query_from_arguments


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

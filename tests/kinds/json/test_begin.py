"""Whether bytes begin as JSON does."""

import json

import pytest

from spillover.kinds.json.strings import is_json_prefix

LONG = json.dumps(
    [{"id": n, "name": f"name {n}", "in": {"a": [1.5e-3, True, None, 'q\\"é']}} for n in range(60)]
).encode()


@pytest.mark.parametrize(
    ("data", "whole", "goes_on"),
    [
        (LONG, True, True),
        (LONG, False, False),
        (LONG[:-1], False, True),
        (LONG[:-1], True, False),
        (LONG[:2000], False, True),
        (LONG[:2000] + b"\n[INFO] done", False, False),
        (b'[{"a": -', False, True),
        (b'[{"a": 1.', False, True),
        (b'[{"a": tru', False, True),
        (b'[{"a": "b\\', False, True),
        (b"[1, 2] and", False, False),
        (b"[1 2 x", False, False),
        (b"[INFO] done", False, False),
        (b'"text', False, False),
        (b"[" * 100_000, False, False),
        (LONG + b" trailing", True, False),
    ],
)
def test_what_is_json_as_far_as_it_goes(data, whole, goes_on):
    assert is_json_prefix(data, whole=whole) is goes_on

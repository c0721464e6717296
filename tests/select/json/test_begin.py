"""Whether bytes begin as JSON does; the decoder and the patterns say the same, and the decoder is only quicker."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.select.json import begin

LONG = json.dumps(
    [{"id": n, "name": f"name {n}", "in": {"a": [1.5e-3, True, None, 'q\\"é']}} for n in range(60)]
).encode()


@given(st.integers(0, len(LONG)), st.binary(max_size=3), st.integers(0, len(LONG)), st.booleans())
def test_the_decoder_never_says_otherwise_than_the_patterns(at, other, upto, whole):
    data = LONG[:at] + other + LONG[at:upto]
    assert begin.goes_on(data, whole=whole) == begin._goes_on(data, whole=whole)


@pytest.mark.parametrize(
    ("data", "whole", "goes_on"),
    [
        (LONG, True, True),
        (LONG, False, False),
        (LONG[:-1], False, True),
        (LONG[:-1], True, False),
        (LONG[:2000], False, True),
        (LONG[:2000] + b"\n[INFO] done", False, False),
        (b"[" * 3_000, False, True),
        (LONG + b" trailing", True, False),
    ],
)
def test_what_is_json_as_far_as_it_goes(data, whole, goes_on):
    assert begin.goes_on(data, whole=whole) is goes_on

"""The earlier output may be anywhere: in memory, in a folder, compressed there, or in a bucket. They are told alike."""

import re

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, ObjectStore

BEFORE = "".join(f"10:00:{n % 60:02d} compiled part_{chr(97 + n % 26)}{n} in {n % 9}.1s\n" for n in range(40_000))
AFTER = BEFORE.replace("10:00:", "11:30:").replace("part_a26 ", "part_a26 with a warning ")
WHERE = ["folder", "compressed", "bucket", "bucket, plain"]


def tell(store, between=lambda: None):
    """Return the sentence of the clip, and the diff; `between`: what happens to the store before it is read."""
    clipper = Clipper(Limits(tokens=500), store=store, hints="cli")
    first = clipper.clip(BEFORE)
    between()
    second = clipper.clip(AFTER, since=first.ref)
    between()
    assert "part_a26 with a warning" in second.text
    return re.search(r"Since .* gone\.", second.text)[0], clipper.diff(second.ref, since=first.ref).text


@pytest.fixture(scope="module")
def expected():
    clip, diff = tell(MemoryStore())
    assert ": 1 line new, 0 with changed numbers, 39,999 same, 1 gone." in clip
    assert "+ 27: 11:30:26 compiled part_a26 with a warning in 8.1s\n" in diff
    return clip, diff


@pytest.mark.parametrize("where", WHERE)
def test_it_is_told_the_same_wherever_the_earlier_output_is_kept(where, tmp_path, expected, request):
    if where.startswith("bucket"):
        address = request.getfixturevalue("s3")
        store = ObjectStore(address, spool=tmp_path, compress=where == "bucket")
        assert tell(store) == expected
        return
    store = DirStore(tmp_path)
    squeezed = []

    def compress():
        squeezed.append(store.compress(older_than_seconds=-1).outputs)

    assert tell(store, compress if where == "compressed" else lambda: None) == expected
    assert squeezed == ([1, 1] if where == "compressed" else [])

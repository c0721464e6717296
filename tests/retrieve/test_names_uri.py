"""`spill://REF#…`: every form of docs/format.md, and what is refused."""

import json

import pytest

from spillover import Clipper, Limits, MemoryStore, RefError, UsageError
from spillover.retrieve.names import Part, split_part

REF = "bash-7f3a9c2e41d05b86"


@pytest.mark.parametrize(
    ("uri", "named"),
    [
        (f"spill://{REF}", Part()),
        (f"SPILL://{REF}/", Part()),
        (f"spill://{REF}#L10-20", Part(lines="10:20")),
        (f"spill://{REF}#L10-L20", Part(lines="10:20")),
        (f"spill://{REF}#L7", Part(lines="7:7")),
        (f"spill://{REF}#bytes=1-4000", Part(bytes="1:4000")),
        (f"spill://{REF}#/items/0/a~1b%20c", Part(pointer="/items/0/a~1b c")),
        (f"spill://{REF}#", Part()),
    ],
)
def test_a_uri_names_an_output_or_a_part_of_it(uri, named):
    assert split_part(uri) == (REF, named)


@pytest.mark.parametrize("wrong", ["spill://", "spill://../x", "spill://a/b#L1", f"spill://{REF}/x"])
def test_what_is_no_ref_is_refused_before_anything_is_opened(wrong):
    with pytest.raises(RefError):
        split_part(wrong)


@pytest.mark.parametrize("fragment", ["L", "L1-", "Lx", "bytes=1", "bytes=-5", "lines=1-2", "items"])
def test_a_fragment_of_no_known_form_says_which_there_are(fragment):
    with pytest.raises(UsageError, match="use #L10-20, #bytes=1-4000 or a JSON pointer"):
        split_part(f"spill://{REF}#{fragment}")


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=400), store=MemoryStore())


def test_reading_by_a_uri_is_reading_that_part(clipper):
    ref = clipper.clip("".join(f"line {number}\n" for number in range(1, 5_001))).ref
    assert clipper.read(f"spill://{ref}#L10-12") == clipper.read(ref, lines="10:12")
    assert clipper.read(f"spill://{ref}#bytes=5-40") == clipper.read(ref, bytes="5:40")
    assert clipper.read(f"spill://{ref}") == clipper.read(ref)
    assert clipper.grep(f"spill://{ref}", "line 77$") == clipper.grep(ref, "line 77$")
    assert clipper.dispatch("read_output", {"ref": f"spill://{ref}#L3"}).text.startswith("3: line 3\n")
    with pytest.raises(UsageError, match="already names a part"):
        clipper.read(f"spill://{ref}#L1", lines="2")


def test_a_json_pointer_leads_to_the_value(clipper):
    value = {"items": [{"name": f"item {number}", "a/b": {"m~n": [number] * 3}} for number in range(900)], "": "empty"}
    text = json.dumps(value)
    ref = clipper.clip(text).ref
    for pointer, expected in (
        ("/items/500/name", "item 500"),
        ("/items/7/a~1b/m~0n", "[7, 7, 7]"),
        ("/", "empty"),
        ("/items/899", json.dumps(value["items"][899])),
    ):
        answer = clipper.read(f"spill://{ref}#{pointer}").text
        assert answer.split("\n")[0] == f"1: {expected}"
    whole = clipper.read(f"spill://{ref}#").text
    assert "Next: " in whole, "it does not fit, and says how to go on"
    for wrong, said in (
        ("/items/900", "900 items"),
        ("/nothing", "the keys there are items"),
        ("/items/0/name/x", "its parent is not an object or a list"),
    ):
        with pytest.raises(UsageError, match=said):
            clipper.read(f"spill://{ref}#{wrong}")


@pytest.mark.parametrize("part", ["#L1-10", "#bytes=1-30"])
def test_a_range_is_read_and_nothing_else_is_done_with_it(clipper, part):
    """Once grep searched the whole output and outline showed it all, whatever stood behind the #."""
    ref = clipper.clip("line\n" * 9_000).ref
    for ask in (lambda uri: clipper.grep(uri, "line"), clipper.outline):
        with pytest.raises(UsageError, match="names a range, which can only be read"):
            ask(f"spill://{ref}{part}")

"""A part of a stored output, named behind its ref."""

import json

import pytest

from spillover import Clipper, Limits, MemoryStore, UsageError
from spillover.retrieve.names import Part, how_sure, resolve, split_part

VALUE = {"stdout": "a\nb\nc\nERROR d\n", "rows": [{"id": 1}, {"id": 2}], "n": 5, "deep": {"x": "y\u2028\U0001f600"}}


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=500), store=MemoryStore(), hints="cli")


@pytest.fixture
def ref(clipper):
    text = json.dumps(VALUE | {"pad": "x" * 9_000})
    return clipper.clip(text, tool="api").ref


@pytest.mark.parametrize(
    ("ref", "base", "part"),
    [
        ("bash-1", "bash-1", Part()),
        ("bash-1#/a/b", "bash-1", Part(pointer="/a/b")),
        ("bash-1#L10-20", "bash-1", Part(lines="10:20")),
        ("bash-1#L7", "bash-1", Part(lines="7:7")),
        ("bash-1#bytes=1-400", "bash-1", Part(bytes="1:400")),
        ("bash-1#", "bash-1", Part()),
        ("last:c# build", "last:c# build", Part()),
    ],
)
def test_what_stands_behind_the_sign_is_read(ref, base, part):
    assert split_part(ref) == (base, part)


def test_a_string_is_read_by_its_own_lines(clipper, ref):
    assert clipper.read(f"{ref}#/stdout", lines="2:3").text.startswith("2: b\n3: c\n[Lines 2-3 of 4. ")
    assert clipper.read(ref, pointer="/stdout", lines=4).text.startswith("4: ERROR d\n")
    assert clipper.read(f"{ref}#/deep/x").text.startswith("1: y")


def test_what_is_no_string_is_read_as_json(clipper, ref):
    assert clipper.read(f"{ref}#/rows/1").text.startswith('1: {"id": 2}\n')
    assert clipper.read(f"{ref}#/n").text.startswith("1: 5\n")


def test_it_can_be_searched_and_outlined(clipper, ref):
    assert clipper.grep(f"{ref}#/stdout", "ERROR").text.startswith("4: ERROR d\n")
    assert clipper.outline(f"{ref}#/stdout").text
    assert clipper.read(f"{ref}#bytes=2-9").text.startswith('"stdout"')


def test_a_pointer_to_nothing_says_what_is_there(clipper, ref):
    with pytest.raises(UsageError, match="the keys there are stdout"):
        clipper.read(f"{ref}#/out")
    with pytest.raises(UsageError, match="not a JSON pointer"):
        clipper.read(ref, pointer="stdout")


def test_what_is_not_json_has_no_pointers(clipper):
    ref = clipper.clip("words\n" * 9_000).ref
    with pytest.raises(UsageError, match=f"{ref} is not JSON, so a pointer cannot be used"):
        clipper.read(f"{ref}#/a")


def test_the_tools_of_a_model_take_it_too(clipper, ref):
    read = next(tool for tool in clipper.tools() if tool.__name__ == "read_output")
    for said in (f"{ref}#/stdout", f"spill://{ref}#/stdout"):
        assert read(said, lines="4").startswith("4: ERROR d\n")
    assert read(f"spill://{ref}#L1-1").startswith("1: {")


def test_a_secret_that_a_value_spells_with_escapes_is_covered_where_it_is_read():
    token = "ghp_" + "aB3dE6gH9" * 4
    clipper = Clipper(Limits(tokens=500), store=MemoryStore(), redact="shown")
    escaped = token.replace("_", "\\u005f")
    ref = clipper.clip(f'{{"stdout": "a\\n{escaped}\\n", "pad": "{"x " * 9_000}"}}').ref
    for answer in (clipper.read(f"{ref}#/stdout"), clipper.grep(f"{ref}#/stdout", "...")):
        assert token not in answer.text
        assert "2: [redacted: github token" in answer.text


@pytest.mark.parametrize("part", ["#L1-3", "#bytes=1-9", "#/stdout"])
def test_where_a_whole_output_is_meant_a_part_of_one_is_refused(clipper, ref, part):
    """So `spill rm REF#L1-3` removes nothing."""
    for name in (ref, f"spill://{ref}"):
        with pytest.raises(UsageError, match="names a part of an output, which can only be read"):
            resolve(name + part, clipper.settings.outputs)
        with pytest.raises(UsageError, match="names a part of an output, which can only be read"):
            clipper.diff(name + part)


@pytest.mark.parametrize("given", [{"lines": "1:3"}, {"bytes": "1:9"}, {"columns": "1:9"}])
def test_a_range_beside_a_range_is_refused(clipper, ref, given):
    with pytest.raises(UsageError, match="already names a part"):
        clipper.read(f"{ref}#L1-3", **given)


def test_a_word_names_an_output_as_surely_as_its_shape_says(clipper, ref):
    words = {
        2: [ref, f"{ref}#/stdout", f"{ref}.txt", f"/store/{ref}.txt.zst", f"C:\\store\\{ref}.json", f"spill://{ref}", "spill://x"],
        1: ["last", " last:cargo test", "last#/stdout"],
        0: ["api", ref[:8], "a/b", "notes.txt", "ERROR|FAILED", "c# build", "lasting", ""],
    }  # fmt: skip
    for sure, some in words.items():
        assert [how_sure(word, clipper.settings.outputs) for word in some] == [sure] * len(some)

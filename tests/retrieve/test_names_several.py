"""Several stored outputs at once: which are meant, and what is said of each."""

import pytest

from spillover import Clipper, Limits, MemoryStore, UsageError
from spillover.retrieve.names import expand_names


@pytest.fixture
def clipper():
    made = Clipper(Limits(tokens=600), store=MemoryStore(), scope="test")
    for number, tool in enumerate(["server", "server", "build"]):
        lines = (f"run {number} step {step} listening on port {5_400 + step}\n" for step in range(900))
        made.clip("".join(lines), tool=tool)
    return made


def newest(clipper):
    return [record.ref for record in clipper.settings.outputs.list()]


def test_which_outputs_are_meant(clipper):
    refs = newest(clipper)
    assert expand_names("all", clipper.settings.outputs) == refs
    assert expand_names("last:2", clipper.settings.outputs) == refs[:2]
    assert expand_names("server", clipper.settings.outputs) == refs[1:]
    assert expand_names(refs[:2], clipper.settings.outputs) == refs[:2]
    assert expand_names(f"{refs[0]}, {refs[2]}", clipper.settings.outputs) == [refs[0], refs[2]]
    for one in (refs[0], "last", "last:cargo test", [refs[0]], "nothing"):
        assert expand_names(one, clipper.settings.outputs) is None


def test_each_is_searched_and_read_under_its_name(clipper):
    first, second, _ = newest(clipper)
    said = clipper.dispatch("grep_output", {"ref": "last:2", "pattern": "port 5432"}).text
    assert said.startswith(
        f"== {first}\n33: run 2 step 32 listening on port 5432\n[1 of 1 match shown.]\n== {second}\n33: run 1"
    )
    said = clipper.dispatch("read_output", {"ref": [first, second], "lines": "7"}).text
    assert f"== {second}\n7: run 1 step 6" in said


def test_one_output_is_said_in_the_singular(clipper):
    one = clipper.capture(tool="one")
    one.write(b"x" * 5_000)
    assert f"{one.clip.ref} (1 line, 5,000 bytes)" in clipper.dispatch("list_outputs", {}).text


def test_an_output_that_is_gone_is_said_and_the_others_are_answered(clipper):
    said = clipper.dispatch("grep_output", {"ref": ["last", "bash-0000000000000000"], "pattern": "5432"}).text
    assert "run 2 step 32" in said
    assert "No output is stored under bash-0000000000000000" in said


@pytest.mark.parametrize("ref", ["all", "last:3", ["last", "last:build"]])
@pytest.mark.parametrize("tokens", [150, 400])
def test_what_is_said_of_several_fits(clipper, ref, tokens):
    small = Clipper(Limits(tokens=tokens), store=clipper.settings.store, scope="test")
    for name, more in (
        ("read_output", {}),
        ("grep_output", {"pattern": "port"}),
    ):
        assert small.settings.count(small.dispatch(name, {"ref": ref, **more}).text) <= tokens


def test_an_empty_list_is_refused(clipper):
    with pytest.raises(UsageError, match="a list of refs holds names"):
        expand_names([], clipper.settings.outputs)

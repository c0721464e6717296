"""JSON is drawn as a tree, NDJSON as one for each line, with what the model did not see folded."""

import json

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.errors import UsageError
from spillover.inspector import dress
from spillover.inspector.again import see
from spillover.inspector.library import Library
from spillover.inspector.outputs import Outputs

RECORDS = [{"id": number, "user": {"name": f"user {number}", "tags": ["a", "b"]}} for number in range(2_000)]
NDJSON = "".join(json.dumps(record) + "\n" for record in RECORDS)


@pytest.fixture
def clipper(tmp_path):
    return Clipper(Limits(tokens=900), store=DirStore(tmp_path / "store"), scope="acme")


def draw(clipper, text):
    library = Library(clipper.outputs)
    clip = clipper.clip(text, tool="api")
    library.refresh()
    output = Outputs(clipper, library).get(clip.ref)
    seen = see(clipper, output)
    return clip, dress.draw(output, seen["spans"], seen["ranges"])


def members(tree, node, **how):
    return tree.children(node["start"], node["end"], node["depth"], 0, **how)


def test_ndjson_is_a_list_of_trees_and_lines_that_were_not_shown_are_folded(clipper):
    clip, tree = draw(clipper, NDJSON)
    assert clip.kind == "ndjson"
    root = tree.root()
    assert (root["type"], root["count"], root["seen"]) == ("array", 2_000, "part")
    page = members(tree, root)
    lines = {int(row["key"].replace(",", "")) for row in page["rows"] if "run" not in row}
    assert lines == {line for first, last in clip.ranges for line in range(first, last + 1)}
    assert sum(row.get("run", 1) for row in page["rows"]) == page["next"] == page["all"] == 2_000


def test_what_is_inside_of_a_line_can_be_opened(clipper):
    _, tree = draw(clipper, NDJSON)
    page = tree.children(0, tree.root()["end"], 0, 1_234, fold=False)
    line = page["rows"][0]
    assert (line["key"], line["type"], line["count"]) == ("1,235", "object", 2)
    number, user = members(tree, line, fold=False)["rows"]
    assert (number["key"], number["text"]) == ("id", "1234")
    name, tags = members(tree, user, fold=False)["rows"]
    assert (name["text"], tags["count"]) == ('"user 1234"', 2)
    assert [tag["text"] for tag in members(tree, tags, fold=False)["rows"]] == ['"a"', '"b"']


def test_a_container_says_how_it_begins_on_one_line(clipper):
    _, tree = draw(clipper, NDJSON)
    line = tree.children(0, tree.root()["end"], 0, 1_234, fold=False)["rows"][0]
    assert line["text"].startswith('"id": 1234, "user": {"name": "user 1234"')
    assert not line["cut"]
    _, tree = draw(clipper, json.dumps([{"id": 1, "of": ["x" * 90] * 9}, {}] * 400, indent=2))
    first, empty = members(tree, tree.root(), fold=False)["rows"][:2]
    assert first["text"].startswith('"id": 1, "of": [ "xxx')
    assert (len(first["text"]), first["cut"]) == (dress.PREVIEW_CHARS, True)
    assert (empty["text"], empty["cut"]) == ("", False)


def test_a_line_that_is_no_json_is_text(clipper):
    rows = NDJSON.splitlines(keepends=True)
    _, tree = draw(clipper, "".join([*rows[:1_000], "<b>not json</b>\n", "\n", *rows[1_000:]]))
    assert isinstance(tree, dress.Records)
    wrong, blank, good = tree.children(0, tree.root()["end"], 0, 1_000, fold=False)["rows"][:3]
    assert (wrong["text"], blank["text"], good["type"]) == ("<b>not json</b>", "", "object")


@pytest.mark.parametrize("place", [(5, 3, 1), (0, 1 << 40, 1)])
def test_a_place_that_is_not_there_is_said(clipper, place):
    _, tree = draw(clipper, NDJSON)
    with pytest.raises(UsageError, match="no such value"):
        tree.children(*place, 0)

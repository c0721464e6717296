"""What an output is decides how it is cut, and `Clip.kind` says what it was taken for."""

import base64
import csv
import io
import json
import random
import subprocess
import sys

import pytest

from spillover import Clipper, Limits, MemoryStore

RECORDS = [{"id": number, "status": "failed" if number == 1_413 else "ok"} for number in range(4_000)]


def table(separator):
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(
        [["id", "name", "status"], *([row["id"], f"job {row['id']}", row["status"]] for row in RECORDS)]
    )
    return out.getvalue()


DIFF = "".join(
    f"diff --git a/f{file}.py b/f{file}.py\n--- a/f{file}.py\n+++ b/f{file}.py\n@@ -1,40 +1,40 @@\n"
    + "".join(f" line {line}\n" for line in range(20))
    + "-old\n+new\n"
    + " same\n" * 19
    for file in range(30)
)
XML = (
    '<?xml version="1.0"?>\n<testsuite>\n'
    + "".join(f'<testcase name="t{number}"/>\n' for number in range(3_000))
    + '<testcase name="bad"><failure>1 != 2</failure></testcase>\n</testsuite>\n'
)
HTML = (
    "<!DOCTYPE html><html><head><title>Report</title></head><body>"
    + "".join(f"<p>paragraph {number}</p>\n" for number in range(2_000))
    + "</body></html>"
)

KINDS = {
    "json": (json.dumps(RECORDS), '"failed"'),
    "ndjson": ("".join(json.dumps(row) + "\n" for row in RECORDS), '"failed"'),
    "csv": (table(","), "failed"),
    "tsv": (table("\t"), "failed"),
    "diff": (DIFF, "f29.py +"),
    "xml": (XML, "1 != 2"),
    "html": (HTML, "Report"),
    "blob": (base64.b64encode(random.Random(4).randbytes(60_000)).decode(), "base64"),
    "log": ("".join(f"step {number} ok\n" for number in range(3_000)) + "fatal: no such host\n" + "bye\n" * 900, "fatal: no such host"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_seen_and_what_stands_out_in_it_is_kept(shown, kind):
    output, needle = KINDS[kind]
    clip = shown(output, tokens=2_500)
    assert clip.kind == kind
    assert needle in clip.text
    assert clip.why


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_is_known_also_of_what_was_cut_otherwise(shown, kind):
    assert shown(KINDS[kind][0], keep="tail").kind == kind


def test_what_fits_has_a_kind_too(shown):
    assert shown('{"a": [1, 2, 3]}').kind == "json"
    assert shown("hello\n").kind == shown("").kind == "log"


@pytest.mark.parametrize("broken", [json.dumps(RECORDS)[:-5], json.dumps(RECORDS) + "}", '{"a": ' * 3_000])
def test_what_only_looks_like_json_is_cut_as_a_log(shown, broken):
    clip = shown(broken)
    assert clip.kind in ("log", "blob")
    assert clip.shown.bytes > 0


def test_json_loads_no_engine_for_logs():
    code = (
        "import sys, json; from spillover import Clipper, Limits, MemoryStore; "
        "c = Clipper(Limits(tokens=200), store=MemoryStore()); c.clip(json.dumps([{'a': n} for n in range(999)])); "
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "hyperscan" not in loaded


@pytest.mark.parametrize("as_file", [False, True], ids=["a path", "a file"])
def test_the_name_of_a_file_says_what_is_in_it_where_its_bytes_leave_it_open(tmp_path, as_file):
    table = "id,job,state\n" + "".join(f"{number},build {number},done\n" for number in range(40)) + "\n"
    kinds = {}
    for name in ("jobs.csv", "jobs.txt"):
        path = tmp_path / name
        path.write_text(table + "".join(f"{number},test {number},done\n" for number in range(900)))
        with path.open("rb") as file:
            clip = Clipper(Limits(tokens=400), store=MemoryStore()).clip(file if as_file else path)
        kinds[name] = clip.kind
    assert kinds == {"jobs.csv": "csv", "jobs.txt": "log"}


def test_a_long_plain_output_fits_into_a_few_lines():
    """It raised IndexError: both ends had no room left beside some lines of the middle."""
    text = "".join(f"{number} " + f"word{number} and more, " * 500 + "\n" for number in range(60))
    clip = Clipper(Limits(lines=4), store=MemoryStore()).clip(text)
    assert len(clip.text.splitlines()) <= 4
    assert clip.shown.lines

"""What is stored, and how it is looked after: list, show, pin, unpin, gc, verify."""

import os
import time

import pytest

from spillover.testing import put, record_of

FACTS = {
    "kind",
    "ref",
    "why",
    "tool",
    "call_id",
    "command",
    "created",
    "lines",
    "bytes",
    "sha256",
    "partial",
    "produced_bytes",
    "produced_lines",
    "segments",
    "shown",
    "pinned",
}
OLD = time.time() - 30 * 86_400


def age(store, ref, moment=OLD):
    """Make an output look as if it had been stored then."""
    for ending in (".txt", ".json"):
        os.utime(os.path.join(store.root, ref + ending), (moment, moment))


# list


def test_nothing_stored_is_said(spill):
    assert spill("list").stdout.endswith("Nothing is stored.\n")
    assert spill("list", "--json").json == []


def test_a_line_for_each_newest_first(spill, store):
    put(store, b"one\n" * 1_234, tool="make", command="make\n-j8", created=OLD)
    put(store, b"two", tool="pytest", pinned=True)
    rows = spill("list").stdout.splitlines()
    assert rows[0].split() == ["ref", "lines", "bytes", "age", "command"]
    assert rows[1].split()[1:3] == ["1", "3"]
    assert rows[1].split()[-1] == "pinned"
    assert rows[2].split()[1:] == ["1,234", "4,936", "30d", "make", "-j8"]
    assert len(rows) == 3


def test_only_the_outputs_of_a_tool(spill, store):
    put(store, b"one", tool="make")
    ref = put(store, b"two", tool="pytest").ref
    assert [facts["ref"] for facts in spill("list", "--tool", "pytest", "--json").json] == [ref]


def test_only_the_newest_fifty_unless_all_are_asked_for(spill, store):
    for number in range(53):
        put(store, b"%d" % number, tool="bash")
    assert spill("list").stdout.endswith("50 of 53 outputs; --all shows all.\n")
    assert len(spill("list", "--json").json) == 50
    assert len(spill("list", "--all", "--json").json) == 53
    assert len(spill("list", "--all").stdout.splitlines()) == 54


def test_list_json_has_every_fact(spill, ref):
    (facts,) = spill("list", "--json").json
    assert facts.keys() == FACTS
    assert (facts["ref"], facts["lines"], facts["pinned"]) == (ref, 5_000, False)


# show


def test_show_says_what_is_known(spill, store):
    record = record_of(b"x" * 100, "sh", call_id="call 7", command="sh -c x", segments=(("stdout", 60), ("stderr", 40)))
    ref = put(
        store, b"x" * 100, tool="sh", **{key: getattr(record, key) for key in ("call_id", "command", "segments")}
    ).ref
    said = dict(line.split(None, 1) for line in spill("show", ref).stdout.splitlines()[1:])
    assert said["path"] == store.where(ref)
    assert (said["tool"], said["call"], said["command"]) == ("sh", "call 7", "sh -c x")
    assert said["streams"] == "stdout 60 bytes, stderr 40 bytes"
    assert said["sha256"] == record.sha256
    assert "pinned" not in said


def test_show_says_what_is_not_there(spill, store):
    spill("run", "--cap", "10 kB", "--bytes", "2000", "--", "seq", "5000")
    (record,) = store.list()
    assert "the cap on one output was reached; 23,893 bytes came" in spill("show", record.ref).stdout
    facts = spill("show", record.ref, "--json").json
    assert (facts["bytes"], facts["produced_bytes"], facts["produced_lines"]) == (10_000, 23_893, 5_000)


def test_show_json_has_every_fact_and_the_path(spill, store, ref):
    facts = spill("show", ref[:7], "--json").json
    assert facts.keys() == FACTS | {"path"}
    assert (facts["ref"], facts["path"]) == (ref, store.where(ref))


# pin and unpin


def test_what_is_pinned_outlives_retention_until_it_is_unpinned(spill, store, ref):
    assert spill("pin", ref[:8]).stdout == f"{ref} is pinned\n"
    age(store, ref)
    assert spill("gc", "--json").json["outputs"] == 0
    assert spill("show", ref, "--json").json["pinned"] is True
    assert spill("unpin", ref).stdout == f"{ref} is no longer pinned\n"
    age(store, ref)
    assert spill("gc", "--json").json["outputs"] == 1
    assert spill("show", ref).returncode == 2


@pytest.mark.parametrize("command", ["pin", "unpin", "show"])
def test_a_ref_that_is_not_there_is_said(spill, command):
    said = spill(command, "bash-000000000000")
    assert said.returncode == 2
    assert "No output is stored under bash-000000000000" in said.stderr


# gc


def test_gc_removes_what_is_past_its_time_and_says_how_much(spill, store, ref):
    kept = put(store, b"young", tool="bash").ref
    age(store, ref)
    dry = spill("gc", "--dry-run")
    assert dry.stdout.startswith("would remove 1 output (")
    assert {record.ref for record in store.list()} == {ref, kept}
    assert spill("gc").stdout.startswith("removed 1 output (")
    assert [record.ref for record in store.list()] == [kept]


def test_gc_json_has_the_numbers(spill, store, ref):
    age(store, ref)
    facts = spill("gc", "--dry-run", "--json").json
    assert facts.keys() == {"outputs", "bytes", "leftovers", "dry_run"}
    assert (facts["outputs"], facts["dry_run"]) == (1, True)
    assert facts["bytes"] > 100_000


def test_gc_keeps_what_the_configuration_says(spill, store, ref):
    age(store, ref)
    assert spill("gc", "--json", env={"SPILLOVER_RETENTION_AGE": "60d"}).json["outputs"] == 0


def test_gc_of_a_store_that_is_not_there_makes_none(spill, tmp_path):
    assert spill("gc", "--json").json["outputs"] == 0
    assert not (tmp_path / "a store").exists()


# verify


def test_verify_finds_nothing_wrong_where_nothing_is(spill, store, ref):
    other = put(store, b"other", tool="bash").ref
    said = spill("verify")
    assert said.returncode == 0
    assert said.stdout.endswith("2 outputs checked, 0 damaged\n")
    assert spill("verify", "--json").json == [{"ref": each, "ok": True, "wrong": None} for each in (other, ref)]
    assert spill("verify", other, "--json", ref[:8]).stdout.count('"ok": true') == 2


def test_verify_finds_what_was_changed(spill, store, ref):
    good = put(store, b"good", tool="bash").ref
    with open(store.where(ref), "r+b") as file:
        file.write(b"X")
    said = spill("verify")
    assert said.returncode == 1
    assert f"{ref}  Its bytes have changed" in said.stdout
    assert f"{good}  ok" in said.stdout
    assert spill("verify", good).returncode == 0
    assert '"ok": false' in spill("verify", "--json", ref).stdout


def test_verify_of_nothing_is_fine(spill):
    assert spill("verify").stdout == "0 outputs checked, 0 damaged\n"
    assert spill("verify", "--json").json == []


def test_verify_of_what_is_not_there_is_wrong_use(spill, ref):
    assert spill("verify", "bash-000000000000").returncode == 2

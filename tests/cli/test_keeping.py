"""What is stored, and how it is looked after: list, show, pin, unpin, gc, verify."""

import os
import re
import sys
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
    "redacted",
    "scope",
    "scopes",
}
OLD = time.time() - 30 * 86_400


def age(store, ref, moment=OLD):
    """Make an output look as if it had been stored then."""
    for ending in (".txt", ".json"):
        os.utime(os.path.join(store.root, ref + ending), (moment, moment))


# list


def test_nothing_stored_is_said(spill):
    assert spill("list").stdout == "Nothing is stored in this project. --all-scopes looks in every project.\n"
    assert spill("list", "--all-scopes").stdout == "Nothing is stored.\n"
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


def test_a_filter_that_finds_nothing_says_what_there_is(spill, store, ref):
    put(store, b"two", tool="pytest", command="pytest -x")
    said = spill("list", "--tool", "nope").stdout
    assert (
        said
        == "No output of a tool 'nope' in this project; there are bash, pytest. --all-scopes looks in every project.\n"
    )
    assert "is of a command with 'npm test'" in spill("list", "--command", "npm test").stdout
    assert "there are bash, pytest.\n" in spill("list", "--tool", "nope", "--all-scopes").stdout


def test_quiet_lists_refs_alone(spill, store, ref):
    other = put(store, b"two", tool="pytest").ref
    assert spill("list", "-q").stdout.split() == [other, ref]


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


def test_unpin_says_whether_it_was_pinned(spill, ref):
    assert spill("unpin", ref).stdout == f"{ref} was not pinned\n"
    assert spill("pin", ref).stdout == f"{ref} is pinned\n"
    assert spill("unpin", ref).stdout == f"{ref} is no longer pinned\n"


def test_show_names_one_line_once(spill, store):
    ref = put(store, b"x\n" * 5, tool="sh", shown=((1, 1), (3, 4))).ref
    assert re.search(r"shown +1, 3-4\n", spill("show", ref).stdout)


def test_show_says_what_is_not_there(spill, store):
    spill("run", "--bytes", "2000", "--", "seq", "5000", env={"SPILLOVER_CAP": "10 kB"})
    (record,) = store.list()
    assert "the cap on one output was reached; 23,893 bytes were printed" in spill("show", record.ref).stdout
    facts = spill("show", record.ref, "--json").json
    assert (facts["bytes"], facts["produced_bytes"], facts["produced_lines"]) == (10_000, 23_893, 5_000)


def test_show_json_has_every_fact_and_the_path(spill, store, ref):
    facts = spill("show", ref[:7], "--json").json
    assert facts.keys() == FACTS | {"path", "exit_code", "seconds", "cwd", "runs"}
    assert (facts["ref"], facts["path"]) == (ref, store.where(ref))


def test_show_says_how_a_run_ended_also_one_that_fitted(spill, tmp_path):
    spill("run", "--", "sh", "-c", "echo short; exit 3")
    said = dict(line.split("  ", 1) for line in spill("show", "last").stdout.splitlines()[1:])
    assert {name: value.strip() for name, value in said.items()}["exit code"] == "3"
    facts = spill("show", "last", "--json").json
    assert (facts["exit_code"], facts["cwd"], facts["lines"]) == (3, str(tmp_path), 1)
    assert 0 <= facts["seconds"] < 60


# path and rm


def test_path_prints_the_path_alone(spill, store, ref):
    assert spill("path", "last").stdout == f"{store.where(ref)}\n"
    store.compress()
    said = spill("path", ref)
    assert said.returncode == 2
    assert f"{ref} is compressed and has no plain file; `spill read {ref}` reads it." in said.stderr


def test_rm_removes_what_is_named_and_nothing_where_one_is_unknown(spill, store, ref):
    other = put(store, b"two", tool="pytest").ref
    assert spill("rm", ref, "bash-000000000000").returncode == 2
    assert len(list(store.list())) == 2
    assert spill("rm", ref[:8], store.where(ref)).stdout == f"removed {ref} (128,893 bytes)\n"
    assert [record.ref for record in store.list()] == [other]


def test_rm_leaves_what_is_pinned_unless_forced(spill, store, ref):
    store.pin(ref)
    said = spill("rm", ref)
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr == f"spill: {ref} is pinned and was not removed; use `spill unpin {ref}`, or --force.\n"
    assert spill("rm", "--force", ref).returncode == 0
    assert list(store.list()) == []


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


# the last one, and what is compressed


@pytest.fixture
def two(store):
    """Two runs of cargo, the newest last, and something after them."""
    old = put(store, b"old\n" * 5_000, tool="bash", command="cargo test -p old", created=10.0).ref
    new = put(store, b"new\n" * 5_000, tool="bash", command="cargo test -p new", created=20.0).ref
    put(store, b"other\n" * 5_000, tool="make", created=30.0)
    return old, new


def test_show_last_finds_it_by_command_tool_or_recency(spill, two):
    old, new = two
    for words, ref in (
        (["last:cargo"], new),
        (["last:Cargo -p old"], old),
        (["last:bash"], new),
        (["--json", "last:cargo"], new),
        (["last:cargo", "--json"], new),
    ):
        said = spill("show", *words)
        assert said.returncode == 0
        assert ref in said.stdout
    assert spill("show", "last").stdout.startswith("make-")
    assert "No run of 'npm' is known" in spill("show", "last:npm").stderr


def test_read_grep_and_outline_know_the_last_one(spill, two):
    assert spill("read", "last:cargo test", "-1").stdout.splitlines()[1] == "5000: new"
    assert spill("read", "last", "-1").stdout.splitlines()[1] == "5000: other"
    assert "5,000 matches" in spill("grep", "last:-p old", "^old$").stdout
    assert spill("outline", "last:make").returncode == 0


def test_the_list_can_be_narrowed_to_a_command(spill, two):
    old, new = two
    assert [facts["ref"] for facts in spill("list", "--command", "cargo test", "--json").json] == [new, old]
    assert [facts["ref"] for facts in spill("list", "--command", "p old", "--json").json] == [old]


def test_gc_compresses_and_everything_reads_through_it(spill, store, ref):
    plain = {words: spill(*words).stdout for words in (("read", ref, "4000:4010"), ("grep", ref, "42: ", "-C", "1"))}
    path = store.where(ref)
    assert spill("gc", "--compress-after", "1h", "--json").json["compressed"]["outputs"] == 0
    dry = spill("gc", "--compress-after", "0s", "--dry-run")
    assert dry.stdout.startswith("would compress 1 output (128,893 bytes)\nwould remove 0 outputs")
    said = spill("gc", "--compress-after", "0s")
    assert re.match(r"compressed 1 output \(128,893 bytes are [\d,]+ now\)\nremoved 0 outputs", said.stdout)
    assert not os.path.exists(path)
    for words, text in plain.items():
        assert spill(*words).stdout == text
    assert spill("outline", ref).returncode == 0
    assert spill("read", ref, "--json").json["path"] is None
    assert spill("verify").stdout.endswith("1 output checked, 0 damaged\n")
    assert spill("show", ref, "--json").json["path"] is None
    assert "none: compressed" in spill("show", ref).stdout
    assert spill("list").stdout.splitlines()[1].endswith("compressed")
    assert spill("gc", "--compress-after", "0s", "--json").json["compressed"]["outputs"] == 0


def test_gc_compresses_only_what_is_as_old_as_it_is_told(spill, store, ref):
    age(store, ref, time.time() - 2 * 86_400)
    assert "compressed" not in spill("gc").stdout
    assert spill("gc", "--compress-after", "3d").stdout.startswith("compressed 0 outputs ")
    assert spill("gc", "--compress-after", "1d").stdout.startswith("compressed 1 output ")
    assert store.where(ref) is None


@pytest.mark.parametrize("damage", [b"", b"{}", b"no record", b"\xff"])
def test_a_damaged_record_is_verified_and_removed_like_any_output(spill, store, ref, damage):
    """`verify --all-scopes` said "0 damaged", and `rm` could not remove what it had skipped."""
    with open(os.path.join(store.root, f"{ref}.json"), "wb") as file:
        file.write(damage)
    said = spill("verify", "--all-scopes")
    assert said.returncode == 1
    assert f"{ref}  The record of {ref} is damaged" in said.stdout
    assert said.stdout.endswith("1 output checked, 1 damaged\n")
    assert spill("rm", "--force", ref).returncode == 2, "nobody can tell that it belongs to this project"
    assert spill("rm", "--all-scopes", ref).returncode == 2, "nobody can tell that it is not pinned"
    gone = spill("rm", "--force", "--all-scopes", ref)
    assert (gone.returncode, gone.stdout) == (0, f"removed {ref}, whose record was damaged\n")
    assert not [name for name in os.listdir(store.root) if name.startswith(ref)]
    assert spill("verify", "--all-scopes").stdout == "0 outputs checked, 0 damaged\n"


def test_gc_says_what_is_damaged(spill, store, ref):
    with open(store.where(ref), "r+b") as file:
        file.write(b"X")
    said = spill("gc", "--compress-after", "0")
    assert said.stdout.startswith("compressed 0 outputs (0 bytes are 0 now); 1 is damaged (see `spill verify`)\n")


def test_gc_without_the_extra_says_what_to_install_and_removes_nothing(spill, store, ref, tmp_path):
    if sys.version_info >= (3, 14):
        pytest.skip("Python has it")
    (tmp_path / "backports.py").write_text("raise ImportError\n")
    age(store, ref)
    said = spill("gc", "--compress-after", "0s", env={"PYTHONPATH": str(tmp_path)})
    assert said.returncode == 2
    assert "pip install 'spillover[zstd]'" in said.stderr
    assert store.get(ref).ref == ref


def test_verify_without_the_extra_checks_the_others_and_says_which_it_could_not(spill, store, ref, tmp_path):
    if sys.version_info >= (3, 14):
        pytest.skip("Python has it")
    store.compress()
    plain = put(store, b"two", tool="pytest").ref
    (tmp_path / "backports.py").write_text("raise ImportError\n")
    env = {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    said = spill("verify", env=env)
    assert said.returncode == 1
    needs = "compressed outputs need the extra: pip install 'spillover[zstd]'"
    rows = [f"{plain}  ok", f"{ref}  not checked: {needs}", "1 output checked, 0 damaged, 1 not checked"]
    assert said.stdout.splitlines() == rows


def test_the_same_output_from_a_pipe_erased_the_command_and_the_exit_code_of_its_run(spill):
    line = "seq 5000; exit 3"
    given = "".join(f"{number}\n" for number in range(1, 5_001))
    assert spill("run", "--tool", "job", "--bytes", "2000", "--", "sh", "-c", line).returncode == 3
    assert spill("--tool", "job", "--bytes", "2000", given=given).returncode == 0
    shown, (row,) = spill("show", "--json", "last").json, spill("list", "--json").json
    assert (shown["command"], shown["exit_code"], row["command"]) == (f"sh -c {line}", 3, f"sh -c {line}")
    assert [(run["command"], run["exit_code"]) for run in shown["runs"]] == [(None, None), (f"sh -c {line}", 3)]
    rows = [row for row in spill("show", "last:job").stdout.splitlines() if row.startswith("run ")]
    assert [row.split(maxsplit=1)[1] for row in rows] == [
        "no command, just now",
        f"sh -c {line}, exit code 3, just now",
    ]
    assert spill("show", "last:seq 5000").stdout == spill("show", "last").stdout
    assert "exit code 3" in spill("read", "last:seq 5000", "1:2").stdout
    assert spill("show", "last").stdout.count("\nrun ") == 2

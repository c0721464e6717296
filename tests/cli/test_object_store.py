"""Every command on a bucket of a real S3 server, as processes of two machines that share nothing else."""

import json
import subprocess
import sys

import pytest

from spillover.store.bucket import Bucket

SCOPE = ("--scope", "acme/web")
MACHINES = ("one", "two")


@pytest.fixture
def machine(spill, s3, tmp_path, monkeypatch):
    """Call `spill` on one of two machines: each has its own home."""
    monkeypatch.setenv("SPILLOVER_STORE", s3)
    monkeypatch.setenv("SPILLOVER_SCOPE", "acme/web")

    def on(name, *words, env=None, **options):
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        homes = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
        return spill(*words, env={**homes, **(env or {})}, **options)

    return on


def test_an_output_of_one_machine_is_there_for_every_command_on_another(machine, s3):
    clip = machine("one", "run", "--json", "--", "sh", "-c", "seq 200000; echo 'Error: boom' >&2").json
    ref = clip["ref"]
    assert (clip["outcome"], clip["path"]) == ("stored", None)

    def other(*words, **options):
        return machine("two", *words, **options)

    assert "150: 150\n" in other("read", ref, "150:160").stdout
    assert "Error: boom" in other("grep", ref, "boom").stdout
    assert "200,001" in other("outline", ref).stdout
    assert [row["ref"] for row in other("list", "--json").json] == [ref]
    assert ref in other("list").stdout
    assert "none: in a bucket" in other("show", ref).stdout
    assert other("verify").stdout.endswith("1 output checked, 0 damaged\n")
    assert "boom" in other("grep", "last", "boom").stdout
    assert other("read", "last:seq", "1:1").stdout.startswith(f"[last:seq is {ref}: ")
    assert "in a bucket and has no plain file" in other("path", ref).stderr
    assert other("push").stdout == f"pushed 0 outputs (0 bytes) to {s3}\n"
    listed = other("list", env={"SPILLOVER_SCOPE": "acme"}).stdout
    assert ref in listed, "a scope sees what is below it"
    for stranger in ("acme/api", "ac", "acme/web/1"):
        there, absent = (
            other("read", asked, env={"SPILLOVER_SCOPE": stranger}) for asked in (ref, "sh-0123456789abcdef")
        )
        assert (there.returncode, there.stdout) == (absent.returncode, absent.stdout) == (2, "")
        assert there.stderr.replace(ref, "REF") == absent.stderr.replace("sh-0123456789abcdef", "REF")
    assert f"removed {ref}" in other("rm", ref).stdout
    assert machine("one", "read", ref).returncode == 2


def test_a_clip_of_stdin_and_the_tools_of_mcp_and_a_hook(machine):
    text = "".join(f"line {number}\n" for number in range(60_000))
    ref = machine("one", "--json", given=text).json["ref"]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = {**asked, "params": {"name": "read_output", "arguments": {"ref": ref, "lines": "500:501"}}}
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {**asked, "id": 0, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call,
    ]
    said = machine("two", "mcp", given="".join(json.dumps(line) + "\n" for line in lines))
    assert "500: line 499" in said.stdout
    response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    question = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": response,
        "cwd": ".",
    }
    answer = json.loads(machine("one", "hook", "claude-code", given=json.dumps(question)).stdout)
    assert "Output clipped" in json.dumps(answer)


def test_a_bucket_that_cannot_be_reached_is_said_and_the_exit_code_is_the_commands_own(machine):
    away = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "SPILLOVER_DEADLINE": "5"}
    ran = machine("one", "run", "--", "sh", "-c", "seq 100000; exit 3", env=away)
    assert ran.returncode == 3
    assert "Kept on this machine only (" in ran.stdout
    pushed = machine("one", "push", env=away)
    assert pushed.returncode == 1
    assert "1 output still on this machine only" in pushed.stdout
    doctor = machine("one", "doctor", env=away)
    assert "!!" in doctor.stdout
    assert "the endpoint does not answer; see AWS_ENDPOINT_URL" in doctor.stdout
    assert "1 output is only on this machine; run `spill push`" in doctor.stdout
    assert "pushed 1 output" in machine("one", "push").stdout
    assert "an output was stored, read back and removed" in machine("one", "doctor").stdout


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("NoSuchBucket", "the bucket does not exist; create it, or name another in the store's URL"),
        ("RequestTimeTooSkewed", "the clock of this machine is wrong; set it (e.g. by NTP)"),
    ],
)
def test_what_is_wrong_is_said_by_doctor_and_by_list_with_what_to_do(machine, proxy, s3, fault, said):
    proxy.faults = {fault: 1.0}
    doctor = machine("one", "doctor")
    assert doctor.returncode == 1
    assert f"{s3}: {said}; to use another store, set" in doctor.stdout
    listed = machine("one", "list")
    assert (listed.returncode, listed.stdout, listed.stderr) == (2, "", f"spill: {s3}: {said}.\n")


def test_an_operation_that_credentials_may_not_do_is_named_with_its_place(machine, proxy, s3):
    denied = f"{s3}: these credentials may not do this; docs/fleet.md has the policy it takes (denied: "
    reader = {"AWS_ACCESS_KEY_ID": "spillover-reader", "AWS_SECRET_ACCESS_KEY": "spillover-reader-secret"}
    doctor = machine("one", "doctor", env=reader)
    assert doctor.returncode == 1
    assert f"{denied}put in acme/web/~" in doctor.stdout
    assert "/); to use another store, set" in doctor.stdout
    proxy.faults = {"403": 1.0}
    listed = machine("one", "list")
    assert (listed.returncode, listed.stdout, listed.stderr) == (2, "", f"spill: {denied}list).\n")


def test_doctor_needs_no_rights_outside_of_the_scope_and_lists_nothing(machine, proxy, s3):
    """Once it stored its output as nobody's, which the policy of a tenant forbids, and listed the whole bucket to find it."""
    assert "an output was stored, read back and removed" in machine("one", "doctor").stdout
    keys = [
        line.split()[1] for line in proxy.requests if not line.startswith("POST")
    ]  # one that removes has keys in its body
    assert keys
    assert all(f"/{s3.rpartition('/')[2]}/acme/web/~" in key for key in keys), keys


def test_doctor_tells_rights_to_remove_from_rights_to_store(machine, proxy):
    machine("one", "doctor")
    removing, _ = [at for at, line in enumerate(proxy.requests) if line.startswith("POST")]
    proxy.script = [None] * removing + ["403"] * 2  # the record: in a request for many objects, and in one of its own
    said = machine("one", "doctor", env={"SPILLOVER_SCOPE": "acme/api"}).stdout
    assert "an output was stored and read back, but could not be removed: s3://" in said
    assert "these credentials may not do this" in said
    assert "(denied: delete in acme/api/~" in said


def test_gc_and_pin_say_that_the_lifecycle_rule_of_the_bucket_decides(machine):
    ref = machine("one", "run", "--json", "--", "seq", "100000").json["ref"]
    for words in (("gc",), ("pin", ref), ("unpin", ref)):
        refused = machine("one", *words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "the bucket's lifecycle rule decides how long outputs are kept" in refused.stderr


def test_what_is_not_an_object_store_has_nothing_to_push(spill):
    refused = spill("push")
    assert refused.returncode == 2
    assert "`spill push` needs a store such as s3://BUCKET/PREFIX" in refused.stderr


def test_a_process_that_has_no_bucket_loads_no_client_for_one():
    code = "import sys, spillover; spillover.Clipper().clip('short'); print([name for name in sys.modules if 'obstore' in name])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.fixture
def alone(machine):
    """Call `spill` on a machine from which the bucket cannot be reached."""

    def on(*words, **options):
        return machine(
            "one", *words, env={"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "SPILLOVER_DEADLINE": "1"}, **options
        )

    return on


def test_a_whole_ref_decides_what_is_searched_and_the_pattern_is_not_looked_up(alone):
    ref = alone("run", "--json", "--lines", "6", "--", "seq", "500").json["ref"]
    for words in ((ref, "77"), ("77", ref)):
        assert alone("grep", *words).stdout.startswith("77: 77\n"), words
    assert alone("grep", ref, "error").stdout == f"[No match for error in 500 lines of {ref}.]\n"


def test_a_line_of_shell_says_that_what_its_filters_hid_is_on_this_machine_only(alone):
    said = alone("sh", "seq 5000 | tail -1")
    assert said.stdout == "5000\n"
    assert '[5,000 lines before "| tail -1" are kept on this machine only (s3://' in said.stderr
    assert "the network): seq-" in said.stderr


def test_last_is_the_newest_on_this_machine_while_the_bucket_is_away(machine, alone):
    nothing = alone("read", "last")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "the endpoint does not answer" in nothing.stderr
    before = machine("one", "run", "--json", "--lines", "6", "--", "seq", "400").json["ref"]
    in_bucket = alone("read", "last")
    assert (in_bucket.returncode, before in in_bucket.stderr) == (2, False), "it can be read by no name"
    ref = alone("run", "--json", "--lines", "6", "--", "seq", "500").json["ref"]
    said = f"[last is {ref}: seq 500, exit code 0, just now. It is the newest on this machine; the bucket could not be asked ("
    for words in (("read", "last", "77:77"), ("grep", "last", "^77$"), ("outline", "last")):
        answer = alone(*words)
        assert answer.returncode == 0
        assert answer.stdout.startswith(said), answer.stdout
    assert "77: 77\n" in alone("read", "last:seq", "77:77").stdout
    changed = alone("rm", "last")
    assert changed.returncode == 2
    assert f"{ref} is the newest on this machine; the bucket" in changed.stderr
    assert "Name it by its ref" in changed.stderr


def test_an_output_on_this_machine_only_has_a_path_until_it_is_pushed(machine, alone):
    clip = alone("run", "--json", "--lines", "6", "--", "seq", "500").json
    named = alone("path", clip["ref"])
    assert named.stdout == f"{clip['path']}\n"
    assert named.stderr == f"spill: {clip['ref']} is on this machine only; `spill push` uploads it.\n"
    newest = alone("path", "last")
    assert newest.stdout == named.stdout
    assert "the bucket could not be asked" in newest.stderr
    shown = alone("show", clip["ref"]).stdout
    assert clip["path"] in shown
    assert "not there: on this machine only" in shown
    assert alone("show", "--json", clip["ref"]).json["path"] == clip["path"]
    stranger = machine("one", "path", clip["ref"], env={"SPILLOVER_SCOPE": "acme/api"})
    assert (stranger.returncode, stranger.stdout) == (2, "")
    assert machine("one", "push").returncode == 0
    assert "is in a bucket and has no plain file" in machine("one", "path", clip["ref"]).stderr
    assert "none: in a bucket" in machine("one", "show", clip["ref"]).stdout


def test_bytes_that_are_missing_are_named_and_the_others_are_checked_and_searched(machine, s3):
    gone, good = (
        machine("one", "run", "--json", "--", "sh", "-c", f"echo {word} port; seq 100000").json["ref"]
        for word in ("lost", "kept")
    )
    bucket = Bucket(s3)
    bucket.delete([key for key, _, _ in bucket.list("") if f"~s/{gone}" in key])
    for words in ((), ("--all-scopes",), ("--scope", "acme")):
        said = machine("two", "verify", *words)
        assert said.returncode == 1, said.stderr
        assert said.stdout == f"{good}  ok\n{gone}  its bytes are missing\n2 outputs checked, 1 damaged\n"
    named = machine("two", "verify", gone)
    assert (named.returncode, named.stdout.splitlines()[0]) == (1, f"{gone}  its bytes are missing")
    rows = json.loads(machine("two", "verify", "--json").stdout)
    assert [(row["ref"], row["ok"]) for row in rows] == [(good, True), (gone, False)]
    why = f"The bytes of {gone} are gone (removed, or expired in the bucket). Run the tool again."
    for words in ((), ("--all-scopes",)):
        read = machine("two", "read", gone, *words)
        assert (read.returncode, read.stderr) == (2, f"spill: {why}\n")


def test_verify_in_a_parent_scope_lists_once(machine, proxy):
    for number in range(5):
        machine("one", "run", "--", "sh", "-c", f"echo {number}; seq 100000")
    proxy.reset()
    said = machine("two", "verify", "--scope", "acme")
    assert said.stdout.endswith("5 outputs checked, 0 damaged\n")
    assert sum("list-type=2" in request for request in proxy.requests) == 1

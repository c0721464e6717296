"""ObjectStore on a real S3 server: the contract of every store, and what is its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillover import Clipper, Limits, ObjectStore, RefError, Retention, StoreError, UsageError
from spillover.store.bucket import Bucket, Conflict, watch
from spillover.store.object_store import record_key
from spillover.store.scopes import ScopedStore
from spillover.testing import StoreContract, content, put

LOG = "".join(f"{number} compiled module_{number * 7919 % 10007}\n" for number in range(9_000))


class TestOnS3(StoreContract):
    pins = False

    @pytest.fixture
    def store(self, s3):
        return ObjectStore(s3)


class TestWithoutCompression(StoreContract):
    pins = False

    @pytest.fixture
    def store(self, s3):
        return ObjectStore(s3, compress=False)


def test_what_one_machine_clips_another_reads(s3, tmp_path):
    one = Clipper(Limits(tokens=300), store=ObjectStore(s3, spool=tmp_path / "one"), scope="acme/web")
    other = Clipper(Limits(tokens=300), store=ObjectStore(s3, spool=tmp_path / "other"), scope="acme/web")
    clip = one.clip(LOG, tool="make")
    assert (clip.outcome, clip.path, clip.reason) == ("stored", None, None)
    assert f"Full output: {clip.ref}]" in clip.text
    assert "4000: 3999 compiled" in other.read(clip.ref, lines="4000:4010").text
    assert "8999 compiled" in other.grep(clip.ref, "^8999 ").text
    assert clip.ref in other.tools()[3]()
    assert not list((tmp_path / "one").glob("*.txt")), "nothing is left behind"


def test_a_scope_sees_its_own_and_what_is_below_and_has_one_answer_for_everything_else(s3):
    store = ObjectStore(s3)
    clippers = {
        scope: Clipper(Limits(tokens=300), store=store, scope=scope)
        for scope in ("acme", "acme/web", "acme/web/1", "acme2", "other/web", "/home/a", "/home/a/b")
    }
    refs = {scope: clipper.clip(f"{scope}\n{LOG}").ref for scope, clipper in clippers.items()}
    sees = {
        "acme": {"acme", "acme/web", "acme/web/1"},
        "acme/web": {"acme/web", "acme/web/1"},
    }
    for own, clipper in clippers.items():
        for scope, ref in refs.items():
            if scope in sees.get(own, {own}):
                assert scope in clipper.read(ref, lines=1).text
                continue
            answers = []
            for asked in (ref, "tool-0123456789abcdef"):
                with pytest.raises(RefError) as caught:
                    clipper.read(asked, lines=1)
                answers.append(str(caught.value).replace(asked, "REF"))
            assert answers[0] == answers[1]
            for ask in (clipper.grep, lambda ref, _, clipper=clipper: clipper.outline(ref)):
                with pytest.raises(RefError):
                    ask(ref, "compiled")
        assert {record.ref for record in clipper.settings.outputs.list()} == {
            refs[scope] for scope in sees.get(own, {own})
        }


def test_the_same_bytes_of_two_tenants_are_two_objects_and_the_hash_opens_neither(s3):
    store = ObjectStore(s3)
    refs = {
        scope: Clipper(Limits(tokens=300), store=store, scope=scope).clip(LOG).ref for scope in ("acme", "other/web")
    }
    assert len(set(refs.values())) == 1
    keys = [key for key, *_ in store.bucket.list("")]
    folders = sorted(key.rpartition("/")[0] for key in keys)
    assert folders == ["acme/~o", "acme/~s", "other/web/~o", "other/web/~s"]
    ScopedStore(store, "acme").delete(refs["acme"])
    assert "compiled" in Clipper(store=store, scope="other/web").read(refs["acme"], lines=1).text
    with pytest.raises(RefError):
        Clipper(store=store, scope="third").read(refs["acme"], lines=1)


def test_a_record_that_was_put_into_another_scope_is_nobodys(s3):
    """Neither in that scope nor in one above it: whoever may write to one prefix cannot speak for another."""
    store = ObjectStore(s3)
    record = put(store, b"secret\n", scope="acme/web")
    found = store.bucket.get(record_key("acme/web", record.ref))
    store.bucket.create(record_key("acme/evil", record.ref), found.data)
    store.bucket.delete([record_key("acme/web", record.ref)])
    for scope in ("acme/evil", "acme", "*"):
        view = ScopedStore(store, scope)
        with pytest.raises(RefError):
            view.get(record.ref)
        assert list(view.list()) == []


@pytest.mark.parametrize(
    "change",
    [
        "",
        "../x",
        "../../other/~o/bash-0123456789abcdef.0123456789abcdef.txt",
        "~s/bash-0123456789abcdef.0123456789abcdef.txt",
        "~s/~s/{ref}.0123456789abcdef.txt",
        "below/~s/{ref}.0123456789abcdef.txt",
        "~o/{ref}.json",
    ],
)
def test_a_record_names_no_bytes_but_its_own(s3, change):
    store = ObjectStore(s3)
    record = put(store, b"mine\n", scope="acme")
    facts = json.loads(store.bucket.get(record_key("acme", record.ref)).data)
    facts["object"]["data"] = change.format(ref=record.ref)
    del facts["check"]
    store.bucket.replace(record_key("acme", record.ref), json.dumps(facts).encode(), None)
    with pytest.raises(RefError):
        ScopedStore(store, "acme").open(record.ref)


def test_a_range_that_was_changed_in_the_bucket_is_refused_and_the_others_can_be_read(s3):
    store = ObjectStore(s3, compress=False)
    data = bytes(range(256)) * 8_192  # 2 MiB: four frames
    record = put(store, data, scope="acme")
    (key,) = [key for key, *_ in store.bucket.list("acme") if key.endswith(".txt")]
    changed = bytearray(data)
    changed[600_000] ^= 1
    store.bucket.replace(key, bytes(changed), None)
    blob = store.open(record.ref)
    assert blob.read(0, 1_000) == data[:1_000]
    with pytest.raises(StoreError, match=r"Bytes 524,289-1,048,576 of bash-.* are not the ones that were stored"):
        blob.read(600_000, 600_001)
    blob.close()


def test_a_line_range_costs_two_requests_and_what_it_stands_in(proxy, s3):
    clipper = Clipper(Limits(tokens=300), store=ObjectStore(s3), scope="acme")
    text = "".join(f"{number} {number * 7919 % 100003} words of a log\n" for number in range(300_000))
    ref = clipper.clip(text).ref
    assert len(proxy.requests) == 2, "the bytes and the record"
    for wanted in ("150000:150099", "1:100", "-100:", "299990"):
        proxy.reset()
        clipper.read(ref, lines=wanted)
        assert len(proxy.requests) <= 2
        assert proxy.received < 1 << 20


def test_a_search_reads_every_byte_once_and_several_ranges_at_a_time(proxy, s3):
    clipper = Clipper(Limits(tokens=300), store=ObjectStore(s3, compress=False), scope="acme")
    text = "".join(f"{number} {number * 7919 % 100003} words of a log that is long\n" for number in range(600_000))
    ref = clipper.clip(text).ref
    proxy.reset()
    assert "599999: 599998 " in clipper.grep(ref, "^599998 ").text
    assert len(text) <= proxy.received < 1.2 * len(text)


@pytest.mark.parametrize(
    "fault", ["drop", "lose", "truncate", "duplicate", "corrupt", "corrupt_up", "500", "503", "429", "412", "409"]
)
@pytest.mark.parametrize("place", [0, 1])
def test_what_goes_wrong_once_on_the_way_is_made_good(proxy, s3, fault, place):
    store = ObjectStore(s3, deadline_seconds=20)  # a machine that stalls for a second is not what is tested
    clipper = Clipper(Limits(tokens=300), store=store, scope="acme")
    proxy.script = [None] * place + [fault]
    clip = clipper.clip(LOG)
    assert (clip.outcome, clip.reason) == ("stored", None)
    assert len([*store.bucket.list("")]) == 2, "the bytes and the record, each once"
    proxy.script = [None] * place + [fault] * (fault not in ("412", "409"))  # nobody answers a read with those
    assert "1: 0 compiled" in clipper.read(clip.ref, lines=1).text


@pytest.mark.parametrize(
    ("fault", "why"),
    [("403", "these credentials may not do this"), ("hang", "gave no answer for 0.3 seconds"), ("500", "")],
)
def test_when_the_bucket_fails_the_output_is_kept_here_the_clip_says_so_and_push_brings_it_over(
    proxy, s3, tmp_path, fault, why
):
    deadline = 60 if fault == "403" else 0.3  # the answer is final, or there is none that counts
    failing, store = (ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=each) for each in (deadline, 60))
    clipper = Clipper(Limits(tokens=400), store=failing, scope="acme", hints=("path",))
    proxy.faults = {fault: 1.0}
    clip = clipper.clip(LOG)
    assert clip.outcome == "stored"
    assert why in clip.reason
    assert f"Kept on this machine only ({clip.reason}" in clip.text
    assert Path(clip.path).read_text() == LOG
    proxy.faults = {}
    elsewhere = Clipper(Limits(tokens=400), store=ObjectStore(s3, spool=tmp_path / "elsewhere"), scope="acme")
    with pytest.raises(RefError):
        elsewhere.read(clip.ref)
    assert "1: 0 compiled" in clipper.read(clip.ref, lines=1).text, "it can be read here"
    pushed = store.push()
    assert (pushed.outputs, pushed.bytes, pushed.left) == (1, len(LOG), 0)
    assert "1: 0 compiled" in elsewhere.read(clip.ref, lines=1).text
    assert list(store.local.list()) == []


def test_the_next_call_brings_along_what_earlier_ones_left(proxy, s3, tmp_path, monkeypatch):
    monkeypatch.setattr("spillover.store.object_store.PUSH_SECONDS", 60)
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    clippers = [Clipper(Limits(tokens=400), store=store, scope=scope) for scope in ("acme", "other")]
    proxy.faults = {"403": 1.0}
    left = [clipper.clip(LOG) for clipper in clippers]
    assert [clip.reason is not None for clip in left] == [True, True]
    proxy.faults = {}
    assert clippers[0].clip(LOG + "more\n").reason is None
    for clipper, clip in zip(clippers, left, strict=True):
        away = Clipper(store=ObjectStore(s3, spool=tmp_path / "away"), scope=clipper.settings.scope)
        assert "1: 0 compiled" in away.read(clip.ref, lines=1).text
    with pytest.raises(RefError):
        Clipper(store=ObjectStore(s3, spool=tmp_path / "away"), scope="third").read(left[0].ref)


def test_a_spool_that_cannot_be_written_is_said_out_loud(s3, tmp_path):
    (tmp_path / "file").write_text("")
    clip = Clipper(Limits(tokens=400), store=ObjectStore(s3, spool=tmp_path / "file" / "spool")).clip(LOG)
    assert clip.outcome == "lost"
    assert "Full output not kept: " in clip.text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "the secret key does not belong to the access key"),
        ({"AWS_ACCESS_KEY_ID": "wrong"}, "the access key is unknown there"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "the endpoint does not answer"),
        ({"AWS_ALLOW_HTTP": "false"}, "unless AWS_ALLOW_HTTP=true is set"),
        (
            {"AWS_ACCESS_KEY_ID": "spillover-reader", "AWS_SECRET_ACCESS_KEY": "spillover-reader-secret"},
            "these credentials may not do this; docs/fleet.md has the policy",
        ),
    ],
)
def test_each_thing_that_can_be_wrong_is_said_with_what_to_do(s3, monkeypatch, tmp_path, changes, said):
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    clip = Clipper(Limits(tokens=400), store=ObjectStore(s3, spool=tmp_path)).clip(LOG)
    assert said in clip.reason


@pytest.mark.parametrize("prefix", ["x", "a-long-prefix/" * 20])
def test_a_bucket_that_is_not_there_is_said_to_be_so(s3, prefix):
    with pytest.raises(StoreError, match="the bucket does not exist; create it"):
        Bucket(f"s3://nowhere-at-all/{prefix}").get("key")


@pytest.mark.parametrize("name", ["my-bucket", "NoSuchBucket"])
def test_an_output_that_is_not_there_is_not_taken_for_a_bucket_that_is_not_there(s3, name):
    """Once every ref that was not found in s3://my-bucket was an error of the store, for the word in its name."""
    with pytest.raises(RefError, match="No output is stored under bash-0123456789abcdef in scope acme"):
        ScopedStore(ObjectStore(f"{s3}/{name}"), "acme").get("bash-0123456789abcdef")


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("NoSuchBucket", "the bucket does not exist; create it"),
        ("404", "the endpoint answers 404 Not Found"),
        ("RequestTimeTooSkewed", "the clock of this machine is wrong; set it"),
    ],
)
def test_a_clip_survives_an_endpoint_that_knows_nothing_of_the_bucket(proxy, s3, tmp_path, fault, why):
    """Once such an answer to an upload was an exception in the tool call, where the key was long."""
    proxy.faults = {fault: 1.0}
    store = ObjectStore(f"{s3}/{'a-long-prefix/' * 20}", spool=tmp_path)
    for text in (LOG, "".join(f"{os.urandom(60).hex()}\n" for _ in range(90_000))):  # one request, and in parts
        clip = Clipper(Limits(tokens=400), store=store, scope="acme").clip(text)
        assert clip.outcome == "stored"
        assert why in clip.reason
        assert Path(clip.path).read_text() == text


def test_403_instead_of_404_is_looked_into_by_a_listing(proxy, s3):
    """S3 gives that answer for what is not there where only a part of the bucket may be listed, as docs/fleet.md advises."""
    store = ObjectStore(s3)
    ref = put(store, b"below\n", scope="acme/web").ref
    proxy.script = ["403"]
    assert content(ScopedStore(store, "acme"), ref) == b"below\n"
    proxy.script = ["403"]
    with pytest.raises(RefError, match="No output is stored under bash-0123456789abcdef"):
        ScopedStore(store, "acme").get("bash-0123456789abcdef")
    proxy.faults = {"403": 1.0}
    with pytest.raises(StoreError, match="these credentials may not do this"):
        ScopedStore(store, "acme").get(ref)


def test_objects_are_removed_one_by_one_where_a_request_for_many_is_refused(proxy, s3):
    """Some servers ask for rights to the whole bucket in it, and to each object in a request for one."""
    store = ObjectStore(s3)
    keys = [f"acme/~o/{number}" for number in range(3)]
    for key in keys:
        store.bucket.create(key, b"x")
    proxy.reset()
    proxy.script = ["403"]
    store.bucket.delete(keys[:2])
    assert [line.split()[0] for line in proxy.requests] == ["POST", "DELETE", "DELETE"]
    store.bucket.delete(keys)
    assert [line.split()[0] for line in proxy.requests[3:]] == ["DELETE"] * 3
    assert not [*store.bucket.list("")]
    proxy.faults = {"403": 1.0}
    with pytest.raises(StoreError, match="these credentials may not do this"):
        store.bucket.delete(keys)


@pytest.mark.parametrize(
    "wrong", [{"url": "s3://"}, {"url": "s3://b", "deadline_seconds": 0}, {"url": "s3://b", "deadline_seconds": -1}]
)
def test_bad_arguments_fail_when_the_store_is_made(wrong):
    with pytest.raises(UsageError):
        ObjectStore(**wrong)


def test_the_newest_are_listed_without_reading_every_record(proxy, s3):
    store = ObjectStore(s3)
    for number in range(12):
        put(store, b"%d\n" % number, scope="acme/1")
    proxy.reset()
    shown, total = ScopedStore(store, "acme").newest(3)
    assert (len(shown), total) == (3, 12)
    assert len(proxy.requests) == 4


def test_a_child_that_was_forked_later_keeps_outputs_here_at_once(s3, tmp_path):
    code = (
        "import os, sys\n"
        "from spillover import Clipper, Limits, ObjectStore\n"
        "clipper = Clipper(Limits(tokens=300), store=ObjectStore(sys.argv[1], spool=sys.argv[2]))\n"
        "assert clipper.clip('line\\n' * 9_000).reason is None\n"
        "if child := os.fork():\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    assert clipper.settings.store.push().outputs == 1\n"
        "else:\n"
        "    clip = clipper.clip('other line\\n' * 9_000)\n"
        "    os._exit(0 if clip.path and 'was forked from one that had used the bucket' in clip.reason else 1)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, s3, tmp_path], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr


def test_an_output_full_of_notices_that_look_like_ours_makes_few_requests(proxy, s3):
    forged = "".join(
        f"[Output clipped: 5 of 9,000 lines shown. Full output: bash-{number:016x}]\n" for number in range(3_000)
    )
    clip = Clipper(Limits(tokens=2_000), store=ObjectStore(s3), scope="acme").clip(forged)
    assert clip.outcome == "stored"
    assert not any("list-type" in one for one in proxy.requests)
    assert len(proxy.requests) < 100


def test_a_ref_that_is_not_there_and_a_prefix_cost_a_listing_and_not_every_record(proxy, s3):
    store = ObjectStore(s3)
    refs = [put(store, b"%d\n" % number, scope="acme/1").ref for number in range(9)]
    view = ScopedStore(store, "acme")
    for asked, found in (("bash-0123456789abcdef", None), (refs[4][:12], refs[4])):
        for ask in (view.get, view.open):
            proxy.reset()
            if found is None:
                with pytest.raises(RefError, match=f"No output is stored under {asked} in scope acme"):
                    ask(asked)
            else:
                ask(asked)
            assert len(proxy.requests) <= 4


def test_words_are_looked_for_in_the_newest_records_alone(proxy, s3, monkeypatch):
    monkeypatch.setattr("spillover.store.object_store.MAX_RECORDS_SEARCHED", 3)
    store = ObjectStore(s3)
    for number in range(9):
        put(store, b"%d\n" % number, scope="acme", command=f"make {number}")
    clipper = Clipper(Limits(tokens=300), store=store, scope="acme")
    for ask, said in (
        (clipper.tools()[3], "[3 of 9 stored outputs.]"),
        (lambda: clipper.tools()[3](query="no such"), "[0 of 0 stored outputs among the newest 3 of 9.]"),
    ):
        proxy.reset()
        assert said in ask()
        assert len(proxy.requests) == 4


def test_a_bucket_that_hangs_is_asked_for_notices_once_and_not_for_each_of_them(proxy, s3, tmp_path):
    """Once each of 35 looks took the whole deadline, one after the other."""
    forged = "".join(
        f"[Output clipped: 5 of 9,000 lines shown. Full output: bash-{number:016x}]\n" for number in range(3_000)
    )
    proxy.faults = {"hang": 1.0}
    store = ObjectStore(s3, spool=tmp_path, deadline_seconds=0.5)
    clip = Clipper(Limits(tokens=2_000), store=store, scope="acme").clip(forged)
    assert "gave no answer for 0.5 seconds" in clip.reason
    assert len(proxy.requests) <= 2, "one look, and the upload"


def test_a_record_is_brought_up_to_date_where_tags_are_compared_without_their_quotes(proxy, s3):
    """Ceph does so (`make ceph`). A record that has changed is a conflict there too."""
    store = ObjectStore(s3)
    first = put(store, LOG.encode(), scope="acme", command="first")
    proxy.faults = {"bare_tags": 1.0}
    assert put(store, LOG.encode(), scope="acme", command="second").ref == first.ref
    assert ScopedStore(store, "acme").get(first.ref).command == "second"
    key = record_key("acme", first.ref)
    old = store.bucket.get(key)
    store.bucket.replace(key, old.data + b" ", old.tag)
    with pytest.raises(Conflict):
        store.bucket.replace(key, old.data, old.tag)


# What an upload leaves in the bucket when it fails halfway, and what the next one makes of it.


def test_a_record_whose_answer_was_lost_keeps_its_bytes(proxy, s3, tmp_path):
    """A soak once lost an output so: the bytes were removed because the record had failed, and the record was there."""
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    proxy.script = [None, "lose", "403", "403"]  # the record arrives, nobody hears of it, and later tries are refused
    clip = Clipper(Limits(tokens=300), store=store, scope="acme").clip(LOG)
    assert clip.reason is not None
    assert store.push().left == 0
    elsewhere = ObjectStore(s3, spool=tmp_path / "elsewhere", deadline_seconds=60)
    assert content(ScopedStore(elsewhere, "acme"), clip.ref) == LOG.encode()


@pytest.mark.parametrize("pushed", [False, True])
def test_a_record_that_has_outlived_its_bytes_gets_those_that_are_stored_again(proxy, s3, tmp_path, pushed):
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    clipper = Clipper(Limits(tokens=300), store=store, scope="acme")
    ref = clipper.clip(LOG).ref
    store.bucket.delete([key for key, *_ in store.bucket.list("acme") if key.endswith(".zst")])
    proxy.faults = {"403": 1.0} if pushed else {}
    assert clipper.clip(LOG).ref == ref
    proxy.faults = {}
    assert store.push().outputs == pushed
    assert content(ScopedStore(store, "acme"), ref) == LOG.encode()


def test_a_record_is_merged_with_one_that_came_garbled_the_first_time(proxy, s3):
    store = ObjectStore(s3)
    first = put(store, LOG.encode(), scope="acme", notices=("first",))
    proxy.script = [None, None, "corrupt"]  # the bytes; the record is taken; who has it comes garbled
    put(store, LOG.encode(), scope="acme", notices=("second",))
    assert store.get(first.ref).notices == ("first", "second")
    assert len([key for key, *_ in store.bucket.list("acme") if key.endswith(".zst")]) == 1


def test_an_output_stored_again_late_in_its_life_survives_the_lifecycle_rule(s3):
    """The rule removes objects older than its age. Half of that age is left to every output that is promised again."""
    store = ObjectStore(s3, Retention(age_seconds=4))
    ref = put(store, LOG.encode(), scope="acme").ref
    begin = max(changed for _, _, changed in store.bucket.list("acme"))
    assert len([*store.bucket.list("acme")]) == 2
    put(store, LOG.encode(), scope="acme")
    assert len([*store.bucket.list("acme")]) == 2, "fresh bytes are not uploaded again"
    time.sleep(3)
    put(store, LOG.encode(), scope="acme")
    store.bucket.delete([key for key, _, changed in store.bucket.list("acme") if changed <= begin])  # as the rule does
    assert content(store, ref) == LOG.encode()


def test_a_record_that_the_bucket_removes_while_it_is_updated_is_made_again(s3, monkeypatch):
    store = ObjectStore(s3)
    first = put(store, LOG.encode(), scope="acme")
    real, calls = type(store.bucket).replace, []

    def meddle(bucket, key, data, tag):
        calls.append(key)
        if len(calls) == 1:  # a rule of the bucket is quicker
            bucket.delete([key])
        real(bucket, key, data, tag)

    monkeypatch.setattr(type(store.bucket), "replace", meddle)
    assert put(store, LOG.encode(), scope="acme", command="again").ref == first.ref
    assert calls == [record_key("acme", first.ref)]
    assert content(ScopedStore(store, "acme"), first.ref) == LOG.encode()


@pytest.mark.parametrize("large", [False, True], ids=["in one request", "in parts"])
def test_an_upload_that_arrives_garbled_is_never_called_stored_in_the_bucket(proxy, s3, tmp_path, large):
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    text = "".join(f"{os.urandom(60).hex()}\n" for _ in range(90_000 if large else 900))
    proxy.faults = {"corrupt_up": 1.0}
    clip = Clipper(Limits(tokens=300), store=store, scope="acme").clip(text)
    assert "what arrived differs from what was sent" in clip.reason
    proxy.faults = {}
    assert not [*store.bucket.list("")]
    assert store.push().outputs == 1
    assert content(ScopedStore(store, "acme"), clip.ref) == text.encode()


# Uploads that take long.


def test_an_upload_may_take_longer_than_the_deadline_as_long_as_it_makes_progress():
    def send(progress):
        for _ in progress.watch(iter([b"part"] * 6), 0.0):
            time.sleep(0.2)
        return "sent"

    assert watch("s3://bucket", 0.7, send) == "sent"


def test_an_upload_that_stands_still_is_given_up_and_sends_nothing_more():
    sent = []

    def send(progress):
        for number in progress.watch(range(3), 0.0):
            sent.append(number)
            time.sleep(0.4)

    with pytest.raises(StoreError, match=r"gave no answer for 0\.1 seconds"):
        watch("s3://bucket", 0.1, send)
    time.sleep(0.6)
    assert sent == [0]

"""The laws on a bucket of a real S3 server, on its spool and push, and with secrets covered: the same properties, fewer examples."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_given import choices, cuts, law, outputs
from law_going_back import follow
from law_naive import cover_streams, line_count, over_all
from law_ways import SOURCES, dealt_out

from spillover import Clipper, Limits, MemoryStore, ObjectStore, RefError, StoreError, verify
from spillover.testing import chunked, content
from support import Scoped, ToolClipper
from support import cover_secrets as cover

few = settings(law, max_examples=40)
ways = st.sampled_from([*SOURCES])
SECRET = b"token ghp_0123456789abcdefABCDEF0123456789abcd\npassword=Tr0ub4dor3x\n"


@few
@given(way=ways, chosen=choices, data=outputs, cuts=cuts)
def test_it_fits_nothing_is_lost_and_the_numbers_are_true(s3, tmp_path, way, chosen, data, cuts):
    store = ObjectStore(s3)
    clipper = ToolClipper(**chosen, store=store, scope="acme/web")
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    assert not over_all(came.texts, clipper, whole=all(clip.outcome == "whole" for clip in came.clips))
    for clip, given_bytes in zip(came.clips, came.inputs, strict=True):
        assert clip.outcome in ("whole", "stored")
        if clip.outcome == "whole":
            continue
        assert (clip.path, clip.reason) == (None, None)
        view = Scoped(store, "acme")
        assert content(view, clip.ref) == given_bytes
        assert verify(view, clip.ref) is None
        record = view.get(clip.ref)
        assert (record.bytes, record.lines) == (len(given_bytes), line_count(given_bytes))
        assert record.sha256 == clip.sha256 == hashlib.sha256(given_bytes).hexdigest()
        with pytest.raises(RefError):
            Scoped(store, "acme/web/below").get(clip.ref)


@settings(law, max_examples=25)
@given(way=ways, chosen=choices, data=outputs, cuts=cuts)
def test_what_a_bucket_refuses_is_kept_here_and_push_brings_all_of_it_over(s3, tmp_path, way, chosen, data, cuts):
    spool = tmp_path / os.urandom(8).hex()
    away = ObjectStore(s3, spool=spool, deadline_seconds=60, options={"secret_access_key": "wrong"})
    clipper = ToolClipper(**chosen, store=away, scope="acme/web")
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    assert not over_all(came.texts, clipper, whole=all(clip.outcome == "whole" for clip in came.clips))
    kept = {}
    for clip, given_bytes in zip(came.clips, came.inputs, strict=True):
        assert clip.outcome in ("whole", "stored")
        if clip.outcome == "stored":
            assert "the secret key does not belong" in clip.reason
            assert Path(clip.path).read_bytes() == given_bytes == content(Scoped(away, "acme"), clip.ref)
            with pytest.raises((RefError, StoreError)):
                Scoped(away, "other").get(clip.ref)
            kept[clip.ref] = given_bytes
    pushed = ObjectStore(s3, spool=spool, deadline_seconds=60).push()
    assert (pushed.outputs, pushed.left, pushed.why) == (len(kept), 0, "")
    elsewhere = ObjectStore(s3, spool=tmp_path / "elsewhere", deadline_seconds=60)
    for ref, given_bytes in kept.items():
        assert content(Scoped(elsewhere, "acme"), ref) == given_bytes
        with pytest.raises(RefError):
            Scoped(elsewhere, "other").get(ref)


@few
@given(chosen=choices, data=outputs, cuts=cuts)
def test_the_same_bytes_give_the_same_text_and_ref_as_in_memory(s3, chosen, data, cuts):
    chosen = {**chosen, "hints": "tools"}
    there = ToolClipper(**chosen, store=ObjectStore(s3), scope="acme").clip(chunked(data, cuts))
    here = ToolClipper(**chosen, store=MemoryStore(), scope="acme").clip(data)
    assert (there.text, there.ref, there.ranges) == (here.text, here.ref, here.ranges)


def test_every_line_can_be_reached_by_following_the_next_calls(s3):
    data = b"".join(b"line %d\n" % number for number in range(1, 3_001)) + b"x" * 30_000 + b"\nlast\n"
    clipper = Clipper(Limits(tokens=2_000), store=ObjectStore(s3), scope="acme", hints="tools")
    ref = clipper.clip(data).ref
    seen = "".join(text for _, text in follow(lambda **asked: clipper.read(ref, **asked), lines="1:3002"))
    for number in (1, 1_500, 3_000):
        assert f"\n{number}: line {number}\n" in f"\n{seen}"
    assert "3002: last" in seen


@settings(law, max_examples=150)
@given(
    way=ways, chosen=choices, data=outputs, cuts=cuts, redact=st.sampled_from(["shown", "stored"]), secret=st.booleans()
)
def test_it_fits_and_the_numbers_are_true_with_secrets_covered(tmp_path, way, chosen, data, cuts, redact, secret):
    data = data + SECRET + data if secret else data
    store = MemoryStore()
    clipper = ToolClipper(**chosen, store=store, redact=redact)
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    assert not over_all(came.texts, clipper, whole=all(clip.outcome == "whole" for clip in came.clips))
    for clip, given_bytes in zip(came.clips, came.inputs, strict=True):
        assert "0123456789abcdefABCDEF" not in clip.text
        assert "Tr0ub4dor" not in clip.text
        if clip.outcome == "stored":
            stored = content(store, clip.ref)
            assert (len(stored), stored.count(b"\n")) == (len(given_bytes), given_bytes.count(b"\n"))
            if redact == "stored" and way == "capture":
                assert stored == cover_streams([*dealt_out(data, cuts)])
            else:
                assert stored == (cover(given_bytes)[0] if redact == "stored" else given_bytes)
            assert store.get(clip.ref).lines == line_count(given_bytes)


TOKEN, KEY = (
    SECRET[6:50],
    b"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789\n-----END RSA PRIVATE KEY-----\n",
)
parts = st.one_of(
    st.sampled_from(
        (
            b"\n",
            b"\r\n",
            b"a line\n",
            b"no end",
            b"x" * 3_000,
            b"\x1b[31m",
            b"password=",
            b"hunter2x9",
            b"token: ",
            TOKEN,
        )
    ),
    st.sampled_from((TOKEN[:11], TOKEN[11:], TOKEN + b"\n", KEY, KEY[:40], KEY[40:])),
    st.binary(min_size=1, max_size=12),
)


@settings(law, max_examples=60)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(["stdout", "stderr", "log"]), parts), max_size=24),
    sizes=st.lists(st.integers(1, 40), max_size=20),
)
def test_streams_are_stored_in_the_order_they_came_without_the_secrets_of_each_and_of_all(pieces, sizes):
    """A secret dealt out to two streams was not found, and one stream overtook the other."""
    pieces = [*pieces, ("stdout", b"\nlast line" * 50)]
    stored = []
    for given_pieces in (pieces, [(name, part) for name, data in pieces for part in chunked(data, sizes)]):
        store = MemoryStore()
        with Clipper(Limits(bytes=300), store=store, redact="stored").capture() as capture:
            for name, data in given_pieces:
                capture.write(data, name)
        record = store.get(capture.clip.ref)
        stored.append((content(store, record.ref), record.segments, record.redacted))
    assert stored[0] == stored[1]
    assert stored[0][0] == cover_streams(pieces)
    owners = "".join(name[-1] * len(data) for name, data in pieces)
    segments = record.segments or (("stdout", record.bytes),)
    assert "".join(name[-1] * size for name, size in segments) == owners

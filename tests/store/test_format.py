"""docs/format.md holds: the schema fits what is written, in a folder and in a bucket, and old records are still read."""

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest

from spillover import Clipper, DirStore, Limits, ObjectStore
from spillover.store.frames import load_zstd
from spillover.store.record import decode
from spillover.testing import put

DOCS = Path(__file__).parent.parent.parent / "docs"
SCHEMA = json.loads((DOCS / "record.schema.json").read_text(encoding="utf-8"))
LOG = "".join(f"{number} compiled module_{number}\n" for number in range(60_000))


def check(text):
    facts = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(facts)
    before = text[: text.rindex(b', "check"')]
    assert facts["check"] == hashlib.sha256(before).hexdigest()
    return facts


def test_the_schema_is_one_and_refuses_what_is_no_record():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"spillover": 3}, SCHEMA)


def test_a_record_in_a_folder_fits_the_schema(tmp_path):
    clipper = Clipper(Limits(tokens=400), store=DirStore(tmp_path), scope="acme/web", redact="stored")
    clip = clipper.run(["sh", "-c", "seq 50000; echo x >&2"]).clip
    facts = check((tmp_path / f"{clip.ref}.json").read_bytes())
    assert (facts["scope"], facts["redacted"]) == ("acme/web", 0)


def test_what_is_in_a_bucket_can_be_read_without_us(s3):
    store = ObjectStore(s3)
    ref = Clipper(Limits(tokens=400), store=store, scope="acme/web").clip(LOG).ref
    facts = check(store.bucket.get(f"acme/web/~o/{ref}.json").data)
    assert (facts["spillover"], facts["object"]["data"][:3]) == (2, "~s/")
    data = store.bucket.get(f"acme/web/{facts['object']['data']}").data
    whole, at = b"", 0
    for size, sha256 in zip(facts["object"]["sizes"], facts["object"]["sha256"], strict=True):
        frame = data[at : at + size]
        assert hashlib.sha256(frame).hexdigest() == sha256
        whole, at = whole + load_zstd().decompress(frame), at + size
    assert whole == LOG.encode()
    assert hashlib.sha256(whole).hexdigest() == facts["sha256"]


def test_the_names_of_scopes_are_as_written(s3):
    store = ObjectStore(s3)
    folder = "~f/" + hashlib.sha256(b"/home/me/app").hexdigest()[:40]
    places = {"acme/web": "acme/web", "a b/é~": "a=20b/=C3=A9=7E", "/home/me/app": folder, None: "~n"}
    for number, (scope, place) in enumerate(places.items()):
        record = put(store, b"line %d\n" % number, scope=scope)
        assert store.bucket.get(f"{place}/~o/{record.ref}.json").data


def test_a_format_that_is_not_ours_is_left_alone():
    with pytest.raises(ValueError, match="not a record of this version"):
        decode(b'{"spillover": 2}', ref="bash-0123456789abcdef", pinned=False)

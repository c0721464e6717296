"""Which key belongs to which scope and ref. Pure: texts in, texts out.

    acme/web/~o/bash-7f3a9c2e41d05b86.json                          the record
    acme/web/~s/bash-7f3a9c2e41d05b86.5f1c09aa5f1c09aa.zst          its bytes, under a name that nobody else writes to

The scope comes first, so that a prefix can be granted to a tenant. A scope that is a folder of a machine stands under
`~f/`, by its hash: it may be longer than a key. What belongs to nobody stands under `~n/`. Records are in a folder of their
own, so that a listing of one scope brings records alone.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.errors import StoreError
from spillover.store.base import REF_SHAPE
from spillover.store.scope import EVERY

OUTPUTS, STORED, FOLDERS, NOBODY = "~o", "~s", "~f", "~n"
RECORD = ".json"
#: A key has at most 1,024 bytes in every store; a prefix of the bucket and the name of an output are part of it.
SCOPE_CHARS = 700
_ODD = re.compile(rb"[^A-Za-z0-9_.@+-]")
#: The shape of a ref (`REF_SHAPE`) stands in the middle of it: a listing of 100,000 keys has time for one look at each.
_KEY = re.compile(
    rf"((?:.*/)?)(?:{OUTPUTS}/({REF_SHAPE.pattern})\.json|{STORED}/({REF_SHAPE.pattern})\.[0-9a-f]{{16}}\.(zst|txt))",
    re.ASCII | re.DOTALL,
)


class Name(Struct, frozen=True):
    """What a key says: in which scope's folder, of which output, and which part of it."""

    place: str  # the folder of the scope, with its final slash
    ref: str
    end: str  # "json", "zst" or "txt"
    key: str


def place_of(scope: str | None) -> str:
    """Return the folder of a scope: with its outputs and, where it is a name, every scope below it; "" for everything."""
    if scope == EVERY:
        return ""
    if scope is None:
        return NOBODY
    if scope.startswith("/"):
        import hashlib  # wanted only once something has overflowed

        return f"{FOLDERS}/{hashlib.sha256(scope.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
    place = "/".join(map(_segment, scope.split("/")))
    if len(place) > SCOPE_CHARS:
        raise StoreError(
            f"the scope takes {len(place):,} characters of a key; use at most {SCOPE_CHARS}, best of a-z, 0-9 and '-_.@'"
        )
    return place


def _segment(text: str) -> str:
    """Return a part of a scope as a part of a key; what is not plain stands there as =XX. It never begins with "~"."""
    return _ODD.sub(lambda found: b"=%02X" % found[0][0], text.encode("utf-8", "surrogatepass")).decode("ascii")


def record_key(scope: str | None, ref: str) -> str:
    return f"{place_of(scope)}/{OUTPUTS}/{ref}{RECORD}"


def is_record(key: str) -> bool:
    """Return whether a key is one of a record of ours."""
    return key.endswith(RECORD) and parse(key) is not None


def parse(key: str) -> Name | None:
    """Return what a key says; None where it is not one of ours."""
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    place, record, data, ending = found.groups()
    return Name(place, record or data, ending or "json", key)

"""Who may ask the page: the bearer token, and the Host and Origin headers."""

from __future__ import annotations

from hmac import compare_digest
from ipaddress import ip_address
from secrets import token_urlsafe
from urllib.parse import urlsplit

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The random bytes of a token.
TOKEN_BYTES = 32


class Refused(Struct, frozen=True, kw_only=True):
    """What an HTTP response says to somebody who may not come in."""

    status: int
    words: str
    headers: Sequence[tuple[bytes, bytes]] = ()


class Door(Struct, frozen=True, kw_only=True):
    """The checks that every request passes, before anything is started for it."""

    token: str

    def refuses(self, headers: Mapping[str, str], *, public: bool = False) -> Refused | None:
        """Return why a request with these headers (names in lower case) is refused; None: it may come in.

        `public`: what is asked for says nothing about anybody, and needs no token.
        """
        host = headers.get("host", "")
        if not _is_loopback(_name(f"//{host}") or ""):
            words = "The Host header names another machine. This page is served on this machine only, as 127.0.0.1 or localhost."
            return Refused(status=421, words=words)
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return Refused(status=403, words="The Origin header names another site.")
        if not public and not self._has_token(headers.get("authorization", "")):
            words = (
                "The token is missing or wrong. Open the address that `spill ui` printed, with everything behind the #."
            )
            return Refused(status=401, words=words, headers=[(b"www-authenticate", b"Bearer")])
        return None

    def _has_token(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        same = compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())
        return same and scheme.lower() == "bearer"


def _name(url: str) -> str | None:
    """Return the host a URL names."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    plain = parts.username is None and not (parts.path or parts.query or parts.fragment)
    return parts.hostname if plain else None


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can be reached by a name."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """Return a token that nobody can guess."""
    return token_urlsafe(TOKEN_BYTES)

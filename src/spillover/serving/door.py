"""Who may come in over HTTP, and how much of each: the bearer token, Host and Origin, and every bound."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The random bytes of a token.
TOKEN_BYTES = 32
LOCALHOST = "localhost"


class Bounds(Struct, frozen=True, kw_only=True):
    """The most that all clients together may take; a client above one of them is refused in words."""

    sockets: int = 128
    header_bytes: int = 1 << 14
    header_seconds: float = 10.0
    idle_socket_seconds: float = 5.0


class Refused(Struct, frozen=True, kw_only=True):
    """What an HTTP response says to somebody who may not come in."""

    status: int
    words: str
    headers: Sequence[tuple[bytes, bytes]] = ()


class Door(Struct, frozen=True, kw_only=True):
    """The checks that every request passes, before anything is started for it."""

    token: str
    called_otherwise: str  # what is said to somebody who has another name for this machine
    not_let_in: str  # what is said to somebody without the token

    def refuses(self, headers: Mapping[str, str], *, public: bool = False) -> Refused | None:
        """Return why a request with these headers (names in lower case) is refused; None: it may come in.

        `public`: what is asked for says nothing about anybody, and needs no token.
        """
        host = headers.get("host", "")
        if not is_loopback(_name(f"//{host}") or ""):
            return Refused(status=421, words=f"The Host header names another machine. {self.called_otherwise}")
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return Refused(status=403, words="The Origin header names another site.")
        if not public and not self._has_token(headers.get("authorization", "")):
            return Refused(status=401, words=self.not_let_in, headers=[(b"www-authenticate", b"Bearer")])
        return None

    def _has_token(self, authorization: str) -> bool:
        from hmac import compare_digest

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


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether only this machine can be reached by a name, or reach us by it."""
    return host.lower() == LOCALHOST or (_is_address(host) and ip_address(host).is_loopback)


def new_token() -> str:
    """Return a token that nobody can guess."""
    from secrets import token_urlsafe

    return token_urlsafe(TOKEN_BYTES)

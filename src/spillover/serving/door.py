"""Who may come in over HTTP, and how much of each: the bearer token, Host and Origin, and every bound. No socket here."""

from __future__ import annotations

import os
import stat
from ipaddress import ip_address
from urllib.parse import urlsplit

from spillover.base.data import dataclass
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The random bytes of a token; and what somebody else's must have at least, and may have at most, in characters.
TOKEN_BYTES = 32
TOKEN_CHARS = (16, 1_024)
LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that all clients together may take; a client above one of them is refused in words."""

    sessions: int = 16
    children: int = 64  # servers that run for all sessions together; at least one session is served whatever it starts
    sockets: int = 128
    header_bytes: int = 1 << 14
    body_bytes: int = 16 << 20  # a message is held whole
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_socket_seconds: float = 5.0
    idle_session_seconds: float = 30 * 60.0  # without a request
    broken_off_seconds: float = 5.0  # since the client's stream broke off, and it did not come back
    spare_seconds: float = 60.0  # idle for so long, a session makes room for a new one where there are too many

    def most_sessions(self, servers: int) -> int:
        """Return how many sessions there may be when each starts so many servers."""
        return min(self.sessions, max(1, self.children // max(1, servers)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What an HTTP response says to somebody who may not come in."""

    status: int
    words: str
    headers: Sequence[tuple[bytes, bytes]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The checks that every request passes, before anything is started for it."""

    token: str
    host: str
    names: Sequence[str] = ()  # other names that clients have for this machine
    called_otherwise: str = "Start `spill mcp` with --allow-host NAME to be called that."
    not_let_in: str = (
        "A bearer token is needed: send `Authorization: Bearer TOKEN`. `spill mcp --http` printed the token when it "
        "was started, or keeps it in the file that --token-file names."
    )
    same_origin: bool = False  # only a page from this very address may ask, not another one of this machine

    def refuses(self, headers: Mapping[str, str], *, public: bool = False) -> Refused | None:
        """Return why a request with these headers (names in lower case) is refused; None: it may come in.

        `public`: what is asked for says nothing about anybody, and needs no token.
        """
        host = headers.get("host", "")
        if not self._is_ours(_name(f"//{host}")):
            return Refused(status=421, words=f"The Host header names another machine. {self.called_otherwise}")
        origin = headers.get("origin")
        if origin is not None and not self._may_ask(origin, host):
            return Refused(status=403, words="The Origin header names another site.")
        if not public and not self._has_token(headers.get("authorization", "")):
            return Refused(status=401, words=self.not_let_in, headers=[(b"www-authenticate", b"Bearer")])
        return None

    def _is_ours(self, name: str | None) -> bool:
        """Return whether a name can only mean us. A page's own name made to point at us is not among them; addresses are."""
        if not name:
            return False
        if is_loopback(self.host):
            return is_loopback(name) or name in self.names
        return _is_address(name) or name in (self.host.lower(), *self.names)

    def _may_ask(self, origin: str, host: str) -> bool:
        """Return a page of ours: served from the address it asks; or from this machine, where nobody else can ask anyway."""
        scheme, _, rest = origin.partition("://")
        if scheme not in ("http", "https"):
            return False
        if rest == host or self.same_origin:
            return rest == host
        return is_loopback(self.host) and is_loopback(_name(origin) or "")

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


def token_in(path: str) -> str:
    """Return the token of a file that only its user can read; a new one, where there is no such file."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | flags, 0o600)
    except FileExistsError:
        return _read_token(path, flags)
    except OSError as error:
        raise UsageError(f"--token-file {path} cannot be created: {error.strerror}.") from error
    token = new_token()
    with open(fd, "w", encoding="ascii") as file:
        os.fchmod(fd, 0o600)  # whatever the umask is
        file.write(token + "\n")
    return token


def _read_token(path: str, flags: int) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | flags)
    except OSError as error:
        why = "it is a symbolic link" if os.path.islink(path) else error.strerror
        raise UsageError(f"--token-file {path} cannot be used: {why}. Name a plain file of your own.") from error
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise UsageError(f"--token-file {path} cannot be used: it is not a plain file.")
        if facts.st_uid != os.geteuid():
            raise UsageError(f"--token-file {path} cannot be used: it belongs to another user.")
        if facts.st_mode & 0o077:
            raise UsageError(f"--token-file {path} can be read by others; run: chmod 600 {path}")
        token = os.read(fd, TOKEN_CHARS[1] + 2).decode("latin-1").strip()
    finally:
        os.close(fd)
    least, most = TOKEN_CHARS
    if not (least <= len(token) <= most and token.isascii() and token.isprintable() and " " not in token):
        raise UsageError(
            f"--token-file {path} holds no token: {least:,} to {most:,} visible ASCII characters on one line. "
            "Remove the file, and a new one is created."
        )
    return token

"""The folder of a DirStore: its names, its checks, and the only ways a file in it is made, opened, moved or removed.

    <ref>.txt  <ref>.json  <ref>.pin     an output, its record, and an empty file when it is pinned
    <ref>.txt.zst                        the output instead of <ref>.txt, once it is compressed
    .tmp/                                what is on its way in, or on its way out
    .spillover  .sweep                   says what the folder is; when it was last swept

Everything goes through the descriptor of a root that was checked after it was opened. A process may be killed
between any two lines here, and others may write, sweep and delete at the same time: there is no lock to wait for.
Instead, whoever wants to keep a file touches it, and whoever wants it gone takes it aside first, looks whether it
was touched meanwhile, and if so puts it back. An output may be compressed, or stored anew, while somebody looks for
it: so the plain file is looked for first, then the compressed one, and then the plain one again.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from contextlib import contextmanager, suppress

from spillover.errors import StoreError
from spillover.store.base import REF_SHAPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

DATA, PACKED, RECORD, PIN = ".txt", ".txt.zst", ".json", ".pin"
#: Where bytes are looked for, in this order: whoever puts one there takes the other away only afterwards.
BYTES = (DATA, PACKED, DATA)
MARKER, TEMP, SWEEP = ".spillover", ".tmp", ".sweep"
MARKER_TEXT = (
    b"Outputs of tools, kept by spillover: one .txt each, and what is known of it in .json. `spill gc` cleans up.\n"
)
TEMP_SHAPE = re.compile(r"[0-9a-f]{32}", re.ASCII)

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # or a FIFO in the place of a file would hang us
MAKE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@contextmanager
def told(path: str | None = None) -> Iterator[None]:
    """What the system complains about in here is said in a person's words; with the path, where that helps."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(why if path is None else f"{why}: {path}") from error


def ours(found: os.stat_result) -> bool:
    """Whether this is a plain file that belongs to us."""
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def parsed(name: str) -> tuple[str, str] | None:
    """The ref and the ending of a file's name, if it is a name we give."""
    for ending in (DATA, RECORD, PACKED, PIN):
        if name.endswith(ending) and REF_SHAPE.fullmatch(ref := name.removesuffix(ending)):
            return ref, ending
    return None


class Folder:
    """A checked root, open while a `with` lasts. Made if need be with `make`; else FileNotFoundError says there is none."""

    __slots__ = ("_temp", "fd", "path")

    def __init__(self, path: str, *, make: bool = False) -> None:
        self.path = path
        self._temp = -1
        try:
            self.fd = _open_folder(path)
        except FileNotFoundError:
            if not make:
                raise
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _make_folder(path)
            self.fd = _open_folder(path)
        try:
            self._check(make=make)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for fd in (self.fd, self._temp):
            if fd >= 0:
                os.close(fd)
        self.fd = self._temp = -1

    def _check(self, *, make: bool) -> None:
        marked = self.facts(MARKER) is not None
        if not marked:
            with os.scandir(self.fd) as found:
                empty = next(found, None) is None
            # We put the marker there before anything else: who sees a file of ours can see the marker by now.
            marked = not empty and self.facts(MARKER) is not None
            if not empty and not marked:
                raise StoreError(
                    f"{self.path} holds files that are not ours. Name a folder that is empty or not there yet "
                    f"(or, if it is a store, put back the empty file {MARKER})."
                )
        if make:
            mode = os.fstat(self.fd).st_mode
            if mode & 0o077:
                os.fchmod(self.fd, mode & 0o700)
            if not marked:
                with suppress(FileExistsError):
                    self.make(MARKER, MARKER_TEXT)

    @property
    def temp(self) -> int:
        """The folder for what is on its way."""
        if self._temp < 0:
            try:
                self._temp = _open_folder(f"{self.path}/{TEMP}", TEMP, self.fd)
            except FileNotFoundError:
                _make_folder(TEMP, self.fd)
                self._temp = _open_folder(f"{self.path}/{TEMP}", TEMP, self.fd)
        return self._temp

    def make(self, name: str, data: bytes = b"") -> None:
        """A new file; FileExistsError when there is one."""
        fd = _make_file(name, self.fd)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)

    def make_temp(self) -> tuple[str, int]:
        """A new file on its way in: its name, and a descriptor that holds a lock on it while its writer lives."""
        import fcntl  # wanted only once something has overflowed

        name = _temp_name()
        fd = _make_file(name, self.temp)
        with suppress(OSError):  # no locks on this filesystem: then age alone tells what was left behind
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return name, fd

    def drop_temp(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.temp)

    def claim(self, temp: str, name: str) -> None:
        """Give a file on its way in a name that nobody has; FileExistsError when somebody has it."""
        try:
            os.link(temp, name, src_dir_fd=self.temp, dst_dir_fd=self.fd, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            # No hard links here (FAT, some network mounts): hold the name with an empty file, then move onto that.
            # Any other trouble will show again here, and be said.
            self.make(name)
            try:
                self.move(temp, name)
            except BaseException:
                os.unlink(name, dir_fd=self.fd)
                raise
        else:
            os.unlink(temp, dir_fd=self.temp)

    def move(self, temp: str, name: str) -> None:
        """Give a file on its way in this name, in the place of whatever has it."""
        os.replace(temp, name, src_dir_fd=self.temp, dst_dir_fd=self.fd)

    def open(self, name: str) -> int:
        """A descriptor to read from; FileNotFoundError when there is none."""
        try:
            fd = os.open(name, READ, dir_fd=self.fd)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise StoreError(f"{self.path}/{name} is a symlink, and none is followed here.") from error
            raise
        if not ours(os.fstat(fd)):
            os.close(fd)
            raise StoreError(f"{self.path}/{name} is not a plain file of ours.")
        return fd

    def facts(self, name: str) -> os.stat_result | None:
        """Size and times of a plain file of ours; None when there is none."""
        try:
            found = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return found if ours(found) else None

    def touch(self, name: str) -> bool:
        """Keep a file from whoever looked at it before and wants to remove it; false when it is gone already."""
        now = time.time_ns()  # not the kernel's own "now", which stands still for milliseconds
        try:
            os.utime(name, ns=(now, now), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def take(self, name: str, seen: os.stat_result) -> bool:
        """Remove a file, unless it was touched or replaced since it was `seen`; whether it is gone."""
        if not _same(seen, self.facts(name) or seen):
            return False  # said without taking it aside, where nobody could read it for a moment
        aside = _temp_name()
        try:
            os.rename(name, aside, src_dir_fd=self.fd, dst_dir_fd=self.temp)
        except FileNotFoundError:
            return True
        gone = _same(seen, os.stat(aside, dir_fd=self.temp, follow_symlinks=False))
        if not gone:
            with suppress(FileExistsError):  # a newer one stands there by now
                self.claim(aside, name)
        self.drop_temp(aside)
        return gone

    def remove(self, ref: str, seen: dict[str, os.stat_result]) -> bool:
        """Remove what was `seen` of an output, unless somebody wants to keep it: the record first, it makes it visible."""
        gone = all(self.take(ref + ending, seen[ending]) for ending in (RECORD, DATA, PACKED, PIN) if ending in seen)
        if gone:
            self.tidy(ref)
        return gone

    def tidy(self, ref: str) -> None:
        """Bytes that have lost their record to a deleter, while their writer was bringing them, go too."""
        if RECORD in (left := self.look(ref)) or not (DATA in left or PACKED in left):
            return
        time.sleep(0.02)  # `take` may have a record aside for a moment, and put it back
        if RECORD not in (left := self.look(ref)):
            for ending in (DATA, PACKED):
                if ending in left:
                    self.take(ref + ending, left[ending])

    def look(self, ref: str) -> dict[str, os.stat_result]:
        """What there is of an output, by ending."""
        found = ((ending, self.facts(ref + ending)) for ending in (RECORD, *BYTES, PIN))
        return {ending: facts for ending, facts in found if facts}

    def holds(self, ref: str) -> bool:
        """Whether an output is there, record and bytes."""
        return bool(self.facts(ref + RECORD) and any(self.facts(ref + ending) for ending in BYTES))

    def refs(self) -> set[str]:
        """Every output that seems to be there, by names as far as they tell."""
        with os.scandir(self.fd) as found:
            names = {entry.name for entry in found}
        parts = (parsed(name) for name in names)
        known = {part[0] for part in parts if part and part[1] == RECORD}
        # Compressed while we went through the names, it may seem to have neither.
        return {ref for ref in known if ref + DATA in names or ref + PACKED in names or self.holds(ref)}


def _same(seen: os.stat_result, now: os.stat_result) -> bool:
    return (seen.st_ino, seen.st_mtime_ns) == (now.st_ino, now.st_mtime_ns)


def _temp_name() -> str:
    return os.urandom(16).hex()


def _make_folder(name: str, within: int | None = None) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=within)
    except FileExistsError:
        return  # somebody else made it just now
    if os.stat(name, dir_fd=within, follow_symlinks=False).st_mode & 0o700 != 0o700:
        os.chmod(name, 0o700, dir_fd=within)  # a umask took even our own right to enter


def _open_folder(path: str, name: str | None = None, within: int | None = None) -> int:
    """A descriptor of the folder at `path`, opened by its name within another where that is given."""
    name = path if name is None else name
    try:
        fd = os.open(name, FOLDER, dir_fd=within)
    except FileNotFoundError:
        raise
    except OSError as error:
        if _is_link(name, within):
            raise StoreError(f"{path} is a symlink, and none is followed here; use a real folder.") from error
        raise StoreError(f"{error.strerror}: {path}") from error
    owner = os.fstat(fd).st_uid
    if owner != os.geteuid():
        os.close(fd)
        raise StoreError(f"{path} belongs to another user (uid {owner}); use a folder of your own.")
    return fd


def _is_link(name: str, within: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _make_file(name: str, within: int) -> int:
    fd = os.open(name, MAKE, 0o600, dir_fd=within)
    try:
        os.fchmod(fd, 0o600)  # whatever the umask is
    except BaseException:
        os.close(fd)
        os.unlink(name, dir_fd=within)
        raise
    return fd

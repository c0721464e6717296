"""Compressed frames: one writer and one reader, for outputs in a bucket and for old outputs in a folder.

Every frame but the last holds the same number of bytes of the output and can be read alone. Its SHA-256 is that of the
bytes as stored, and is checked before they are decompressed. Frames in a row are a zstd file: `zstd -d` restores the
output. In a bucket, the table of the frames is in the record. A compressed file ends with it, in a frame that
decompressors skip.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import accumulate
from threading import Lock
from types import ModuleType
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, json

from spillover.errors import MissingExtraError, StoreError
from spillover.source.blob import Blob, measure
from spillover.store.folder import BYTES, DATA, MARKER, PACKED, PIN, RECORD, FileBlob, Files, Folder
from spillover.store.retention import STEP_SECONDS

#: Bytes of the output in a frame, which every read decompresses. Twice as many compress 1 % better.
FRAME_BYTES = 1 << 19
#: The largest frame that is read; with more, a forged table takes more memory.
MAX_FRAME_BYTES = 1 << 24
#: An output stays uncompressed if its first frame compresses to more than this share of its size.
MAX_COMPRESSED_SHARE = 0.9
#: The level of zstd; higher ones compress better and take longer.
COMPRESSION_LEVEL = 1
#: Frames fetched at once in sequential reading, and frames in memory. More need fewer requests and more memory.
READ_AHEAD_FRAMES = 8
CACHED_FRAMES = 2 * READ_AHEAD_FRAMES
#: Bytes that compressing a file has to save: a block of the disk. With more, fewer files are compressed.
MIN_SAVED_BYTES = 4_096
Form = Literal["plain", "zstd"]
_SKIPPABLE = 0x184D2A5E  # the first bytes of a frame that decompressors skip


def load_zstd() -> ModuleType:
    """Return the library: Python's own from 3.14 on, before that the extra."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise MissingExtraError("compressed outputs need the extra: pip install 'spillover[zstd]'") from error
    return zstd


class DamagedError(StoreError):
    """Bytes have changed since they were stored."""


class Frames(Struct, frozen=True, rename={"size": "bytes", "hashes": "sha256"}):
    """The table of an output's frames, checked when it is created."""

    size: int  # of the output
    form: Form
    frame: Annotated[int, Meta(gt=0, le=MAX_FRAME_BYTES)]  # bytes of the output in each frame but the last
    sizes: tuple[Annotated[int, Meta(gt=0, le=2 * MAX_FRAME_BYTES)], ...]  # of each frame, as stored
    hashes: tuple[Annotated[str, Meta(min_length=64, max_length=64)], ...]  # SHA-256 of each frame, as stored

    def __post_init__(self) -> None:
        if not len(self.sizes) == len(self.hashes) == -(-self.size // self.frame):
            raise ValueError("its frames do not add up to its bytes")

    @property
    def stored_bytes(self) -> int:
        return sum(self.sizes)

    def to_json(self) -> dict[str, Any]:
        """Return the facts that are stored beside the size of the output."""
        return {"form": self.form, "frame": self.frame, "sizes": self.sizes, "sha256": self.hashes}


class FrameWriter:
    """Splits an output into frames, compressed if that saves enough."""

    def __init__(self, source: Blob, *, compress: bool = True) -> None:
        self._source = source
        self._sizes: list[int] = []
        self._hashes: list[str] = []
        self.form: Form = "plain"
        if compress and source.size:
            first = source.read(0, FRAME_BYTES)
            if len(_compress(first)) < MAX_COMPRESSED_SHARE * len(first):
                self.form = "zstd"

    def write(self) -> Iterator[bytes]:
        """Yield the frames in order."""
        for start in range(0, self._source.size, FRAME_BYTES):
            data = self._source.read(start, start + FRAME_BYTES)
            if self.form == "zstd":
                data = _compress(data)
            self._sizes.append(len(data))
            self._hashes.append(hashlib.sha256(data).hexdigest())
            yield data

    def table(self) -> Frames:
        """Return the table of the frames; call it after the last one was written."""
        return Frames(self._source.size, self.form, FRAME_BYTES, tuple(self._sizes), tuple(self._hashes))


def _compress(data: bytes) -> bytes:
    frame: bytes = load_zstd().compress(data, level=COMPRESSION_LEVEL)
    return frame


class FrameBlob:
    """Reads an output that is stored in frames. `name` stands for it in errors."""

    __slots__ = ("_cache", "_fetch", "_frames", "_lock", "_name", "_next", "_starts", "size")

    def __init__(self, frames: Frames, fetch: Callable[[int, int], bytes], name: str) -> None:
        self._frames = frames
        self._fetch = fetch
        self._name = name
        self._starts = [0, *accumulate(frames.sizes)]
        self._cache: OrderedDict[int, bytes] = OrderedDict()  # the frame used last is the last one
        self._next = -1  # the frame after the ones fetched last
        self._lock = Lock()
        self.size = frames.size

    def read(self, start: int, end: int) -> bytes:
        start = max(start, 0)
        end = min(end, self.size)
        if start >= end:
            return b""
        step = self._frames.frame
        first = start // step
        last = (end - 1) // step
        parts = [self._frame(number, last) for number in range(first, last + 1)]
        parts[-1] = parts[-1][: end - last * step]
        parts[0] = parts[0][start - first * step :]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        self._cache.clear()

    def load(self, first: int, upto: int) -> dict[int, bytes]:
        """Fetch a range of frames at once, check and cache each, and return them by number."""
        upto = min(upto, len(self._frames.sizes))
        begin = self._starts[first]
        end = self._starts[upto]
        data = memoryview(self._fetch(begin, end))
        if len(data) != end - begin:
            raise DamagedError(f"{self._name} is damaged: {end - begin:,} bytes were requested, {len(data):,} came.")
        frames = {}
        for number in range(first, upto):
            frame = data[self._starts[number] - begin : self._starts[number + 1] - begin]
            try:
                frames[number] = self._unpack(number, frame)
            except DamagedError:
                if number == first:
                    raise
                break  # this frame was read ahead: a reader that needs it requests it again
        with self._lock:
            for number, part in frames.items():
                self._cache[number] = part
                self._cache.move_to_end(number)
            while len(self._cache) > CACHED_FRAMES:
                self._cache.popitem(last=False)
        return frames

    def _frame(self, number: int, last: int) -> bytes:
        """Return a frame of a read that ends in the frame `last`; read ahead in sequential reading."""
        with self._lock:
            if (frame := self._cache.get(number)) is not None:
                self._cache.move_to_end(number)
                return frame
        ahead = number + READ_AHEAD_FRAMES
        frames = self.load(number, ahead if number == self._next else max(number + 2, min(last + 1, ahead)))
        self._next = max(frames) + 1
        return frames[number]

    def _unpack(self, number: int, frame: memoryview) -> bytes:
        """Return the bytes of the output that a frame holds."""
        start = number * self._frames.frame
        size = min(self._frames.frame, self.size - start)
        if hashlib.sha256(frame).hexdigest() == self._frames.hashes[number]:
            data = bytes(frame) if self._frames.form == "plain" else _decompress(frame, size)
            if data is not None and len(data) == size:
                return data
        raise DamagedError(
            f"Bytes {start + 1:,}-{start + size:,} of {self._name} are not the ones that were stored: "
            "their hash does not match. They are not shown; the others can be read."
        )


def _decompress(frame: memoryview, size: int) -> bytes | None:
    """Return the bytes of one complete frame of this size; None for anything else."""
    zstd = load_zstd()
    decompressor = zstd.ZstdDecompressor()
    try:
        data: bytes = decompressor.decompress(frame, max_length=size + 1)
    except zstd.ZstdError:
        return None
    return data if decompressor.eof and not decompressor.unused_data else None


class CompressedFile(FrameBlob):
    """Reads a compressed file, whose table is at its end."""

    __slots__ = ("_source",)

    def __init__(self, source: Blob, name: str) -> None:
        self._source = source
        try:
            load_zstd()  # so that a missing extra is reported now
            frames = _read_table(source, name)
        except BaseException:
            source.close()
            raise
        super().__init__(frames, source.read, name)

    def close(self) -> None:
        self._source.close()
        super().close()


def encode_table(frames: Frames) -> bytes:
    """Return the end of a compressed file."""
    table = json.encode({"bytes": frames.size, **frames.to_json()})
    return struct.pack("<II", _SKIPPABLE, len(table) + 4) + table + struct.pack("<I", len(table))


def _read_table(source: Blob, name: str) -> Frames:
    with suppress(struct.error, ValueError):
        (size,) = struct.unpack("<I", source.read(source.size - 4, source.size))
        begin = source.size - 4 - size
        frames = json.decode(source.read(begin, source.size - 4), type=Frames)
        header = source.read(begin - 8, begin)
        if header == struct.pack("<II", _SKIPPABLE, size + 4) and frames.stored_bytes == begin - 8:
            return frames
    raise StoreError(f"{name} is damaged: it does not end with a table of its frames.")


def open_bytes(folder: Folder, ref: str) -> Blob:
    """Return the bytes of an output in a folder, plain or compressed; raise FileNotFoundError if there are none."""
    for ending in BYTES:
        with suppress(FileNotFoundError):
            file = FileBlob(folder.open(ref + ending))
            return file if ending == DATA else CompressedFile(file, ref + PACKED)
    raise FileNotFoundError(ref)


class Compressed(Struct, frozen=True):
    """The result of compressing the outputs of a folder."""

    outputs: int = 0
    bytes_before: int = 0
    bytes_after: int | None = 0  # None in a dry run
    damaged: int = 0  # outputs that do not match their records; they are left unchanged


def compress(
    folder: Folder, now: float, *, older_than_seconds: float, ends_at_seconds: float | None, dry_run: bool = False
) -> Compressed:
    """Compress old outputs, except those older than `ends_at_seconds`, which the next sweep removes.

    The compressed file is synced, read back and compared with the hash in the record before it gets its name and the
    plain file is removed. So after kill -9 at any moment, one of the two is there and whole.
    """
    load_zstd()  # so that a missing extra is reported now
    if folder.stat(MARKER) is None:  # an empty folder that is not ours yet
        return Compressed()
    sizes: list[tuple[int, int]] = []  # before and after
    damaged = 0
    for ref, files in _find_old(folder, now, older_than_seconds, ends_at_seconds):
        try:
            size = 0 if dry_run else _compress_output(folder, ref, files, now)
        except FileNotFoundError:
            continue  # removed meanwhile
        except DamagedError:
            damaged += 1
            continue
        if size is not None:
            sizes.append((files[DATA].st_size, size))
    after = None if dry_run else sum(size for _, size in sizes)
    return Compressed(len(sizes), sum(size for size, _ in sizes), after, damaged)


def _find_old(folder: Folder, now: float, older_than: float, ends_at: float | None) -> Iterator[tuple[str, Files]]:
    """Yield the plain outputs to compress, by age and size, with their files by ending."""
    for ref in sorted(folder.refs()):
        files = folder.find_files(ref)
        if RECORD not in files or DATA not in files or files[DATA].st_size <= MIN_SAVED_BYTES:
            continue
        if files[DATA].st_nlink > 1:  # the bytes have another name too: nothing would be saved
            continue
        age = now - max(files[RECORD].st_mtime, files[DATA].st_mtime)
        if age >= older_than and (ends_at is None or age <= ends_at or PIN in files):
            yield ref, files


def _compress_output(folder: Folder, ref: str, files: Files, now: float) -> int | None:
    """Replace a plain file by a compressed one and return its size; None if the plain one stays."""
    leftover = files.get(PACKED)  # of a process that was killed, or that is still working on it
    if leftover and (now - leftover.st_ctime <= STEP_SECONDS or not folder.take(ref + PACKED, leftover)):
        return None
    try:
        sha256 = folder.read_record(ref).sha256
    except StoreError as error:
        raise DamagedError(str(error)) from error
    temp, fd = folder.make_temp()
    try:
        with os.fdopen(fd, "w+b") as file, closing(FileBlob(folder.open(ref + DATA))) as plain:
            writer = FrameWriter(plain)
            if writer.form == "plain":
                return None
            file.writelines(writer.write())
            file.write(encode_table(writer.table()))
            file.flush()
            size = os.fstat(fd).st_size
            if size > plain.size - MIN_SAVED_BYTES:
                return None
            with closing(CompressedFile(FileBlob(os.dup(fd)), ref + PACKED)) as compressed:
                if measure(compressed).sha256 != sha256:
                    raise DamagedError(f"The bytes of {ref} are not those of its record.")
            os.fsync(fd)  # the plain file has been safe for days; unlike a tool call, this can wait for the disk
            os.utime(fd, ns=(files[DATA].st_atime_ns, files[DATA].st_mtime_ns))  # its age stays
            facts = os.fstat(fd)
            folder.claim(
                temp, ref + PACKED
            )  # never that of a process that does the same: it may have taken the plain file
            os.fsync(folder.fd)
            replaced = folder.take(ref + DATA, files[DATA])
            if not replaced:  # the output was stored again meanwhile
                folder.take(ref + PACKED, facts)
    except FileExistsError:
        return None  # another process has compressed it meanwhile
    finally:
        folder.drop_temp(temp)
    folder.remove_orphans(ref)
    return size if replaced else None

"""What clips come out: one hash for each output, room and way to keep. The same before and after a change of speed.

    python scripts/clips.py --write            after a better choice of lines: tests/clips.json anew
    python scripts/clips.py                    compare with tests/clips.json, and name what differs
    python scripts/clips.py --corpus FOLDER --to FILE       the hashes of a folder of logs (*.jsonl.zst), to compare by hand

A hash is of everything a caller sees: the text, the ranges, the kind, the reasons. `tests/test_clips.py` compares them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from scripts.samples import SAMPLES  # noqa: E402  found through the line above

from spillover import Clipper, Limits, MemoryStore  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover import Clip

TOOLS, KNOWN = ROOT / "tests" / "tools", ROOT / "tests" / "clips.json"
ROOMS = (600, 3_000)
#: The generated outputs: small ones, one that is scanned before it is looked at closely, and what is odd about outputs.
SIZES = {"log": (60_000, 300_000, 1_500_000)}
ODD = {
    "progress": b"".join(b"fetch %d%%\r" % (n // 40) for n in range(4_000)) + b"\ndone\n" * 900,
    "escapes": b"\x1b[31merror:\x1b[0m no \x1b[1msuch\x1b[0m file %d\n" * 2_000,
    "one line": b"word error: " * 9_000,
    "empty lines": b"\n" * 40_000,
    "bytes": bytes(range(256)) * 200,
    "repeats": (b"the same line\n" * 50 + b"another, FAILED\n") * 90,
    "broken": ("größer ● übel\n" * 4_000).encode()[1:-2],
}


def hash_of(clip: Clip) -> str:
    """Return a hash of all that a caller sees of a clip."""
    seen = (clip.text, clip.outcome, clip.kind, clip.ranges, [(why.first, why.last, why.why) for why in clip.why])
    return hashlib.sha256(repr(seen).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def outputs() -> Iterator[tuple[str, bytes]]:
    """Yield the outputs by name: what real tools printed, and what is made here."""
    for path in sorted(TOOLS.glob("*.txt")):
        yield path.stem, path.read_bytes()
    for kind, make in SAMPLES.items():
        for size in SIZES.get(kind, (60_000,)):
            yield f"{kind} of {size:,} bytes", make(size)
    yield from ODD.items()


def hashes() -> dict[str, str]:
    """Return the hash of every clip, by output and room."""
    out = {}
    for name, data in outputs():
        for room in ROOMS:
            out[f"{name} @{room}"] = hash_of(Clipper(Limits(tokens=room), store=MemoryStore()).clip(data))
    for keep in ("head", "tail", "ends", "signal"):
        clipper = Clipper(Limits(tokens=ROOMS[0]), keep=keep, store=MemoryStore())
        out[f"make_c, {keep} @{ROOMS[0]}"] = hash_of(clipper.clip((TOOLS / "make_c.txt").read_bytes()))
    both = Clipper(Limits(tokens=ROOMS[0]), store=MemoryStore())
    stderr, stdout = (TOOLS / "make_c.txt").read_bytes(), (TOOLS / "jest.txt").read_bytes()
    out[f"two streams @{ROOMS[0]}"] = hash_of(both.clip_streams(stdout=stdout, stderr=stderr))
    return out


def corpus_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the hash of the clip of each log in a folder, by file, number and room."""
    import io

    import zstandard

    for path in sorted(folder.glob("*.jsonl.zst")):
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(path.open("rb")), "utf-8", newline="\n")
        for number, line in enumerate(lines):
            log = json.loads(line)["log"]
            for room in ROOMS:
                clip = Clipper(Limits(tokens=room), store=MemoryStore()).clip(log)
                yield f"{path.stem} {number} @{room}", hash_of(clip)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the hashes of today's clips")
    parser.add_argument("--corpus", type=Path, help="a folder of *.jsonl.zst, each line an object with a log")
    parser.add_argument("--to", type=Path, help="where the hashes of a corpus go")
    args = parser.parse_args()
    if args.corpus:
        found = dict(corpus_hashes(args.corpus))
        text = json.dumps(found, indent=0)
        if args.to:
            args.to.write_text(text)
        print(f"{len(found):,} clips, {hashlib.sha256(text.encode()).hexdigest()[:16]} in all")
        return 0
    now = hashes()
    if args.write:
        KNOWN.write_text(json.dumps(now, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    differ = [name for name in sorted({*known, *now}) if known.get(name) != now.get(name)]
    print("\n".join(differ) or f"{len(now)} clips, all as they were")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())

"""What an earlier run is worth: recall on failing CI logs with and without the passing log of the same job, and what it costs.

    python bench/since.py --corpus FOLDER                       # 1k, 2k, 4k; exact tokens
    python bench/since.py --corpus FOLDER --worth 0.09          # with the default thrift
    python bench/since.py --corpus FOLDER --shift 7             # with the passing log of another job: a wrong baseline
    python bench/since.py --large 1000                          # two outputs of 1,000 MB: seconds and peak memory

The corpus is that of bench/recall.py (cidiff.jsonl.zst) with baseline/cidiff_pass.jsonl.zst. Needs: pip install rs-bpe zstandard
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

from spillover import Clipper, DirStore, Limits
from spillover.since.compare import compare
from spillover.testing import peak_memory


def measure(corpus: Path, budgets: list[int], worth: float, shift: int) -> None:
    """Print the share of logs with every needed line kept, by project, and the CPU time of all clips."""
    sys.path.insert(0, str(corpus))
    recall = importlib.import_module("recall")  # the corpus's own judge

    failing = list(recall.records(corpus / "cidiff.jsonl.zst"))
    passing = {each["id"]: each["log"] for each in recall.records(corpus / "baseline" / "cidiff_pass.jsonl.zst")}
    ids = [each["id"] for each in failing]
    store = DirStore(tempfile.mkdtemp(prefix="since-"))
    keep = Clipper(Limits(tokens=300), store=store, worth=0)
    refs = {each: keep.clip(passing[ids[(at + shift) % len(ids)]], tool="good").ref for at, each in enumerate(ids)}
    print(f"{'tokens':>8}{'without':>10}{'with':>8}{'gain':>8}{'over':>6}{'spent':>8}{'CPU s without':>15}{'with':>8}")
    for budget in budgets:
        clipper = Clipper(Limits(tokens=budget), store=store, tokenizer="o200k_base", worth=worth)
        found: dict[bool, list[tuple[str, bool]]] = {False: [], True: []}
        seconds, over, spent = {False: 0.0, True: 0.0}, 0, 0.0
        for each in (each for each in failing if each["tokens"] > budget):
            for told in (False, True):
                begun = time.process_time()
                text = clipper.clip(each["log"], since=refs[each["id"]] if told else None).text
                seconds[told] += time.process_time() - begun
                used = recall.O200K.count(text)
                over += used > budget
                spent += used / budget if told else 0
                kept = used <= budget and recall.score(text, each["needles"])[0]
                found[told].append((each["group"], kept))
        without, with_ = recall.macro(found[False]), recall.macro(found[True])
        share = spent / len(found[True])
        print(
            f"{budget:>8}{without:>10.1%}{with_:>8.1%}{100 * (with_ - without):>+8.1f}{over:>6}{share:>8.0%}"
            f"{seconds[False]:>15.1f}{seconds[True]:>8.1f}",
            flush=True,
        )


def measure_large(megabytes: int) -> None:
    """Compare two outputs of this size, of which one line in a thousand differs; print seconds and peak memory."""
    from spillover.retrieve.read import open_output

    clipper = Clipper(Limits(tokens=300), store=DirStore(tempfile.mkdtemp(prefix="since-")), keep="ends", cap=1 << 40)
    records = [clipper.clip(_lines(megabytes << 20, later=later)) for later in (False, True)]
    documents = [open_output(clipper.call(), each.ref or "")[1] for each in records]
    before, begun = peak_memory(), time.process_time()
    found = compare(documents[1], documents[0])
    print(
        f"{found.lines:,} lines, {found.new.lines:,} new, {found.removals.lines:,} gone; "
        f"{time.process_time() - begun:.0f} s of CPU; peak memory {before >> 20} -> {peak_memory() >> 20} MiB"
    )
    for each in records:
        os.unlink(each.path or "")


def _lines(size: int, *, later: bool):  # type: ignore[no-untyped-def]  # a generator of bytes
    written = number = 0
    while written < size:
        rows = [
            f"10:{at % 60:02d}:{later:02d} worker {at % 7} compiled module_{at} in {at * 7919 % 977 + later} ms"
            f"{' with a warning' if later and at % 1_000 == 0 else ''}\n"
            for at in range(number, number + 10_000)
        ]
        data = "".join(rows).encode()
        written, number = written + len(data), number + 10_000
        yield data


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("../shared/corpus"), help="a folder with recall.py")
    parser.add_argument("--budgets", default="1000,2000,4000", help="comma-separated, in tokens")
    parser.add_argument("--worth", type=float, default=0.0, help="as of a Clipper; 0 fills the limits")
    parser.add_argument("--shift", type=int, default=0, help="take the passing log of another job, so many further on")
    parser.add_argument("--large", type=int, metavar="MB", help="compare two outputs of this size instead")
    arguments = parser.parse_args()
    if arguments.large:
        measure_large(arguments.large)
        return 0
    if not (arguments.corpus / "baseline").exists():
        print(f"{arguments.corpus} has no folder `baseline`; --corpus names a folder that has one.", file=sys.stderr)
        return 2
    measure(arguments.corpus, [int(one) for one in arguments.budgets.split(",")], arguments.worth, arguments.shift)
    return 0


if __name__ == "__main__":
    sys.exit(main())

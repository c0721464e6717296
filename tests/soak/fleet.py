"""Many workers on one bucket while everything around them fails: what was claimed as kept must be there afterwards.

A server that is killed and started again, a proxy that drops, delays, truncates, duplicates, corrupts and refuses, and
workers that are killed at random moments. Each worker notes what its clips claimed; then everything is read back.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
TENANTS = ("acme/web", "acme/api", "other/web")
SECRET = "ghp_" + "Zz9Yy8Xx7" * 4
#: The chance of each fault, for each request.
FAULTS = {
    "drop": 0.02, "lose": 0.02, "delay": 0.02, "truncate": 0.02, "duplicate": 0.02, "corrupt": 0.02, "corrupt_up": 0.02,
    "500": 0.02, "503": 0.02, "429": 0.02, "403": 0.01, "412": 0.01, "409": 0.01, "hang": 0.002,
}  # fmt: skip

WORKER = """
import hashlib, json, os, random, sys
from spillover import Clipper, Limits, ObjectStore
from spillover.redact import cover
url, scope, spool, log, seed, secret = sys.argv[1:]
dice = random.Random(seed)
clipper = Clipper(Limits(tokens=300), store=ObjectStore(url, spool=spool, deadline_seconds=2), scope=scope, redact="stored")
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
    """Run for so long. All figures but `calls`, `kept`, `here`, `lost`, `kills`, `restarts` and `faults` must be 0."""
    figures = dict.fromkeys(("calls", "kept", "here", "lost", "kills", "restarts", "faults"), 0)
    figures |= dict.fromkeys(("raised", "unreadable", "torn", "across", "leaked", "too_long"), 0)
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, load("s3_server").Server(f"{folder}/s3") as server:
        with load("s3_proxy").Proxy(server.port, seed) as proxy:
            url = f"s3://{server.bucket}/soak"
            environ = {**os.environ, **server.environ(proxy.endpoint)}
            proxy.faults = dict(faults)
            log = f"{folder}/claims"
            serial = 0
            running = []

            def start():
                nonlocal serial
                serial += 1
                words = [url, TENANTS[serial % 3], f"{folder}/spool-{serial % 4}", log, f"{seed}-{serial}", SECRET]
                return subprocess.Popen([sys.executable, "-c", WORKER, *words], env=environ, stderr=subprocess.DEVNULL)

            begun = time.monotonic()
            until, restart = begun + seconds, begun + seconds / 3
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
        read_back(figures, folder, url, server.environ(), log)
    return figures


def read_back(figures, folder, url, environ, log):
    """Hold every claim against what can be read by a process that knows nothing else."""
    os.environ.update(environ)
    from spillover import ObjectStore, RefError, StoreError
    from spillover.store.scoped import Scoped
    from spillover.testing import content

    for number in range(4):
        ObjectStore(url, spool=f"{folder}/spool-{number}").push()
    store = ObjectStore(url, spool=f"{folder}/reader")
    seen = set()
    for line in Path(log).read_text().splitlines() if Path(log).exists() else ():
        if line.endswith("begin"):
            continue
        said = json.loads(line)
        figures["calls"] += 1
        if "raised" in said:
            figures["raised"] += 1
            figures.setdefault("examples", []).append(said)
            continue
        figures["too_long"] += not said["fits"]
        figures["leaked"] += said["leaks"]
        figures["here" if said["here"] else "kept" if said["outcome"] == "stored" else "lost"] += 1
        key = (said["ref"], said["scope"])
        if said["outcome"] != "stored" or key in seen:
            continue
        seen.add(key)
        try:
            data = content(Scoped(store, said["scope"]), said["ref"])
        except (RefError, StoreError) as error:
            figures["unreadable"] += 1
            figures.setdefault("examples", []).append({**said, "error": str(error)[:300]})
            continue
        figures["torn"] += hashlib.sha256(data).hexdigest() != said["sha256"]
        figures["leaked"] += SECRET.encode() in data
        for other in ("acme/api", "other/web", "acme/web", "nobody", "acme/web/deeper"):
            if other == said["scope"]:
                continue
            try:
                Scoped(store, other).get(said["ref"])
            except RefError:
                continue
            figures["across"] += 1

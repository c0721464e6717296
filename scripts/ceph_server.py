"""A second real S3 server on this machine, for tests: Ceph's radosgw, from Debian's packages radosgw, ceph-mon and ceph-osd.

    with Server(folder) as server:
        os.environ |= server.environ()

One monitor, one OSD that keeps its objects in memory, one gateway; all on loopback. They end with whoever started them.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from typing import Self

BUCKET = "outputs"
KEY, SECRET = "spillover-test", "spillover-secret"
#: Known there, and without rights to the bucket; the credentials of the reader in s3_server.py.
STRANGER_KEY, STRANGER_SECRET = "spillover-reader", "spillover-reader-secret"
PROGRAMS = ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph-authtool", "ceph")
INSTALL = "on Debian 12: apt install radosgw ceph-mon ceph-osd"
READY_SECONDS = 180
_KEYS = {"mon.": ("mon",), "client.admin": ("mon", "osd"), "osd.0": ("mon", "osd")}
_CONFIG = """[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:{mon},v1:127.0.0.1:{mon_v1}]
mon initial members = a
public addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
mon max pg per osd = 1000
mon allow pool size one = true
mon warn on pool no redundancy = false
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
mon data = {folder}/mon
osd data = {folder}/osd
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
crash dir = {folder}/crash
keyring = {folder}/keyring
mon cluster log file = {folder}/cluster.log
rgw frontends = beast endpoint=127.0.0.1:{s3}
rgw dns name = 127.0.0.1
rgw enable usage log = false
rgw thread pool size = 64
"""
#: It ends when its standard input does: then whoever started it is gone.
_LEASH = """
import os, signal, subprocess, sys, threading
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
threading.Thread(target=lambda: (sys.stdin.read(), child.kill()), daemon=True).start()
sys.exit(child.wait())
"""


def missing_programs() -> list[str]:
    """Return what is not installed of that which it takes."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class Server:
    """One server with one empty bucket."""

    bucket = BUCKET
    lasts = False  # whether what it holds is there after a restart

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        self.port, self._mon, self._mon_v1 = _free_ports(3)
        self._running: list[subprocess.Popen[bytes]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environ(self, endpoint: str | None = None) -> dict[str, str]:
        """Return the variables by which clients find it."""
        return {
            "AWS_ENDPOINT_URL": endpoint or self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def start(self) -> Self:
        """Make a cluster, start it, and wait until its bucket is there."""
        for name in ("mon", "osd", "crash"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
        config = _CONFIG.format(folder=self.folder, fsid=fsid, mon=self._mon, mon_v1=self._mon_v1, s3=self.port)
        (self.folder / "ceph.conf").write_text(config)
        address = f"[v2:127.0.0.1:{self._mon},v1:127.0.0.1:{self._mon_v1}]"
        keyring = str(self.folder / "keyring")
        try:
            for number, (name, caps) in enumerate(_KEYS.items()):
                words = [word for cap in caps for word in ("--cap", cap, "allow *")]
                self._run(
                    "ceph-authtool", *["--create-keyring"] * (not number), keyring, "--gen-key", "-n", name, *words
                )
            self._run("monmaptool", "--create", "--addv", "a", address, "--fsid", fsid, str(self.folder / "monmap"))
            self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", str(self.folder / "monmap"), "--keyring", keyring)
            self._spawn("ceph-mon", "-i", "a")
            self._run("ceph", "--connect-timeout", str(READY_SECONDS), "osd", "new", osd)
            self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
            self._spawn("ceph-osd", "-i", "0")
            for name, key, secret in (("test", KEY, SECRET), ("stranger", STRANGER_KEY, STRANGER_SECRET)):
                self._run("radosgw-admin", "user", "create", f"--uid={name}", f"--display-name={name}", f"--access-key={key}", f"--secret-key={secret}")  # fmt: skip
            self._spawn("radosgw", "-n", "client.admin")
            self._make_bucket()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End it; nothing is kept."""
        for each in reversed(self._running):
            assert each.stdin is not None
            each.stdin.close()
        for each in reversed(self._running):
            each.wait(30)
        self._running = []

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, program: str, *words: str) -> None:
        command = [_path(program), "-c", str(self.folder / "ceph.conf"), *words]
        if program in ("monmaptool", "ceph-authtool"):
            del command[1:3]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=READY_SECONDS)
        if ran.returncode:
            raise RuntimeError(f"{program} {' '.join(words[:3])} failed:\n{(ran.stderr or ran.stdout)[-2_000:]}")

    def _spawn(self, program: str, *words: str) -> None:
        with (self.folder / f"{program}.out").open("ab") as log:
            self._running.append(
                subprocess.Popen(
                    [sys.executable, "-c", _LEASH, _path(program), "-c", str(self.folder / "ceph.conf"), "-f", *words],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self.folder,
                    start_new_session=True,
                )
            )

    def _make_bucket(self) -> None:
        """Ask for the bucket until the gateway grants it."""
        import obstore
        from obstore.store import S3Store

        store = S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True},
        )
        url = obstore.sign(store, "PUT", "", timedelta(seconds=READY_SECONDS))
        until = time.monotonic() + READY_SECONDS
        while True:
            try:
                urlopen(Request(url, method="PUT"), timeout=20).close()  # noqa: S310  a URL of ours, on loopback
            except OSError as error:
                if time.monotonic() > until or any(each.poll() is not None for each in self._running):
                    raise RuntimeError(f"radosgw did not become ready: {error}") from error
                time.sleep(0.2)
            else:
                return


def _path(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RuntimeError(f"{program} is not installed; {INSTALL}")
    return found


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on just now."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def main() -> None:
    """Run a server until Enter is pressed, and print how to reach it; with --check, only see that it could be run."""
    import tempfile

    if missing := missing_programs():
        sys.exit(f"Ceph is not installed, or only in part: {', '.join(missing)} not found; {INSTALL}")
    if "--check" in sys.argv[1:]:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        for name, value in server.environ().items():
            print(f"export {name}={value}")
        print(f"export SPILLOVER_STORE=s3://{server.bucket}/outputs", flush=True)
        input()


if __name__ == "__main__":
    main()

"""A second real S3 server on this machine, for tests: Ceph's radosgw, from Debian's packages radosgw, ceph-mon and ceph-osd.

    with Server(folder) as server:
        os.environ |= server.environ()

One monitor, one OSD that keeps its objects in memory, one gateway; all on loopback. They end with whoever started them.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))  # this file is also run, and loaded, by its path
from scripts.s3.server import BUCKET, KEY, READER_KEY, READER_SECRET, READY_SECONDS, SECRET, find_ports, wait_for_enter
from scripts.s3.server import Server as S3Server

if TYPE_CHECKING:
    from typing import Self

PROGRAMS = ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph-authtool", "ceph")
INSTALL = "on Debian 12: apt install radosgw ceph-mon ceph-osd"
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


class Server(S3Server):
    """One server with one empty bucket, found and used like the other."""

    lasts = False

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        self.ports = find_ports(3)
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> Self:
        """Make a cluster, start it, and wait until its bucket is there."""
        for name in ("mon", "osd", "crash"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
        s3, mon, mon_v1 = self.ports
        config = _CONFIG.format(folder=self.folder, fsid=fsid, mon=mon, mon_v1=mon_v1, s3=s3)
        (self.folder / "ceph.conf").write_text(config)
        address = f"[v2:127.0.0.1:{mon},v1:127.0.0.1:{mon_v1}]"
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
            for name, key, secret in (
                ("test", KEY, SECRET),
                ("stranger", READER_KEY, READER_SECRET),
            ):  # known, and without rights here
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


def main() -> None:
    """Run a server until Enter is pressed, and print how to reach it; with --check, only see that it could be run."""
    import tempfile

    if missing := missing_programs():
        sys.exit(f"Ceph is not installed, or only in part: {', '.join(missing)} not found; {INSTALL}")
    if "--check" in sys.argv[1:]:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        wait_for_enter(server)


if __name__ == "__main__":
    main()

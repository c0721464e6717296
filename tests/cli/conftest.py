"""The command line as a process of its own, in an empty folder, with a store of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spillover import DirStore
from spillover.testing import put

CODE = "import sys; from spillover.cli import main; sys.exit(main())"
PATIENCE = 60  # only guards against hanging


class Said(subprocess.CompletedProcess):
    """What a call said; no call may ever say `Traceback`."""

    @property
    def json(self):
        assert self.returncode == 0, self.stderr
        return json.loads(self.stdout)


@pytest.fixture
def store(tmp_path):
    return DirStore(tmp_path / "a store")


@pytest.fixture(autouse=True)
def _this_process_works_where_spill_does(tmp_path, monkeypatch):
    """What a test stores by itself belongs to the project that `spill` is then called in."""
    monkeypatch.setattr("spillover.store.scopes._default", os.path.realpath(tmp_path))


@pytest.fixture
def spill(tmp_path, monkeypatch, store):
    """Call `spill` with these arguments; what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLOVER_STORE", str(store.root))

    def call(*arguments, given="", env=None, **options):
        if "stdin" not in options:
            options["input"] = given if isinstance(given, bytes) else given.encode()
        ran = subprocess.run(
            [sys.executable, "-c", CODE, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=options.pop("stderr", subprocess.PIPE),
            timeout=PATIENCE,
            check=False,
            env={**os.environ, **(env or {})},
            **options,
        )
        said = Said(ran.args, ran.returncode, ran.stdout.decode(), (ran.stderr or b"").decode())
        assert "Traceback" not in said.stderr
        assert "this is a bug in spill" not in said.stderr
        return said

    return call


@pytest.fixture
def user_file():
    """The user's own configuration file."""
    path = Path(os.environ["XDG_CONFIG_HOME"], "spillover", "spillover.toml")
    path.parent.mkdir(parents=True)
    return path


LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 5_001))


@pytest.fixture
def ref(store):
    """An output that is stored: 5,000 numbered lines."""
    return put(store, LINES, tool="bash").ref

"""examples/fleet.py, as it is started: several workers and a reader on a real server."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "fleet.py"


def test_the_fleet_example_runs_on_a_real_server(s3):
    ran = subprocess.run(
        [sys.executable, EXAMPLE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SPILLOVER_STORE": s3},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("[Output clipped: ") == 3
    for number in range(3):
        assert f"50001: error: job {number} failed" in ran.stdout
    assert "50002: token=[redacted" in ran.stdout
    assert "acme/build/0: 1 of 3\nglobex: 0 of 3\n" in ran.stdout

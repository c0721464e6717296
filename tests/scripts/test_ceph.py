"""`make ceph` where Ceph is not installed."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "s3" / "ceph.py"


def test_what_is_not_installed_is_named_with_how_to_install_it(tmp_path):
    ran = subprocess.run(
        [sys.executable, SCRIPT, "--check"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "radosgw" in ran.stderr
    assert ran.stderr.endswith("on Debian 12: apt install radosgw ceph-mon ceph-osd\n")

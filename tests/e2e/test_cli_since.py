"""`spill run --since`, `spill diff`, and what `spill run` does by itself, on the real command line."""

import os
import subprocess
import sys

import pytest

SPILL = "import sys; from spillover.cli import main; sys.exit(main())"
JOB = """
n=0; while [ $n -lt 2000 ]; do n=$((n+1)); echo "10:00:0$((n % 10)) step $n of the build in $n ms"; done
cat error 2>/dev/null && exit 3
exit 0
"""


@pytest.fixture
def spill(tmp_path):
    (tmp_path / "job.sh").write_text(JOB)
    environ = {
        **os.environ,
        "SPILLOVER_STORE": str(tmp_path / "store"),
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / ".config"),
    }

    def call(*words):
        done = subprocess.run(
            [sys.executable, "-c", SPILL, *words],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    return call


def test_a_failed_run_is_told_against_the_good_one_by_itself_unless_that_is_off(spill, tmp_path):
    good = spill("run", "--", "sh", "job.sh")
    assert "Since" not in good.stdout
    (tmp_path / "error").write_text("the gizmo is loose\n")
    failed = spill("run", "--", "sh", "job.sh")
    assert failed.returncode == 3
    assert "(exit code 0): 1 line new" in failed.stdout
    assert "the gizmo is loose" in failed.stdout
    assert "Since" not in spill("run", "--since", "off", "--", "sh", "job.sh").stdout
    again = spill("run", "--since", "last", "--", "sh", "job.sh")
    assert again.returncode == 3
    assert "Unchanged since sh-" in again.stdout
    assert len(again.stdout.splitlines()) < 10


def test_a_diff_exits_as_diff_does(spill, tmp_path):
    spill("run", "--", "sh", "job.sh")
    (tmp_path / "error").write_text("the gizmo is loose\n")
    spill("run", "--", "sh", "job.sh")
    changed = spill("diff", "last")
    assert changed.returncode == 1
    assert "+ 2001: the gizmo is loose" in changed.stdout
    assert max(map(len, spill("diff", "--help").stdout.splitlines())) <= 80
    same = spill("diff", "last", "last")
    assert (same.returncode, ": unchanged since " in same.stdout) == (0, True)
    wrong = spill("diff", "sh-0123456789abcdef")
    assert wrong.returncode not in (0, 1)
    assert "No output is stored" in wrong.stderr


def test_a_diff_of_a_run_that_printed_the_same_as_the_one_before_says_so(spill, tmp_path):
    spill("run", "--", "sh", "job.sh")
    alone = spill("diff", "last")
    assert (alone.returncode, "No earlier run of `sh job.sh`" in alone.stderr) == (2, True)
    spill("run", "--", "sh", "job.sh")
    same = spill("diff", "last")
    assert (same.returncode, ": unchanged since sh-" in same.stdout) == (0, True), same
    (tmp_path / "error").write_text("the gizmo is loose\n")
    spill("run", "--", "sh", "job.sh")
    (tmp_path / "error").unlink()
    spill("run", "--", "sh", "job.sh")
    assert "- 2001: the gizmo is loose" in spill("diff", "last").stdout, "the run before is meant, not the same output"


def test_a_compressed_run_is_compared_like_any_other(spill, tmp_path):
    spill("run", "--", "sh", "job.sh")
    (tmp_path / "error").write_text("the gizmo is loose\n")
    assert "compressed 1 output " in spill("gc", "--compress-after", "0s").stdout
    failed = spill("run", "--since", "good", "--", "sh", "job.sh")
    assert "(exit code 0): 1 line new" in failed.stdout
    assert "compressed 1 output " in spill("gc", "--compress-after", "0s").stdout
    assert "+ 2001: the gizmo is loose" in spill("diff", "last").stdout


def test_the_configuration_may_say_so_for_a_tool(spill, tmp_path):
    (tmp_path / ".config" / "spillover").mkdir(parents=True)
    (tmp_path / ".config" / "spillover" / "spillover.toml").write_text('[tools.sh]\nsince = "last"\n')
    assert (
        "Not compared with the last run: no earlier run of this command is kept."
        in spill("run", "--", "sh", "job.sh").stdout
    )
    assert "Unchanged since sh-" in spill("run", "--", "sh", "job.sh").stdout

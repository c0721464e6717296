"""What the user has trusted: by path and content, in a folder that nobody else can add to."""

import os
import stat
import subprocess
import sys

import pytest

from spillover.errors import ConfigError
from spillover.settings.trust import CHANGED, list_trusted, state_of, trust, trust_folder, untrust

ME = os.geteuid()
SOMEBODY_ELSE = 54_321
as_root = pytest.mark.skipif(ME != 0, reason="only root can give a file to somebody else")
WIDE = "tokens = 99_000"


def tokens(clone):
    return clone.load().values["tokens"].value


def the_entry(clone):
    (path,) = clone.state.iterdir()
    return path


@pytest.fixture
def trusted(clone):
    clone.file.write_text(WIDE)
    clone.trust()
    assert tokens(clone) == 99_000
    return clone


def test_the_records_are_private_and_not_among_the_outputs(trusted):
    assert trust_folder(trusted.environ) == str(trusted.state)
    elsewhere = {**trusted.environ, "SPILLOVER_STORE": "/shared", "XDG_STATE_HOME": "relative"}
    assert trust_folder(elsewhere) == str(trusted.state)
    assert stat.S_IMODE(trusted.state.stat().st_mode) == 0o700
    assert stat.S_IMODE(the_entry(trusted).stat().st_mode) == 0o600


def test_a_file_that_changes_has_to_be_trusted_again(trusted):
    trusted.file.write_text(WIDE + " ")
    found = trusted.load()
    assert found.values["tokens"].value == 10_000
    assert found.ignored[0].why == CHANGED
    trusted.file.write_text(WIDE)
    assert tokens(trusted) == 99_000
    trusted.file.write_text(WIDE + "# more")
    trusted.trust()
    assert tokens(trusted) == 99_000
    assert len(list(trusted.state.iterdir())) == 1


def test_trust_is_for_one_path(trusted):
    """A hard link, a copy and a repository that was moved here are other files."""
    other = trusted.home / "other"
    other.mkdir()
    os.link(trusted.file, other / "spillover.toml")
    assert trusted.load(cwd=other).values["tokens"].value == 10_000
    (other / "spillover.toml").unlink()
    (other / "spillover.toml").write_text(WIDE)
    assert trusted.load(cwd=other).values["tokens"].value == 10_000


def test_trust_is_not_for_the_folders_below(trusted):
    below = trusted.project / "below"
    below.mkdir()
    (below / "spillover.toml").write_text('store = "/theirs"')
    assert trusted.load(cwd=below).values["store"].origin == "default"


def test_a_trusted_file_must_still_be_the_users_own(trusted):
    trusted.file.chmod(0o666)
    found = trusted.load()
    assert found.values["tokens"].value == 10_000
    assert "others may write to it" in found.ignored[0].why


def test_a_pyproject_is_trusted_as_a_whole(clone):
    file = clone.project / "pyproject.toml"
    file.write_text("[tool.spillover]\ntokens = 99_000")
    assert tokens(clone) == 10_000
    clone.trust(file)
    assert tokens(clone) == 99_000
    file.write_text("[tool.spillover]\ntokens = 99_000\n[tool.other]")
    assert tokens(clone) == 10_000


def test_what_is_removed_is_trusted_no_longer(trusted):
    assert untrust(str(trusted.file), trusted.environ, ME)
    assert not untrust(str(trusted.file), trusted.environ, ME)
    assert tokens(trusted) == 10_000
    assert list_trusted(trusted.environ, ME) == ([], [])


def test_a_path_may_have_any_name(clone):
    for name in ("a\nb", "ä", "\udcff", "x" * 200):
        trust(f"/p/{name}/spillover.toml", b"x", clone.environ, ME)
    found, wrong = list_trusted(clone.environ, ME)
    assert wrong == []
    assert {entry.path.split("/")[2] for entry in found} == {"a\nb", "ä", "\udcff", "x" * 200}


def test_without_any_trust_nothing_is_made(clone):
    assert clone.load("lines = 50").values["lines"].value == 50
    assert not clone.state.exists()


# Tampering


def short(path):
    path.write_bytes(b"")


def junk(path):
    path.write_bytes(os.urandom(200))


def another_path(path):
    path.write_bytes(path.read_bytes() + b"x")


def another_name(path):
    path.rename(path.with_name("0" * 64))


def no_hash(path):
    path.write_bytes(b"x" * 64 + path.read_bytes()[64:])


def writable(path):
    path.chmod(0o666)


def link(path):
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def fifo(path):
    path.unlink()
    os.mkfifo(path)


def directory(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("tamper", [short, junk, another_path, another_name, no_hash, writable, link, fifo, directory])
def test_a_record_that_was_tampered_with_counts_for_nothing_and_is_said(trusted, tamper):
    tamper(the_entry(trusted))
    found = trusted.load()
    assert found.values["tokens"].value == 10_000
    assert tamper is another_name or "does not count" in found.ignored[0].why
    kept, wrong = list_trusted(trusted.environ, ME)
    assert kept == []
    assert len(wrong) == 1
    assert "does not count" in wrong[0]
    if tamper is not directory:
        trusted.trust()
        assert tokens(trusted) == 99_000


def folder_writable(folder):
    folder.chmod(0o777)


def folder_link(folder):
    folder.rename(folder.with_name("moved"))
    folder.symlink_to("moved")


def folder_file(folder):
    folder.rename(folder.with_name("moved"))
    folder.write_text("")


@pytest.mark.parametrize("tamper", [folder_writable, folder_link, folder_file])
def test_a_folder_of_records_that_others_may_change_counts_for_nothing_and_is_said(trusted, tamper):
    tamper(trusted.state)
    found = trusted.load()
    assert found.values["tokens"].value == 10_000
    assert str(trusted.state) in found.ignored[0].why
    assert list_trusted(trusted.environ, ME)[0] == []
    assert len(list_trusted(trusted.environ, ME)[1]) == 1
    with pytest.raises(ConfigError, match="spillover-trust"):
        trusted.trust()


@as_root
@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_somebody_else_has_put_there_counts_for_nothing(trusted, which):
    os.chown(trusted.state if which == "folder" else the_entry(trusted), SOMEBODY_ELSE, -1)
    found = trusted.load()
    assert found.values["tokens"].value == 10_000
    assert f"it belongs to uid {SOMEBODY_ELSE}" in found.ignored[0].why


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(clone):
    clone.state.parent.mkdir(parents=True)
    clone.state.parent.rmdir()
    clone.state.parent.write_text("in the way")
    with pytest.raises(ConfigError, match="spillover-trust cannot be written: "):
        trust("/p/spillover.toml", b"", clone.environ, ME)


def test_a_full_disk_leaves_nothing_behind(trusted, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spillover.settings.trust.os.rename", full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        trust("/p/spillover.toml", b"", trusted.environ, ME)
    assert len(list(trusted.state.iterdir())) == 1


# Many at once

TRUST = """
import os, sys
from spillover.settings.trust import trust
for number in range(20):
    trust(f"/p/{sys.argv[2]}/{number}", b"x", {"HOME": sys.argv[1]}, os.geteuid())
    trust("/p/shared", b"x", {"HOME": sys.argv[1]}, os.geteuid())
"""


def test_processes_that_trust_at_once_lose_nothing(clone):
    running = [subprocess.Popen([sys.executable, "-c", TRUST, clone.home, str(who)]) for who in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    found, wrong = list_trusted(clone.environ, ME)
    assert wrong == []
    assert {entry.path for entry in found} == {
        "/p/shared",
        *(f"/p/{who}/{number}" for who in range(4) for number in range(20)),
    }
    assert len(list(clone.state.iterdir())) == len(found)
    assert state_of("/p/shared", b"x", clone.environ, ME) == ("trusted", "")
    assert state_of("/p/shared", b"y", clone.environ, ME) == ("changed", "")

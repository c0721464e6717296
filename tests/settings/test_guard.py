"""Files that somebody else may have put there: nothing hangs, nothing foreign is taken, nothing is swapped in between."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from spillover.settings import trust
from spillover.settings.trust import MAX_BYTES, read_small

ME = os.geteuid()
SOMEBODY_ELSE = 54_321
NOT_REGULAR = "it is not a regular file"
#: A hang must end the test and not the patience of whoever runs it.
TAKE = "import sys; from spillover.settings.trust import read_small; print(read_small(sys.argv[1], uid=None, links=bool(sys.argv[2:])))"


def fifo(path):
    os.mkfifo(path)


def zeros(path):
    path.symlink_to("/dev/zero")


def listening(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.fspath(path))


def directory(path):
    path.mkdir()


def link(path):
    (path.parent / "target").write_text("tokens = 500")
    path.symlink_to(path.parent / "target")


def dangling(path):
    path.symlink_to(path.parent / "nowhere")


def loop(path):
    path.symlink_to(path)


def taken_apart(path, *links):
    """In a process of its own, so that a hang fails one test."""
    ran = subprocess.run(
        [sys.executable, "-c", TAKE, path, *links], capture_output=True, text=True, timeout=60, check=True
    )
    return ran.stdout


@pytest.mark.parametrize("make", [fifo, zeros, listening, directory, link, dangling, loop])
def test_a_project_file_that_is_no_file_is_refused_at_once(tmp_path, make):
    make(tmp_path / "f")
    said = taken_apart(tmp_path / "f")
    assert NOT_REGULAR in said or "it is a symbolic link, and those are not followed here" in said
    assert "data=b''" in said


@pytest.mark.parametrize("make", [fifo, zeros, listening, directory])
def test_where_links_are_followed_what_they_lead_to_must_be_a_file(tmp_path, make):
    make(tmp_path / "f")
    (tmp_path / "l").symlink_to(tmp_path / "f")
    assert NOT_REGULAR in taken_apart(tmp_path / "l", "links")


def test_a_link_of_the_users_to_a_file_of_the_users_is_followed_where_that_is_asked_for(tmp_path):
    link(tmp_path / "f")
    assert read_small(str(tmp_path / "f"), uid=ME, links=True).data == b"tokens = 500"


@pytest.mark.parametrize("make", [dangling, loop])
def test_a_link_that_leads_nowhere_is_no_file(tmp_path, make):
    make(tmp_path / "f")
    assert read_small(str(tmp_path / "f"), uid=ME, links=True) is None


def test_what_is_not_there_is_none(tmp_path):
    (tmp_path / "f").write_text("")
    assert read_small(str(tmp_path / "g"), uid=ME) is None
    assert read_small(str(tmp_path / "f" / "g"), uid=ME) is None
    assert read_small(str(tmp_path / ("x" * 5_000)), uid=ME) is None


@pytest.mark.parametrize(("size", "wrong"), [(MAX_BYTES, ""), (MAX_BYTES + 1, "it is larger than 65,536 bytes")])
def test_a_large_file_is_refused_and_hardly_read(tmp_path, monkeypatch, size, wrong):
    with (tmp_path / "f").open("wb") as file:
        file.truncate(size)
    read = []
    real = os.read
    monkeypatch.setattr(trust.os, "read", lambda fd, count: read.append(count) or real(fd, count))
    taken = read_small(str(tmp_path / "f"), uid=ME)
    assert (len(taken.data), taken.problem) == (MAX_BYTES, wrong)
    assert sum(read) <= 2 * MAX_BYTES


def test_a_file_without_end_that_claims_to_be_empty_is_refused(tmp_path):
    # Files of /proc have a size of 0; this one has a few hundred kilobytes all the same.
    endless = Path("/proc/kallsyms")
    if not endless.exists():
        pytest.skip("this machine has no /proc/kallsyms")
    assert "larger than" in read_small(str(endless), uid=None).problem


@pytest.mark.parametrize(
    ("mode", "wrong"),
    [
        (0o600, ""),
        (0o644, ""),
        (0o444, ""),
        (0o664, "its group may write to it; run `chmod g-w {}`"),
        (0o620, "its group may write to it; run `chmod g-w {}`"),
        (0o666, "others may write to it; run `chmod go-w {}`"),
        (0o602, "others may write to it; run `chmod go-w {}`"),
    ],
)
def test_a_file_that_others_may_write_is_refused_with_the_command_that_helps(tmp_path, mode, wrong):
    file = tmp_path / "a file"
    file.write_text("x")
    file.chmod(mode)
    assert read_small(str(file), uid=ME).problem == wrong.format(f"'{file}'")
    assert read_small(str(file), uid=None).problem == ""


@pytest.mark.parametrize("links", [False, True])
def test_a_file_of_somebody_else_is_refused(tmp_path, links):
    # As seen by any user: the file is ours, and it is another who asks.
    (tmp_path / "f").write_text("x")
    taken = read_small(str(tmp_path / "f"), uid=SOMEBODY_ELSE, links=links)
    if ME == 0:
        assert taken.problem == "", "root may be believed"
    else:
        assert taken.problem == f"it belongs to uid {ME}, not to you (uid {SOMEBODY_ELSE})"


as_root = pytest.mark.skipif(ME != 0, reason="only root can give a file to somebody else")


@as_root
def test_a_file_that_really_belongs_to_somebody_else_is_refused(tmp_path):
    (tmp_path / "f").write_text("x")
    os.chown(tmp_path / "f", SOMEBODY_ELSE, -1)
    assert read_small(str(tmp_path / "f"), uid=ME).problem == f"it belongs to uid {SOMEBODY_ELSE}, not to you (uid 0)"
    assert read_small(str(tmp_path / "f"), uid=SOMEBODY_ELSE).problem == ""
    os.link(tmp_path / "f", tmp_path / "g")
    assert "belongs to" in read_small(str(tmp_path / "g"), uid=ME).problem, "a hard link does not make it ours"


@as_root
def test_a_link_that_somebody_else_made_to_a_file_of_ours_is_refused(tmp_path):
    link(tmp_path / "f")
    os.lchown(tmp_path / "f", SOMEBODY_ELSE, -1)
    assert (
        "it is a symbolic link that belongs to uid 54321" in read_small(str(tmp_path / "f"), uid=ME, links=True).problem
    )


@as_root
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    (tmp_path / "f").write_text("x")
    (tmp_path / "f").chmod(0)
    tmp_path.chmod(0o755)
    folder = os.open(tmp_path, os.O_RDONLY)
    os.seteuid(SOMEBODY_ELSE)
    try:
        taken = read_small("f", uid=SOMEBODY_ELSE, dir_fd=folder)
    finally:
        os.seteuid(0)
        os.close(folder)
    assert taken.problem == "it cannot be read: Permission denied"


@pytest.mark.parametrize("call", ["fstat", "read"])
def test_a_file_that_is_swapped_after_it_was_opened_is_not_read(tmp_path, monkeypatch, call):
    """Whatever the name comes to mean: what is checked is what is read."""
    path, evil = tmp_path / "f", tmp_path / "evil"
    path.write_text("mine")
    evil.write_text("evil")
    evil.chmod(0o666)
    real = getattr(os, call)

    def swap_then(*args):
        if evil.exists():
            evil.rename(path)
        return real(*args)

    monkeypatch.setattr(trust.os, call, swap_then)
    taken = read_small(str(path), uid=ME)
    assert (taken.data, taken.problem) == (b"mine", "")
    assert path.read_text() == "evil"


def test_nothing_is_left_open(tmp_path):
    for number, make in enumerate((fifo, zeros, directory, link)):
        make(tmp_path / str(number))
    before = len(os.listdir("/dev/fd"))
    for number in range(5):
        read_small(str(tmp_path / str(number)), uid=ME)
        read_small(str(tmp_path / str(number)), uid=ME, links=True)
    assert len(os.listdir("/dev/fd")) == before

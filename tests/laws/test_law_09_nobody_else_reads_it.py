"""Law 9: directories are 0700 and files 0600; symlinks, foreign store roots and malformed refs are refused."""

import os
import stat

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_in_short, outputs
from law_ways import SOURCES, TOGETHER

from spillover import Clipper, DirStore, Limits, MemoryStore, RefError
from spillover.testing import HOSTILE_REFS, put
from support import REF_SHAPE, ToolClipper
from support import run_spill as main

LONG = b"a line that is one of many\n" * 500


def everything_in(root):
    yield root
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            yield os.path.join(folder, name)


@law_in_short
@given(
    way=st.sampled_from([*SOURCES, *TOGETHER]),
    chosen=choices,
    data=outputs,
    cuts=cuts,
    umask=st.sampled_from([0, 0o22, 0o77, 0o777]),
)
def test_whatever_is_stored_only_its_owner_can_read_it(tmp_path, way, chosen, data, cuts, umask):
    root = tmp_path / f"store {umask:o}"
    clipper = ToolClipper(**chosen, store=DirStore(root, retention=None))
    (tmp_path / "output").touch()  # the "path" entry point reads this file, whatever the umask
    before = os.umask(umask)
    try:
        came = (SOURCES | TOGETHER)[way](clipper, data, cuts, tmp_path)
    finally:
        os.umask(before)
    if os.path.exists(root):
        modes = {path: stat.S_IMODE(os.lstat(path).st_mode) for path in everything_in(root)}
        assert all(mode == (0o700 if os.path.isdir(path) else 0o600) for path, mode in modes.items()), modes
    assert {clip.outcome for clip in came.clips} <= {"whole", "stored"}
    for ref in {clip.ref for clip in came.clips} - {None}:
        clipper.settings.store.delete(ref)


#: What might be passed as a ref: any text, known attacks, and paths that lead out of the folder.
refs = (
    st.text(max_size=60) | st.sampled_from(HOSTILE_REFS) | st.from_regex(r"[./\\]{1,4}[a-z-]{0,9}\x00?", fullmatch=True)
)


@law
@given(ref=refs, chosen=choices)
def test_what_is_no_ref_of_ours_opens_nothing(tmp_path, ref, chosen):
    for name in ("secret.txt", "secret.json", ".txt", "..txt"):
        (tmp_path / name).write_text("SECRET")
    store = DirStore(tmp_path / "store", retention=None)
    kept = put(store, b"SECRET\n" * 3, "kept").ref
    assume(not ref or not any(name.startswith(ref) for name in (kept, kept.rpartition("-")[2])))  # a valid prefix
    clipper = ToolClipper(**chosen, store=store)
    for ask in (clipper.read, lambda ref: clipper.grep(ref, "E")):
        with pytest.raises(RefError):
            ask(ref)
    read, grep, *_ = clipper.tools()
    assert "SECRET" not in read(ref) + grep(ref, "E")


@pytest.mark.parametrize(
    "ref", [ref for ref in HOSTILE_REFS if "\0" not in ref and "\ud800" not in ref]
)  # argv cannot contain these
@pytest.mark.parametrize("command", [["read"], ["grep"], ["show"], ["pin"], ["unpin"], ["verify"]])
def test_the_command_line_refuses_hostile_refs_and_says_so(tmp_path, monkeypatch, capfd, command, ref):
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("SPILLOVER_CONFIG", "none")
    put(DirStore(tmp_path / "store"), b"SECRET", "kept")
    code = main([*command, "--", ref, *(["SECRET"] if command == ["grep"] else [])])
    out, err = capfd.readouterr()
    assert code == 2
    assert "SECRET" not in out
    assert err.startswith("spill: ")


def symlinked(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store").symlink_to(tmp_path / "elsewhere")


def a_file(tmp_path):
    (tmp_path / "store").write_text("not a folder")


def of_others(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store/theirs.txt").write_text("files that are not ours")


def temp_elsewhere(tmp_path):
    Clipper(Limits(bytes=200), store=DirStore(tmp_path / "store")).clip(b"so that there is a store" * 99)
    os.rmdir(tmp_path / "store/.tmp")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store/.tmp").symlink_to(tmp_path / "elsewhere")


@pytest.mark.parametrize("prepare", [symlinked, a_file, of_others, temp_elsewhere])
def test_a_root_that_cannot_be_trusted_is_not_written_to(tmp_path, prepare):
    prepare(tmp_path)
    before = {path: os.lstat(path).st_mtime_ns for path in everything_in(tmp_path)}
    clip = Clipper(Limits(bytes=400), store=DirStore(tmp_path / "store")).clip(LONG)
    assert (clip.outcome, clip.ref, clip.path) == ("lost", None, None)
    assert clip.reason
    assert "not kept" in clip.text
    assert {path: os.lstat(path).st_mtime_ns for path in everything_in(tmp_path)} == before


def test_a_root_of_somebody_else_is_refused(tmp_path, monkeypatch):
    (tmp_path / "store").mkdir()
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)  # makes our own files look like somebody else's
    clip = Clipper(Limits(bytes=400), store=DirStore(tmp_path / "store")).clip(LONG)
    assert clip.outcome == "lost"
    assert "another user" in clip.reason
    assert os.listdir(tmp_path / "store") == []


@pytest.mark.parametrize("planted", [".txt", ".json"])
def test_a_symlink_in_the_place_of_an_output_is_neither_followed_nor_overwritten(tmp_path, planted):
    store = DirStore(tmp_path / "store")
    clipper = Clipper(Limits(bytes=400), store=store)
    ref = clipper.clip(LONG).ref
    secret = tmp_path / "secret"
    secret.write_bytes(b"SECRET")
    os.unlink(tmp_path / "store" / (ref + planted))
    os.symlink(secret, tmp_path / "store" / (ref + planted))
    read, grep, *_ = clipper.tools()
    assert "SECRET" not in read(ref) + grep(ref, "E")
    clipper.clip(LONG)
    assert secret.read_bytes() == b"SECRET"


@law_in_short
@given(tool=st.text(max_size=80))
def test_whatever_a_tool_is_called_its_ref_has_the_shape_we_mint(tool):
    ref = Clipper(Limits(bytes=200), store=MemoryStore()).clip(b"x" * 300, tool=tool).ref
    assert REF_SHAPE.fullmatch(ref)

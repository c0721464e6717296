"""t15: its file names and folders, how long files stay, rules and directions. The report itself is in tests/peers."""

import os
import stat

import pytest

from spillover import DirStore, Limits, UsageError
from spillover.profiles import t15

LONG = "\n".join(f"line {number}" for number in range(1, 5_001))


@pytest.fixture
def clipping(tmp_path):
    def made(**choices):
        return t15.clipper(folder=str(tmp_path / "overflow"), **choices)

    return made


@pytest.mark.parametrize("style", t15.STYLES)
def test_the_file_holds_every_byte(clipping, style):
    output = b"\x00\xff\x1b[31m" + b"y" * 200_000 + b"\r\n"
    clip = clipping(notice_style=style).clip(output, tool="bash", call_id="abc")
    with open(clip.path, "rb") as file:
        assert file.read() == output
    assert stat.S_IMODE(os.stat(clip.path).st_mode) == 0o600


@pytest.mark.parametrize("style", t15.STYLES)
def test_what_fits_is_the_very_same_and_no_folder_is_made(clipping, tmp_path, style):
    output = "a\n" * 1_999 + "b"
    assert clipping(notice_style=style).clip(output).text == output
    assert not (tmp_path / "overflow").exists()


def test_an_unknown_wording_is_refused():
    with pytest.raises(UsageError, match="block, recipe, generic"):
        t15.clipper(notice_style="loud")


def test_difference_without_a_call_id_the_name_is_drawn_from_the_output_not_at_random(clipping):
    one, other = (clipping(notice_style="recipe").clip(LONG, tool="bash") for _ in range(2))
    assert one.text == other.text
    assert one.ref.rpartition("-")[2].startswith(one.path[-12:-4])


# Where it is kept, and for how long.


def test_the_folders_are_the_reports(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    paths = [t15.clipper(notice_style=style).clip("x\n" * 60_000, call_id="c").path for style in t15.STYLES]
    assert paths == [
        f"{tmp_path}/opencode-overflow/tool-c.txt",
        f"{tmp_path}/agent-overflow/tool-c.txt",
        f"{tmp_path}/agent-overflow/tool-c.log",
    ]
    assert stat.S_IMODE(os.stat(tmp_path / "opencode-overflow").st_mode) == 0o700


@pytest.mark.parametrize(("mode", "outcome"), [(0o755, "stored"), (0o1777, "stored"), (0o777, "lost"), (0o770, "lost")])
def test_a_folder_that_was_there_keeps_its_mode_and_is_used_if_nobody_else_can_replace_files(
    clipping, tmp_path, mode, outcome
):
    (tmp_path / "overflow").mkdir()
    (tmp_path / "overflow").chmod(mode)
    clip = clipping().clip(LONG)
    assert clip.outcome == outcome
    assert stat.S_IMODE(os.stat(tmp_path / "overflow").st_mode) == mode
    if outcome == "stored":
        assert stat.S_IMODE(os.stat(clip.path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(tmp_path / "overflow" / ".spillover").st_mode) == 0o700


def nobody(folder):
    folder.mkdir()
    os.chown(folder, 65_534, 65_534)


def elsewhere(folder):
    (folder.parent / "theirs").mkdir()
    folder.symlink_to(folder.parent / "theirs")


@pytest.mark.parametrize(
    ("made_by", "why"), [(nobody, "belongs to another user"), (elsewhere, "symlinks are not followed")]
)
@pytest.mark.parametrize("style", t15.STYLES)
def test_a_folder_that_somebody_else_made_first_is_not_used_and_no_path_is_named(
    clipping, tmp_path, made_by, why, style
):
    if made_by is nobody and os.geteuid():
        pytest.skip("only root can give a folder away")
    made_by(tmp_path / "overflow")
    clip = clipping(notice_style=style).clip("x\n" * 60_000, tool="bash", call_id="abc")
    assert (clip.outcome, clip.path, clip.ref) == ("lost", None, None)
    assert why in clip.text
    assert str(tmp_path) not in clip.text
    assert not list((tmp_path / "overflow").iterdir())


@pytest.mark.parametrize("call_id", ["../../etc/passwd", "a/b", "\0", "", ".", "..", "-rf", "x" * 500, "é\n\u202e"])
def test_whatever_a_call_is_called_its_file_stays_in_the_folder(clipping, tmp_path, call_id):
    clip = clipping().clip(LONG, tool="../bash", call_id=call_id)
    assert os.path.dirname(clip.path) == f"{tmp_path}/overflow"
    assert os.path.realpath(clip.path) == clip.path


def test_another_output_under_the_same_call_id_does_not_take_the_file_of_the_first(clipping):
    first, second = (clipping().clip(LONG + end, tool="bash", call_id="abc") for end in ("1", "2"))
    assert first.path != second.path
    with open(first.path) as one, open(second.path) as other:
        assert (one.read(), other.read()) == (LONG + "1", LONG + "2")


def aged(path, days):
    then = os.stat(path).st_mtime - days * 86_400
    os.utime(path, (then, then))


def names(folder):
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def test_what_is_older_than_its_time_ends_and_nothing_else_does(clipping, tmp_path):
    clipper = clipping(ttl_seconds=3 * 86_400)
    for number in range(3):
        aged(clipper.clip(LONG + str(number), call_id=str(number)).path, 2 * number)
    (tmp_path / "overflow" / "notes.md").write_text("not ours")
    aged(tmp_path / "overflow" / "notes.md", 100)
    assert clipper.settings.store.sweep_names() == 1
    assert names(tmp_path / "overflow") == ["notes.md", "tool-0.txt", "tool-1.txt"]


def test_above_the_quota_the_oldest_end_and_their_bytes_are_gone_from_the_disk(clipping, tmp_path):
    quota = 3 * len(LONG) + len(LONG) // 2  # records count, too, and a name ends with its output
    clipper = clipping(quota_bytes=quota)
    for number in range(6):
        clip = clipper.clip(LONG + str(number), call_id=str(number))
        for path in (clip.path, tmp_path / "overflow" / ".spillover" / f"{clip.ref}.json"):
            aged(path, 6 - number)
    clipper.settings.store.sweep()
    assert names(tmp_path / "overflow") == ["tool-3.txt", "tool-4.txt", "tool-5.txt"]
    outputs = {
        (found := os.stat(os.path.join(folder, name))).st_ino: found.st_size
        for folder, _, files in os.walk(tmp_path / "overflow")
        for name in files
        if name.endswith(".txt")
    }
    assert sum(outputs.values()) <= quota


def test_what_is_fresh_outlives_any_quota(clipping, tmp_path):
    clipper = clipping(quota_bytes=len(LONG) + 20_000)
    clip = clipper.clip(LONG, call_id="c")
    later = clipper.clip(LONG + "more", call_id="d")
    clipper.settings.store.sweep()
    assert os.path.exists(clip.path)
    assert (later.outcome, later.path) == ("lost", None)
    assert "the store is full" in later.reason


def test_old_files_end_before_the_first_output_of_a_process(tmp_path):
    first = t15.clipper(folder=str(tmp_path / "overflow")).clip(LONG, call_id="old")
    aged(first.path, 30)
    from support import named_store as named

    named._sweep_times.pop(str(tmp_path / "overflow"))  # as another process would find it
    t15.clipper(folder=str(tmp_path / "overflow")).clip(LONG + "new", call_id="new")
    assert names(tmp_path / "overflow") == ["tool-new.txt"]


def test_in_a_store_that_is_given_an_output_is_one_file_with_one_name(tmp_path):
    clip = t15.clipper(store=DirStore(tmp_path / "store")).clip(LONG, tool="bash", call_id="abc")
    assert clip.path == f"{tmp_path}/store/{clip.ref}.txt"
    assert DirStore(tmp_path / "store").get(clip.ref).call_id == "abc"


# Rules, and directions.


def test_a_tool_has_limits_and_a_direction_of_its_own(clipping):
    rules = {"cargo*": {"limits": Limits(lines=3_000, bytes=200_000)}, "tsc": {"keep": "head"}}
    clipper = clipping(rules=rules)
    assert clipper.clip(LONG, tool="cargo-build").shown.lines == 3_000
    assert clipper.clip(LONG, tool="tsc").text.startswith("line 1\n")
    assert clipper.clip(LONG, tool="bash").ranges == ((3_001, 5_000),)


@pytest.mark.parametrize(
    ("command", "first"), [("npx tsc --noEmit", "line 1\n"), ("pytest -x", "line 3001\n"), ("", "line 3001\n")]
)
def test_the_direction_goes_by_the_kind_of_command(tmp_path, command, first):
    clip = t15.clipper_for(command, folder=str(tmp_path / "overflow")).clip(LONG)
    assert clip.text.startswith(first)


def test_one_may_bring_a_table_of_ones_own(tmp_path):
    directions = {**t15.DIRECTIONS, "latexmk": "head"}
    clipper = t15.clipper_for("latexmk paper.tex", directions=directions, folder=str(tmp_path / "o"))
    assert clipper.settings.keep == "head"
    assert t15.clipper_for("latexmk paper.tex").settings.keep == "tail"


def test_what_is_hidden_can_be_read_by_its_ref(clipping):
    clipper = clipping()
    clip = clipper.clip(LONG, tool="bash", call_id="abc")
    assert "line 17\n" in clipper.read(clip.ref, lines="17:18").text

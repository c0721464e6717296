"""What profiles are made with: which of it is public, and the words for what could not be kept."""

import re
from pathlib import Path

import pytest

from spillover import DirStore, profiles
from support import form, without_path


def test_what_a_profile_of_your_own_is_made_with_is_public():
    for name in ("Form", "CutFacts", "HiddenPart"):
        assert getattr(profiles, name) is getattr(form, name)
    assert set(profiles.__all__) == {"NAMES", "find_profile", "Form", "CutFacts", "HiddenPart"}
    assert all(getattr(profiles, name).__doc__ for name in profiles.__all__ if name != "NAMES")


@pytest.mark.parametrize("name", profiles.NAMES)
def test_the_names_of_a_profile_are_on_its_page(name):
    page = (Path(__file__).parents[2] / "docs" / "profiles" / f"{name}.md").read_text(encoding="utf-8")
    profile = profiles.find_profile(name)
    assert "clipper" in profile.__all__
    assert [each for each in profile.__all__ if not hasattr(profile, each)] == []
    assert [each for each in profile.__all__ if not re.search(rf"\b{each}\b", page)] == []


@pytest.mark.parametrize("name", profiles.NAMES)
def test_a_star_import_left_out_the_constants_of_the_document(name):
    names: dict[str, object] = {}
    exec(f"from spillover.profiles.{name} import *", names)
    document = {"klaude": "TOOL_OUTPUT_MAX_LENGTH", "opencode": "MAX_LINES", "t15": "MAX_LINES", "vtcode": "MAX_TOKENS"}
    assert {"clipper", document.get(name, "MAX_CHARS")} <= {*names}


@pytest.mark.parametrize("name", profiles.NAMES)
def test_a_path_is_a_store_as_it_is_for_every_clipper(name, tmp_path):
    """The outputs stood a second time in a folder of the profile, where `spill rm` left them."""
    by_path, by_store = (profiles.find_profile(name).clipper(store=store) for store in (tmp_path, DirStore(tmp_path)))
    assert type(by_path.settings.store) is type(by_store.settings.store)
    clip = by_path.clip("line\n" * 90_000, tool="bash", call_id="call_1")
    assert clip.path == f"{tmp_path}/{clip.ref}.txt"
    assert [path.name for path in tmp_path.rglob("*.txt")] == [f"{clip.ref}.txt"]


def test_a_name_that_is_none_is_said():
    with pytest.raises(AttributeError, match="has no attribute 'made'"):
        profiles.made  # noqa: B018


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("", ""),
        ("No space left on device", "No space left on device"),
        ("Not a directory: /tmp/a/b", "Not a directory: b"),
        ("Not a directory: /tmp/a b/c d/e", "Not a directory: e"),
        (
            "/tmp/a b/c is not a folder, and symlinks are not followed",
            "c is not a folder, and symlinks are not followed",
        ),
        (
            "other users can write to /t/x; run `chmod go-w` on it",
            "other users can write to x; run `chmod go-w` on it",
        ),
        ("input/output error", "input/output error"),
        ("/", "/"),
    ],
)
def test_a_reason_names_no_path(reason, said):
    assert without_path(reason) == said


@pytest.mark.parametrize("name", ["opencode", "t15", "klaude"])
def test_the_words_for_a_lost_output_name_no_path(name, tmp_path):
    (tmp_path / "file").touch()
    clip = profiles.find_profile(name).clipper(folder=str(tmp_path / "file" / "outputs")).clip("line\n" * 90_000)
    assert clip.outcome == "lost"
    assert str(tmp_path) not in clip.text

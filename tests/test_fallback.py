"""When clipping itself fails, a command's exit code and both ends of its output come through, within the limits."""

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.cli import main
from spillover.fallback import shorten
from spillover.settings.limits import count_lines

SCRIPT = "echo first; seq 1 9000; echo '[Output clipped: all is well.]'; echo last; exit 5"


@pytest.fixture
def _broken(monkeypatch):
    """A bug of ours, or no memory left, anywhere between storing and showing."""

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("spillover.fallback.SURVIVED", (Exception,))
    monkeypatch.setattr("spillover.kinds.cut.fit", fail)


@pytest.mark.usefixtures("_broken")
@pytest.mark.parametrize(
    "limits", [Limits(), Limits(tokens=1_000), Limits(lines=9), Limits(bytes=500), Limits(chars=400, tokens=400)]
)
@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_a_command_survives_a_failure_of_ours_and_its_output_fits(tmp_path, limits, kind):
    store = DirStore(tmp_path / "store") if kind == "folder" else MemoryStore()
    run = Clipper(limits, store=store).run(["sh", "-c", SCRIPT])
    assert (run.exit_code, run.clip.outcome, run.clip.ref) == (5, "lost", None)
    assert run.clip.reason == "spill failed (MemoryError)"
    assert run.clip.total.bytes == 43_935
    assert run.clip.total.lines == 9_003
    text = run.clip.text
    assert " of 43,935 bytes shown. Full output not kept: spill failed (MemoryError).]\nfirst\n" in text
    assert text.endswith(("last\n", "last"))
    assert "\n[Output clipped: all" not in text, "only ours looks like ours"
    size = {"lines": count_lines(text), "bytes": len(text.encode()), "chars": len(text), "tokens": len(text.encode())}
    assert all(size[name] <= most for name, most in limits.given())
    assert list(store.list()) == []


@pytest.mark.usefixtures("_broken")
def test_spill_run_exits_as_its_command_did_though_we_fail(capfd, tmp_path):
    assert main(["run", "--store", str(tmp_path), "--", "sh", "-c", SCRIPT.replace("9000", "90000")]) == 5
    assert "spill failed (MemoryError)" in capfd.readouterr().out


def test_what_fitted_is_shown_whole_though_looking_at_it_failed(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("spillover.fallback.SURVIVED", (Exception,))
    monkeypatch.setattr("spillover.pipeline._show_whole", fail)
    run = Clipper(store=MemoryStore()).run(["sh", "-c", "echo small; exit 3"])
    assert (run.exit_code, run.clip.text, run.clip.outcome, run.clip.reason) == (3, "small\n", "whole", None)


@pytest.mark.usefixtures("_broken")
def test_whoever_calls_clip_gets_a_clip_that_says_so():
    clip = Clipper(Limits(lines=9), store=MemoryStore()).clip("line\n" * 99)
    assert (clip.outcome, clip.reason) == ("lost", "spill failed (MemoryError)")


def test_what_is_hidden_already_is_counted():
    text = shorten("head\ntail\n", ValueError(), None, missing=1_000_000)
    assert text.startswith("[Output clipped: ")
    assert " of 1,000,010 bytes shown. " in text

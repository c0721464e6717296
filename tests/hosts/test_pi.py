"""pi's extension: a result, and the file with all that a command printed."""

import pytest

from spillover import Clipper, Limits, MemoryStore
from support import pi

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="cli")


def test_pi_gets_all_that_a_command_printed_and_how_it_ended(clipper, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    whole = tmp_path / "pi-bash-1.log"
    whole.write_text(LONG)
    text = f"line 4999\nline 5000\n\n[Showing lines 4999-5000. Full output: {whole}]\n\nCommand exited with code 2"
    asked = {"tool": "bash", "callID": "c", "args": {"command": "make"}, "content": [{"type": "text", "text": text}]}
    (block,) = pi.reply(asked, lambda: clipper)["content"]
    assert "of 5,000 lines shown" in block["text"]
    assert block["text"].endswith("Command exited with code 2")
    assert pi.reply({**asked, "content": [{"type": "text", "text": "short"}]}, lambda: clipper) is None
    (block,) = pi.reply({**asked, "content": [{"type": "text", "text": LONG}]}, lambda: clipper)["content"]
    assert "of 5,000 lines shown" in block["text"]
    for odd in (None, {}, {"content": 5}, {"tool": 5, "content": []}):
        assert pi.reply(odd, lambda: clipper) is None

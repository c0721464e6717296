"""The same clips as before, byte for byte: whatever makes us quicker changes no word the model reads.

If a better choice of lines is the reason, `python scripts/clips.py --write` notes the new ones, and CHANGELOG.md says why.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # scripts/ is not installed

from scripts import clips


def test_every_clip_is_what_it_was():
    known = json.loads(clips.KNOWN.read_text(encoding="utf-8"))
    now = clips.hashes()
    assert [name for name in {*known, *now} if known.get(name) != now.get(name)] == []


def test_the_clips_are_of_every_kind_of_output():
    clipper = clips.Clipper(clips.Limits(tokens=600), store=clips.MemoryStore())
    assert {kind: clipper.clip(make(60_000)).kind for kind, make in clips.SAMPLES.items()} == {
        kind: kind for kind in clips.SAMPLES
    }
    assert clipper.clip(clips.ODD["bytes"]).kind == "blob"

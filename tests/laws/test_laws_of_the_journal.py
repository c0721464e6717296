"""Laws 1, 6, 8 and 9 for the journal: whatever is noted, or cannot be, the model reads the same, and its tokens are in it."""

import os
import stat

from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law_in_short, outputs
from law_ways import SOURCES, TOGETHER, WRAPPED

from spillover import DirStore
from support import ToolClipper, add_up, journal

WAYS = SOURCES | TOGETHER | WRAPPED
#: What may stand where the journal should be.
PLACES = {
    "nothing": lambda path: None,
    "a folder": os.mkdir,
    "a link": lambda path: os.symlink("/dev/full", path),
    "a pipe": os.mkfifo,
    "half a line": lambda path: path.write_text("cs\t17"),
}


@law_in_short
@given(way=st.sampled_from([*WAYS]), chosen=choices, data=outputs, cuts=cuts, there=st.sampled_from([*PLACES]))
def test_the_journal_changes_nothing_and_has_what_was_received(tmp_path_factory, way, chosen, data, cuts, there):
    folder = tmp_path_factory.mktemp("law")
    texts = []
    for name, stats in (("off", False), ("on", True)):
        root = folder / name / "store"
        root.mkdir(parents=True, mode=0o700)
        (root / ".spillover").touch()
        if stats:
            (root / ".ledger").mkdir(mode=0o700)
            PLACES[there](root / ".ledger" / "journal")
        clipper = ToolClipper(**{**chosen, "stats": stats, "hints": ()}, store=DirStore(root))
        texts.append(WAYS[way](clipper, data, cuts, folder).texts)
    assert texts[0] == texts[1]
    assert not (folder / "off" / "store" / ".ledger").exists()
    if there in ("nothing", "half a line") and (way in SOURCES or way in TOGETHER):
        total = add_up(journal.read_all(str(folder / "on" / "store"))).total
        assert total.received == sum(clipper.settings.count(text) for text in texts[1] if text)
        assert total.clips > 0 or way == "clip_many"
        mode = os.stat(folder / "on" / "store" / ".ledger" / "journal").st_mode if total.clips else 0o600
        assert there != "nothing" or stat.S_IMODE(mode) == 0o600

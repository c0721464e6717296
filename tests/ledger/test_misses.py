"""Going back: how often, what for, and how far from what was shown."""

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.ledger import journal
from spillover.ledger.misses import find_misses

LINES = "".join(f"step {number} of the build went well\n" for number in range(1, 2_001))


@pytest.fixture
def clipper(tmp_path):
    return Clipper(Limits(tokens=400), store=DirStore(tmp_path / "store"), scope="app", keep="ends", stats=True)


def misses(clipper):
    return find_misses(journal.read(clipper.store.here))


def test_what_lay_just_outside_what_was_shown_is_told_from_what_lay_elsewhere(clipper):
    clip = clipper.clip(LINES, tool="make")
    (_, first), *_, (last, _) = clip.ranges
    asked = {f"{first + 3}:{first + 5}": 3, f"{last - 9}:{last - 7}": 7, "1000:1010": min(1000 - first, last - 1010)}
    for lines in asked:
        clipper.read(clip.ref, lines=lines)
    clipper.read(clip.ref, lines="1:2")
    clipper.outline(clip.ref)
    found = misses(clipper)
    [kind] = found.kinds
    assert (kind.kind, kind.clips, kind.back, kind.retrievals) == ("log", 1, 1, 5)
    assert (kind.near, kind.far, kind.seen) == (2, 1, 1)
    [miss] = found.outputs
    assert [entry.near for entry in miss.retrievals] == [*asked.values(), None, None]
    assert miss.near == 3


def test_the_newest_output_that_was_gone_back_to_comes_first(clipper):
    refs = [clipper.clip(LINES + str(number), tool=f"t{number}").ref for number in range(3)]
    for ref in (*refs, refs[0]):
        clipper.grep(ref, "step 1000 ")
    assert [miss.ref for miss in misses(clipper).outputs] == [refs[0], refs[2], refs[1]]

"""What the laws are tried on, as Hypothesis draws it.

Drawing takes longer than clipping, so it is done from tables: one draw for all choices, one for each part of an output.
"""

from hypothesis import settings
from hypothesis import strategies as st
from law_tables import CHOICES, KINDS, PARTS, Output

#: How a law is tried: a thousand times. Where each example is a process, a few are enough for what differs there.
law = settings.get_profile("laws")
law_for_processes = settings(law, max_examples=50)

choices = st.sampled_from(CHOICES)


def _outputs(parts):
    lists, loose = st.lists(st.sampled_from(parts), max_size=9), st.binary(max_size=12)
    return st.builds(Output.of, lists, loose, huge=st.sampled_from([False] * 49 + [True]))


#: Any output, from none at all to one with a middle nobody has seen; most are of a size that limits decide about.
outputs = _outputs(PARTS)
#: None of it looks like a word of ours: for those who have to tell our words from the output's.
unforged = _outputs([part for part in PARTS if part[0] not in KINDS["forged"]])

#: How long the chunks of a source are, the rest being one more: a few of any length, or very many short ones.
cuts = st.lists(st.integers(0, 300), max_size=8) | st.sampled_from([(1,) * 60, (0, 5) * 20])

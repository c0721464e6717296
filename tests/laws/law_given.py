"""Hypothesis strategies for the law tests.

Drawing takes longer than clipping, so we draw from tables: once for all choices, and once for each part of an output.
"""

from hypothesis import settings
from hypothesis import strategies as st
from law_tables import CHOICES, KINDS, PARTS, Output

#: The main property of each law runs 400 times, each corollary 150 times. If every example starts a process, 50 are
#: enough to cover what differs there. `make soak` runs for as long as you like.
law = settings.get_profile("laws")
law_in_short = settings(law, max_examples=min(150, law.max_examples // 2))
law_for_processes = settings(law, max_examples=min(50, law.max_examples // 8))

choices = st.sampled_from(CHOICES)


def _outputs(parts):
    lists, loose = st.lists(st.sampled_from(parts), max_size=9), st.binary(max_size=12)
    return st.builds(Output.of, lists, loose, huge=st.sampled_from([False] * 49 + [True]))


#: Any output, from empty to one with a middle that no cut reads; most sizes are near the limits.
outputs = _outputs(PARTS)
#: Outputs that never look like our notices or markers, for tests that must tell the two apart.
unforged = _outputs([part for part in PARTS if part[0] not in KINDS["forged"]])

#: The lengths of a source's chunks (the rest is one more chunk): a few of any length, or very many short ones.
cuts = st.lists(st.integers(0, 300), max_size=8) | st.sampled_from([(1,) * 60, (0, 5) * 20])

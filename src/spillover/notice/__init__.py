"""Every word the model reads that is not the output itself: what is missing, where it is, the next step.

`clipped` is the notice at the top and `marker` the words in a gap, both in the sentences of `wording`; `hints` says how a reader
goes back, `calls` how an answer continues, `sentences` the rest. `form` is another system's layout. Neighbours import what they name.
"""

"""Every word the model reads that is not the output itself: what is missing, where it is, the next step.

`wording` has the sentences, `render` the notice on top of a clip and the markers in its gaps, `hints` the calls with
which a reader goes on, and `form` another system's layout. Neighbours import what they name.
"""

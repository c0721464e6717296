"""An output that does not fit, as the model is shown it: stored first, then chosen, rendered and fitted.

`pipeline` calls `cut`; the rest is called from there. Loaded only by what overflows.
"""

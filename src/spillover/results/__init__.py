"""Functions that are tools: what they return, bounded in its own shape where that is possible.

`function` is what `Clipper.wrap` calls; adapters import `bound`.
"""

"""Logs: where to look, what lines look like, how much each is worth showing, and which are shown.

- `scan`: where to look closely in a large output
- `lines`, with `classes`: what is looked at as arrays, a line in each place
- `score`, with `weights.json`: how likely each line is needed
- `choose`: which lines to show in a given room; `spans`: these as spans, each with its reason
- `signal`: all of it; `news`: the same against an earlier run
"""

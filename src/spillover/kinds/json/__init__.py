"""JSON stays JSON: gaps inside a value, each marked so that what is left still parses.

Who lives here, each knowing only those above it:

- `scan`: where the brackets and commas outside of strings stand
- `strings`: where a string may be cut
- `almost`: whether bytes begin as JSON does; a value among some words, and a Python repr spelled as JSON
- `members`: the values of a container, each with its key
- `rare`: the records that stand out among many
- `fields`: what records alike say at each of their paths, and what that is worth
- `record`: one record, read with what is known of its fields
- `lean`: what of a record tells it from others
- `alike`: records alike, and which of them are shown in full
- `gaps`: what is hidden, what is left, and why it is shown
- `room`: which gaps bring a value down to a given size
- `parse`: bytes as a value that can be shown in part
- `value`: an output that is one JSON value
- `near`: an output that is nearly one
- `ndjson`: an output with a JSON record on each line

`kinds/kind.py` lists the last three as kinds and calls `texts.refine`. The rest is for this folder.
"""

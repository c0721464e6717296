"""Installing into other programs, and removing it again byte for byte; `spill init` and `spill doctor` use it.

hosts      where each host keeps its configuration, what of ours belongs into it, and the lines for AGENTS.md
files      change a file in one step, with a backup beside it
edits      what of ours stands in a file: inserted, found and removed as text
json_text  one entry of JSON text, comments and all
"""

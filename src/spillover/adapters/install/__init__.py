"""Installing into other programs, and taking it out again byte for byte; `spill init` and `spill doctor` use it.

hosts      where each host keeps its configuration, what of ours belongs into it, and the lines for AGENTS.md
files      change a file in one step, with a backup beside it
edits      what of ours stands in a file: put in, found, taken out, as text
json_text  one entry of JSON text, comments and all
toml_text  one table of TOML text
"""

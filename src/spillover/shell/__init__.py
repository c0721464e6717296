"""A shell line as the commands it runs. Nothing in here but `keep` runs anything, and no line makes it raise.

line      `parse(line)`: the pipelines of a line, each a list of `Command`; most neighbours import this and nothing else
command   one command: its program, its words, its options
talk      which lines talk to a person: editors, pagers, prompts
inner     which command another one runs: `sudo`, `uv run`, `npm exec`, `bash -c "…"`
tree      a line read with tree-sitter-bash (extra `shell`)
split     a line read without it
pipes     pipelines that end in filters (`| tail`), and the line with what goes into them kept
keep      a program that stands before such a filter and copies what it reads
"""

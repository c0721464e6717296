"""Which parts survive: an output and the room it has in, spans out. `kind` knows all kinds.

- `selection`: spans, the room, and the one search for how much fits; `pack`: lines within a budget of tokens
- `kind`: recognises what an output is, and asks its module for spans; `sample`, `query`: by what
- `ends`: head, tail or both; `log`, `json` and a module for each other kind
"""

"""The ledger: one line per clip and retrieval, without content, and what can be told from it.

    entry.py    one line: what it holds, written and read
    journal.py  the file beside the store: append, rotate, read
    note.py     a clip or a retrieval → a line; it never fails the call
    stats.py    what was produced, shown, fetched back, and the net of it
    rules.py    the commands that flood most, and the rule that would tame each
    misses.py   how often the model went back, and where to

Neighbours may import:

- to write: `note.note_clip`, `note.note_retrieval`, `note.note_schemas`.
- to read: `journal.place_of(store)` says where the journal of a store is (None: it has none); `journal.read(place, since=…,
  scope=…, newest=True)` yields `entry.Entry` objects one by one, in bounded memory; `journal.size(place)` is cheap, and grows
  with every line, so that a page can look for news.
- to add up: `stats.add_up(journal.blocks(place), by=("day", "tool"), since=…, scope=…)` returns a `stats.Stats`: `total` and
  `groups`, each a `Sums` with produced, shown, fetched, notices, schemas, reruns, host_cut and net. `rules.tame(stats)`
  returns the rules for the commands that flood; `misses.find_misses(journal.read(…))` the retrievals that a better clip would have saved.
"""

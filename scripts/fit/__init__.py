"""The recipe of `src/spillover/kinds/log/weights.json`: `make fit CORPUS=FOLDER`, or `python -m scripts.fit FOLDER`.

Who lives here, in the order in which a fit uses them:

- `logs`: a labelled log as lines, and which of them are needed
- `folds`: which logs are left out together, so that no project is judged by what was learned from it, and which no choice has seen
- `recipe`: from logs to weights: rows, the loss and its one minimum
- `calibrate`: from the rank of a line to the probability that it is needed
- `fingerprint`: what the weights were made of, so that a change without a fit is noticed

How many logs keep every needed line, with projects left out: `bench/recall.py`.

A corpus is a file NAME.jsonl.zst (or NAME.jsonl) with a log per line: {"id", "group", "tokens", "log", "needles"}. A needle
is {"lines": [...], "need": "all" or "any"}: lines of the log, without escape codes and with white space folded.
"""

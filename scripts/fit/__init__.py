"""The recipe of `src/spillover/select/weights.json`: `make fit CORPUS=FOLDER`, or `python -m scripts.fit FOLDER`.

Who lives here, in the order in which a fit uses them:

- `logs`: a labelled log as lines, and which of them are needed
- `folds`: which logs are left out together, so that no project is judged by what was learned from it
- `trees`: LightGBM in, trees as plain lists out
- `calibrate`: from points to the probability that a line is needed
- `recipe`: all of it, from logs to weights, as one function
- `fingerprint`: what the weights were made of, so that a change without a fit is noticed
- `measure`: how many logs keep every needed line when their project was left out

A corpus is a file NAME.jsonl.zst (or NAME.jsonl) with a log per line: {"id", "group", "tokens", "log", "needles"}. A needle
is {"lines": [...], "need": "all" or "any"}: lines of the log, without escape codes and with white space folded.
"""

"""Which parts survive. Pure: an output and a measure of what fits in, spans out; no file is written here."""

#: How much of the room the beginning gets.
HEAD_SHARE = {"head": 1.0, "ends": 0.5, "tail": 0.0}
#: What `keep` may say.
KEEPS = ("auto", "signal", *HEAD_SHARE)

"""Whose process this is. In a program of somebody else's we are a guest, and change nothing that others may rely on."""

#: Set by the command line: this is `spill`, and nobody else has anything to do here.
ours = False

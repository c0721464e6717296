"""What bench/speed.py measures with, and the everyday case: a tool call that overflows."""

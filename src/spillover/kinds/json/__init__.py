"""JSON stays JSON: gaps inside a value, each marked so that what is left still parses."""

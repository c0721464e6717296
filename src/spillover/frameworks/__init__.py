"""One host each: take text out of its shape, clip, put it back. None of them decides anything."""

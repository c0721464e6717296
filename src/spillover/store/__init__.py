"""Where whole outputs are kept: refs, records, the Protocol; a directory, memory; retention."""

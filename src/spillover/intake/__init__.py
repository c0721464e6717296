"""Any source or child process → bytes, measured as they pass."""

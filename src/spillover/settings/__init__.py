"""How to clip: settings and calls, limits, configuration (`load`), and which files of it count (`trust`)."""

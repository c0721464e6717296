"""How to clip: how much (`limits`), what files and the environment say (`load`), and whose files count (`trust`)."""

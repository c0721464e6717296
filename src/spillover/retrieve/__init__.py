"""Going back to a stored output: read, grep, outline, diff. Each answer fits, and is never stored again."""

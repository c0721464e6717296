"""Going back to a stored output: read, grep, outline, diff. Each answer fits, says how to go on, and is never stored again."""

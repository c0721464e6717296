"""Going back to a stored output: read, grep. Each answer fits the limits and never spills again."""

"""Going back to a stored output: read, grep, outline. Each answer fits the limits and never spills again."""

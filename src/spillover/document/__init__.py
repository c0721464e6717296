"""What a person would see of an output, and where its lines are."""

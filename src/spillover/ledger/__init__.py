"""What reached the model, noted in the journal."""

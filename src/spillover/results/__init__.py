"""What a tool returned or raised, within the limits and in its own shape where that is possible."""

"""How to clip: options and rules for some tools (`settings`), limits, the store (`place`), files (`load`), and whose count (`trust`)."""

"""How to clip: options (`settings`), limits, rules for some tools, the store (`place`), files (`load`), and whose count (`trust`)."""

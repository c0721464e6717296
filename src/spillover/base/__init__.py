"""What every other module stands on, and nothing about outputs: logging, caches, patterns in linear time.

Neighbours import what they need, module by module; importing this does nothing.
"""

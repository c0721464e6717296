"""Anything that produces output → measured bytes."""

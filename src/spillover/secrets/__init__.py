"""Secrets by their formats, in command lines and in what tools print.

Neighbours import functions from `commands` and `outputs`, and `Streams` from `streams`; `formats` is the table they read.
"""

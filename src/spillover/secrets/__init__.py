"""Secrets by their formats, in command lines and in what tools print.

Neighbours import `redact` functions from `commands` and `outputs`; `formats` is the table both read.
"""

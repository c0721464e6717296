"""Secrets, found by their formats: replaced in command lines (`commands`), covered in outputs (`outputs`)."""

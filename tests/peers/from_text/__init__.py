"""The five documents' algorithms, written again from their texts alone, by somebody who had not seen the profiles.

A module per document. Nothing here imports spillover, and nothing here is better than its document: what a document gets
wrong is wrong here too. Where a text leaves a value or a sentence open, a comment says what settled it:

- [facts] a constant, a format or a computed case from the system's public source;
- [page] how the profile's own page says it is called.
"""

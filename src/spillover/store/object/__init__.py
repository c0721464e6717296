"""Outputs in an object store: S3, Google Cloud Storage, Azure. Every worker that may see a scope reads what is in it.

    keys.py       which key belongs to which scope and ref; pure
    bucket.py     the requests; words.py what is said when they fail
    entry.py      a record as an object: with its frames; pure
    blob.py       the bytes of an output, read by ranges
    upload.py     an output on its way up: the deadline, and what is given up
    view.py       what a scope can see
    spool.py      what could not be brought up yet, and `push`
    store.py      ObjectStore: all of these as a store

docs/format.md says what stands in a bucket. Others import `store.ObjectStore` and nothing else.
"""

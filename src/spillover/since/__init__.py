"""What changed since an earlier run.

`shape` turns a line into two keys that see through what differs from run to run; `known` is a set of them in bounded memory;
`compare` says of two documents what is new, what differs in numbers only, what is the same, and what is gone.

Neighbours may import `compare`, `Compared`, `Found`, and SAME, NUMBERS and NEW from `spillover.since.compare`:

    compared = compare(document, before)           # two view.document.Documents of any size, bounded memory
    compared.new.lines, compared.gone.ranges       # counts; line ranges from 1, of `document` and of `before` in turn
    compared.look(document, start, end)            # of each line in these bytes: SAME, NUMBERS or NEW; and the key of what it says
    compared.mark_before(before, start, end)       # of lines of the earlier output, of which NEW ones are gone
"""

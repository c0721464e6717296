"""Several texts, one budget: the blocks of a result, whole messages, the two streams of a command, the results of a turn.

    shapes    where each provider's blocks and messages hold their text
    texts     the texts of blocks, and the same blocks with other texts
    together  texts clipped within one budget: `clip_blocks`, `clip_texts`, `clip_streams`
    many      the results of a turn, each with a clip of its own

Import from the module that has it; the public name is `spillover.Blocks`.
"""

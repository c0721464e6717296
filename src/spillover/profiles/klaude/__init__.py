"""klaude_code: both ends of a long result, the middle in a file.

profile  the clipper and the strategy of the document; what `profiles.klaude` gives its neighbours
ui       what a person sees of a cut
"""

from spillover.profiles import names_of

__getattr__, __dir__ = names_of("klaude")

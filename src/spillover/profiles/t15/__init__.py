"""T15: a report on opencode, and what it proposes to do better.

profile   the clipper, three wordings; what `profiles.t15` gives its neighbours
commands  which end of a command's output to keep, and which commands print a lot
"""

from spillover.profiles import names_of

__getattr__, __dir__ = names_of("t15")

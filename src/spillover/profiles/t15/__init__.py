"""T15: a report on opencode, and what it proposes to do better.

profile   the clipper, three wordings; what `profiles.t15` gives its neighbours
commands  which end of a command's output to keep, and which commands print a lot
"""

from spillover.profiles import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # a checker sees the names that are loaded when they are asked for
    from spillover.profiles.t15.profile import *  # noqa: F403

__getattr__, __dir__ = names_of("t15")

"""vtcode: limits in tokens, half from the head and half from the tail.

profile   the clipper, the shared window; what `profiles.vtcode` gives its neighbours
words     its banner and its gaps
cut       whole lines of both ends
estimate  its token estimate
display   what a person sees
"""

from spillover.profiles import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # a checker sees the names that are loaded when they are asked for
    from spillover.profiles.vtcode.profile import *  # noqa: F403

__getattr__, __dir__ = names_of("vtcode")

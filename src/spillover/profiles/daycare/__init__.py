"""daycare: every string that enters a context has a bound.

profile  tool results; what `profiles.daycare` gives its neighbours
text     the clipper, and the helpers for strings
exec     results of a command
rlm      results of Python
net      what the safety net recognises
"""

from spillover.profiles import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # a checker sees the names that are loaded when they are asked for
    from spillover.profiles.daycare.profile import *  # noqa: F403

__getattr__, __dir__ = names_of("daycare")

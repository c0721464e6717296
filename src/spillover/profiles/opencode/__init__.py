"""opencode: keep the first or last lines, save the rest to a file, and name it.

profile             the clipper, its words and its files; what `profiles.opencode` gives its neighbours
permission          which of an agent's tools the words may name
ids                 names of files that sort by time
read, lines, media  its Read tool
bash                its Bash tool
"""

from spillover.profiles import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # a checker sees the names that are loaded when they are asked for
    from spillover.profiles.opencode.profile import *  # noqa: F403

__getattr__, __dir__ = names_of("opencode")

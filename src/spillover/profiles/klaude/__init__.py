"""klaude_code: both ends of a long result, the middle in a file.

profile  the clipper and the strategy of the document; what `profiles.klaude` gives its neighbours
ui       what a person sees of a cut
"""

from spillover.profiles import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # a checker sees the names that are loaded when they are asked for
    from spillover.profiles.klaude.profile import *  # noqa: F403

__getattr__, __dir__ = names_of("klaude")

"""The earlier output that one is told against: its name, what is known of that run, and what the comparison found."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.since.compare import Compared
    from spillover.view.document import Document


class Against(Struct, frozen=True):
    """An earlier output. `compared` is None until both are there, and stays None where they cannot be compared."""

    ref: str
    how: str = ""  # how it ended and how old it is, where it was asked for by "last" or "good"
    reason: str = ""  # why it cannot be compared
    before: Document | None = None
    compared: Compared | None = None

    @property
    def unchanged(self) -> bool:
        return self.compared is not None and self.compared.unchanged

    def told_against(self, document: Document) -> Against:
        """Return the same with what is new in an output; or with why that cannot be said. It never fails the call."""
        if self.before is None or self.compared is not None:
            return self
        from spillover.since.compare import compare  # few ask

        try:
            return replace(self, compared=compare(document, self.before))
        except Exception as error:  # noqa: BLE001  it cannot be read, there is no memory left, or it is a bug of ours
            return replace(self, reason=str(error) or type(error).__name__)

    def close(self) -> None:
        """Close the earlier output."""
        if self.before is not None:
            self.before.blob.close()

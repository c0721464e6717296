"""What changed since an earlier run of the same command."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.since.compare import Compared
    from spillover.view.document import Document


class Earlier(Struct, frozen=True):
    """An earlier output. `compared` is None until both are there, and stays None where they cannot be compared."""

    ref: str
    ending: str = ""  # how that run ended, where it was named by "last" or "good"
    reason: str = ""  # why it cannot be compared
    document: Document | None = None
    compared: Compared | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether the output only says again what the earlier one said."""
        return self.compared is not None and self.compared.unchanged

    def close(self) -> None:
        """Close the earlier output."""
        if self.document is not None:
            self.document.blob.close()

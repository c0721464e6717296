"""What a person at the terminal sees of a cut: how much is hidden, and where the full output is (extra: rich)."""

from __future__ import annotations

from enum import StrEnum

from spillover.base.data import dataclass
from spillover.errors import MissingExtraError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class ToolResultUIExtraType(StrEnum):
    """What the terminal is told of a tool's result; the kind that concerns a cut."""

    TRUNCATION = "truncation"


KINDS = [kind.value for kind in ToolResultUIExtraType]


@dataclass(frozen=True, slots=True)
class TruncationUIExtra:
    """The facts of a cut."""

    saved_file_path: str | None  # None: nothing could be saved
    original_length: int
    truncated_length: int

    def __post_init__(self) -> None:
        if not isinstance(self.saved_file_path, str | None) or self.saved_file_path == "":
            raise UsageError(
                f"saved_file_path={self.saved_file_path!r} is not a path; use one, or None if there is none."
            )
        for name in ("original_length", "truncated_length"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise UsageError(f"{name}={value!r} is not a length; use a number of 0 or more.")
        if self.truncated_length > self.original_length:
            raise UsageError(f"{self.truncated_length} of {self.original_length} characters cannot be missing.")


@dataclass(frozen=True, slots=True)
class ToolResultUIExtra:
    """What the terminal is told of a tool's result: a kind, and the facts under the name of that kind."""

    type: ToolResultUIExtraType
    truncation: TruncationUIExtra | None = None

    def to_json(self) -> str:
        """Return it as JSON, for a terminal in another process."""
        import json

        facts = self.truncation and {name: getattr(self.truncation, name) for name in TruncationUIExtra.__slots__}
        return json.dumps({"type": self.type.value, "truncation": facts})

    @classmethod
    def from_json(cls, text: str | bytes) -> ToolResultUIExtra:
        """Read it back from JSON; UsageError when that holds anything else."""
        import json

        try:
            found = json.loads(text)
        except ValueError as error:
            raise UsageError(f"this is not JSON: {error}.") from error
        if not isinstance(found, dict) or set(found) != {"type", "truncation"} or found["type"] not in KINDS:
            raise UsageError('use an object like {"type": "truncation", "truncation": {...}}.')
        facts = found["truncation"]
        if facts is None:
            return cls(ToolResultUIExtraType(found["type"]))
        if not isinstance(facts, dict) or set(facts) != set(TruncationUIExtra.__slots__):
            raise UsageError(f"truncation has the fields {', '.join(TruncationUIExtra.__slots__)}, and no others.")
        return cls(ToolResultUIExtraType(found["type"]), TruncationUIExtra(**facts))


def renderable(extra: ToolResultUIExtra) -> Text:
    """Return the lines for a terminal; whatever stands in a path is shown, never interpreted."""
    try:
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("the terminal renderer needs the extra: pip install 'spillover[rich]'") from error

    cut = extra.truncation
    if cut is None:
        return Text()
    text = Text.assemble(
        ("✂ Output truncated: ", "bold yellow"),
        f"{cut.original_length:,} characters, {cut.original_length - cut.truncated_length:,} shown to the model, ",
        (f"{cut.truncated_length:,} hidden", "bold"),
        "\n  ",
    )
    if cut.saved_file_path is None:
        return text.append("The full output could not be saved.", "red")
    path = "".join(char if char.isprintable() else "\ufffd" for char in cut.saved_file_path)
    return text.append("Full output: ").append(path, "cyan underline")


def show(extra: ToolResultUIExtra, console: Console | None = None) -> None:
    """Print it on a terminal."""
    text = renderable(extra)
    if console is None:
        from rich.console import Console

        console = Console()
    console.print(text, soft_wrap=True, highlight=False)  # a path that is wrapped cannot be opened by a click

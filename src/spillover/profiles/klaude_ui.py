"""What a person at the terminal sees of a cut: how much is not there, and where all of it is (extra: rich)."""

from __future__ import annotations

from spillover.data import dataclass
from spillover.errors import MissingExtraError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

TYPE = "truncation"  # what its `ToolResultUIExtraType` calls this


@dataclass(frozen=True, slots=True)
class TruncationUIExtra:
    """What the terminal is told of a cut."""

    saved_file_path: str | None  # None: nothing could be saved
    original_length: int
    truncated_length: int

    def __post_init__(self) -> None:
        if not isinstance(self.saved_file_path, str | None) or self.saved_file_path == "":
            raise UsageError(
                f"saved_file_path={self.saved_file_path!r} is no path; use one, or None where there is none."
            )
        for name in ("original_length", "truncated_length"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise UsageError(f"{name}={value!r} is no length; use a number of 0 or more.")
        if self.truncated_length > self.original_length:
            raise UsageError(f"{self.truncated_length} of {self.original_length} characters cannot be missing.")

    def to_json(self) -> str:
        """As JSON, under the name it has among the extras of a tool's result."""
        import json

        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({"type": TYPE, TYPE: fields})

    @classmethod
    def from_json(cls, text: str | bytes) -> TruncationUIExtra:
        """From that JSON, or from its fields alone; UsageError when it is anything else."""
        import json

        try:
            said = json.loads(text)
        except ValueError as error:
            raise UsageError(f"this is no JSON: {error}.") from error
        fields = said.get(TYPE, said) if isinstance(said, dict) else None
        if not isinstance(fields, dict) or set(fields) != set(cls.__slots__):
            raise UsageError(f"a TruncationUIExtra has the fields {', '.join(cls.__slots__)}, and no others.")
        return cls(**fields)


def renderable(extra: TruncationUIExtra) -> Text:
    """The lines for a terminal; whatever stands in a path is shown, never interpreted."""
    try:
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("the terminal renderer needs the extra: pip install 'spillover[rich]'") from error

    shown = extra.original_length - extra.truncated_length
    text = Text.assemble(
        ("✂ Output truncated: ", "bold yellow"),
        f"{extra.original_length:,} characters, {shown:,} shown to the model, ",
        (f"{extra.truncated_length:,} hidden", "bold"),
        "\n  ",
    )
    if extra.saved_file_path is None:
        return text.append("The full output could not be saved.", "red")
    path = "".join(char if char.isprintable() else "\ufffd" for char in extra.saved_file_path)
    return text.append("Full output: ").append(path, "cyan underline")


def show(extra: TruncationUIExtra, console: Console | None = None) -> None:
    """Print it on a terminal."""
    text = renderable(extra)
    if console is None:
        from rich.console import Console

        console = Console()
    console.print(text, soft_wrap=True, highlight=False)  # a path that is wrapped cannot be opened by a click

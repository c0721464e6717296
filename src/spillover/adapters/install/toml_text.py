"""Our table in a TOML file that its host rewrites: known by its name and its content, wherever our comments have gone."""

from __future__ import annotations

from msgspec import Struct

from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Table(Struct, frozen=True):
    """A table, with a mark before and behind it while nobody has moved them."""

    name: str  # "mcp_servers.spillover"
    lines: str  # what stands under its header
    first: str
    last: str
    ours: Callable[[Any], bool]

    def put(self, before: str | None) -> str:
        text = before or ""
        there = self._find(text)
        if there is not None:
            if not self.ours(there):
                raise UsageError(f"there is another [{self.name}]; rename that one first.")
            return text
        line_end = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
        block = line_end.join([self.first, f"[{self.name}]", *self.lines.split("\n"), self.last]) + line_end
        apart = "" if not text else line_end if text.endswith("\n") else line_end * 2
        after = text + apart + block
        self._parse(after)
        return after

    def has(self, text: str) -> bool:
        there = self._find(text)
        return self.first in text or (there is not None and self.ours(there))

    def taken(self, text: str) -> str:
        """Return the text without our table and our marks. What the host has put between them stays."""
        lines = text.splitlines(keepends=True)
        kept: list[str] = []
        inside = False
        for line in lines:
            words = line.strip()
            if words.startswith("["):
                inside = self._is_header(words)
                if inside:
                    self._drop_blank(kept)
            if words in (self.first, self.last):
                if words == self.first:
                    self._drop_blank(kept)
                inside = False
            elif not inside:
                kept.append(line)
            elif words.startswith("#"):  # somebody else's, before what comes next
                inside = False
                kept.append(line)
            elif not words:  # what follows the table is not ours
                inside = False
                if kept:
                    kept.append(line)
        return "".join(kept)

    def shown(self) -> str:
        return f"[{self.name}]\n{self.lines}"

    def _is_header(self, words: str) -> bool:
        name = words.partition("#")[0].strip().strip("[]").replace('"', "").replace("'", "").replace(" ", "")
        return name == self.name or name.startswith(f"{self.name}.")

    @staticmethod
    def _drop_blank(kept: list[str]) -> None:
        """Drop the empty line that came with us."""
        if kept and not kept[-1].strip():
            kept.pop()

    def _find(self, text: str) -> Any:
        """Return our table as it is there; None where there is none."""
        found: Any = self._parse(text)
        for key in self.name.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def _parse(self, text: str) -> Any:
        import tomllib

        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"this would not be, or is not, valid TOML ({error}); add this by hand:\n{self.shown()}"
            ) from error

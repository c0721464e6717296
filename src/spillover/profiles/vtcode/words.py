"""vtcode's words: the banner with the file, the token budget, and a count of the lines in every gap."""

from __future__ import annotations

from spillover.notice.form import Form, Missing, Told, lost_words
from spillover.profiles.vtcode.cut import both_halves
from spillover.select import definitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.notice.form import Words

BANNER = "[OUTPUT] Output too large ({size}, {lines} lines), {where}\n"
BY_BUDGET, BY_OTHERS = "[... content truncated by token budget ...]\n", "[... content truncated ...]\n"

#: What is added where all that is missing says again what stands above.
REPEATS = {
    "same": ": the line above, repeated",
    "like": ": the line above with other numbers",
    "block": ": the {lines} lines above, repeated",
}


def form(*, banner: bool = True) -> Form:
    """Return a count of the lines wherever some are missing, below the banner where that is wanted."""

    def words(told: Told) -> Words:
        first, last, other = _count_shown(told) if banner else ("", "", "")

        def gap(missing: Missing) -> str:
            newline = "" if missing.at_line_start else "\n"
            return f"{newline}{_name_gap(missing)}\n{last}"

        opening = gap(told.before) if told.before.bytes else ""
        closing = gap(told.behind).rstrip("\n") if told.behind.bytes else ""
        if not banner:
            return opening, gap, closing
        saved = told.place is not None and told.stored is None
        where = f"spooled to: {told.place}" if saved else lost_words(told)
        said = BANNER.format(size=name_size(told.total.bytes), lines=told.total.lines, where=where)
        return f"{said}{BY_BUDGET if told.limits.tokens else BY_OTHERS}{first}{other}{opening}", gap, closing

    return Form(words, {"ends": both_halves, "signal": lambda _: definitions.select})


def name_size(size: int) -> str:
    """Return a number of bytes as the banner has it: "500KB"."""
    return f"{max(1, round(size / 1_024))}KB"


def name_tokens(tokens: int) -> str:
    """Return about how many tokens: "~12.5k", "~800"."""
    return f"~{tokens / 1_000:.1f}".removesuffix(".0") + "k" if tokens >= 1_000 else f"~{tokens}"


def _name_gap(missing: Missing) -> str:
    lines, repeats = missing.lines, missing.repeats
    again = REPEATS.get(repeats.kind, "").format(lines=repeats.note) if repeats else ""
    return f"[... {lines} lines truncated{again} ...]" if lines else f"[... {missing.bytes} bytes truncated ...]"


def _count_shown(told: Told) -> tuple[str, str, str]:
    """Return what is said before the first part, before the last one, and, where there are others, of all of them."""
    parts = told.parts
    whole = len(parts) == 1 and not told.before.bytes
    if not parts or len(parts) > 2 or (told.before.bytes and len(parts) > 1) or (told.behind.bytes and not whole):
        return "", "", f"{name_tokens(sum(map(told.count, parts)))} tokens shown\n"
    first = "" if told.before.bytes else f"First {name_tokens(told.count(parts[0]))} tokens shown\n"
    return first, "" if whole else f"Last {name_tokens(told.count(parts[-1]))} tokens shown\n", ""

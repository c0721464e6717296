"""What made a clip, as its record keeps it: enough to make the same clip again, and nothing of the output."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.errors import SpilloverError
from spillover.notice.hints import NAMED, Hint
from spillover.settings.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.choices import Choices
    from spillover.select.wanted import Wanted
    from spillover.view.document import Section

#: What is longer is not kept, and that clip cannot be made again.
LONGEST = 4_096


def tell_choices(choices: Choices, wanted: Wanted, sections: Sequence[Section]) -> str:
    """Return what made a clip, as JSON; "" where words do not say it: a selector or a counter of your own, a profile, several parts."""
    if callable(choices.keep) or callable(choices.tokenizer) or choices.form is not None or len(sections) > 1:
        return ""
    import json  # its record is written with it

    facts = {
        "limits": dict(choices.limits.given()),
        "keep": choices.keep,
        "worth": choices.worth,
        "tokenizer": choices.tokenizer,
        "hints": [_tell_hint(hint) for hint in choices.ways],
        "raw": choices.raw,
        "query": _without_secrets(wanted.query),
        "name": _without_secrets("" if wanted.name in (wanted.command, wanted.tool) else wanted.name),
        "since": _without_secrets(wanted.since.ref) if wanted.since is not None else "",
        "how": wanted.since.ending if wanted.since is not None else "",
        "not": _without_secrets(wanted.since.reason) if wanted.since is not None else "",
    }
    text = json.dumps({name: value for name, value in facts.items() if value or name == "worth"})
    return text if len(text) <= LONGEST else ""


def choose_again(choices: Choices, made: str) -> tuple[Choices, str, tuple[str, str, str]] | None:
    """Return the choices that made a clip, the name of its output, and the earlier run or why there was none; None where a record does not say."""
    import json

    try:
        facts = json.loads(made)
        hints: list[Any] = [Hint(**hint) if isinstance(hint, dict) else hint for hint in facts.get("hints", [])]
        again = replace(
            choices,
            limits=Limits(**facts["limits"]),
            trigger=None,
            rules={},
            keep=facts["keep"],
            worth=facts["worth"],
            tokenizer=facts["tokenizer"],
            hints=hints or "none",
            raw=facts.get("raw", False),
            query=facts.get("query", ""),
        )
        since, how, reason = (str(facts.get(name, "")) for name in ("since", "how", "not"))
        return again, str(facts.get("name", "")), (since, how, reason)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SpilloverError):
        return None


def _tell_hint(hint: Hint) -> str | dict[str, str | bool]:
    return next((name for name, named in NAMED.items() if named == hint), None) or hint.given


def _without_secrets(text: str) -> str:
    if not text:
        return ""
    from spillover.secrets.commands import shorten_command  # few ask something

    return shorten_command(text)

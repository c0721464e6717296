"""What made a clip, as its record keeps it: enough to make the same clip again, and nothing of the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from spillover.document.document import Section
from spillover.errors import SpilloverError
from spillover.notice.hints import NAMED, Hint
from spillover.settings.limits import Limits
from spillover.settings.settings import Call
from spillover.since import Earlier

#: What is longer is not kept, and that clip cannot be made again.
LONGEST = 4_096


def encode_call(call: Call, earlier: Earlier | None, sections: Sequence[Section]) -> str:
    """Return what made a clip, as JSON; "" where words do not say it: a selector or a counter of your own, a profile, several parts."""
    if (
        callable(call.settings.keep)
        or callable(call.settings.tokenizer)
        or call.settings.form is not None
        or len(sections) > 1
    ):
        return ""
    import json  # its record is written with it

    facts = {
        "limits": dict(call.limits.given()),
        "keep": call.settings.keep,
        "worth": call.settings.worth,
        "tokenizer": call.settings.tokenizer,
        "hints": [_tell_hint(hint) for hint in call.settings.hints],
        "raw": call.settings.raw,
        "query": _without_secrets(call.query),
        "name": _without_secrets(call.name),
        "since": _without_secrets(earlier.ref) if earlier is not None else "",
        "how": earlier.ending if earlier is not None else "",
        "not": _without_secrets(earlier.reason) if earlier is not None else "",
    }
    text = json.dumps({name: value for name, value in facts.items() if value or name == "worth"})
    return text if len(text) <= LONGEST else ""


def restore_call(call: Call, made: str) -> tuple[Call, tuple[str, str, str]] | None:
    """Return the call that made a clip, and the earlier run or why there was none; None where a record does not say."""
    import json

    try:
        facts = json.loads(made)
        hints: list[Any] = [Hint(**hint) if isinstance(hint, dict) else hint for hint in facts.get("hints", [])]
        settings = call.settings.but(
            limits=Limits(**facts["limits"]),
            rules={},
            keep=facts["keep"],
            worth=facts["worth"],
            tokenizer=facts["tokenizer"],
            hints=hints or "none",
            raw=facts.get("raw", False),
        )
        restored = replace(
            call,
            settings=settings,
            limits=settings.limits,
            trigger=None,
            query=facts.get("query", ""),
            name=str(facts.get("name", "")),
        )
        since, how, reason = (str(facts.get(name, "")) for name in ("since", "how", "not"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SpilloverError):
        return None
    return restored, (since, how, reason)


def _tell_hint(hint: Hint) -> str | dict[str, str | bool]:
    return next((name for name, named in NAMED.items() if named == hint), None) or hint.given


def _without_secrets(text: str) -> str:
    if not text:
        return ""
    from spillover.secrets.commands import shorten_command  # few ask something

    return shorten_command(text)

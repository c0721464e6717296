"""Secrets at every offset of long lines and logs, escaped in every way and through random ways in; options with failures."""

import importlib.util
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from spillover import Budget, Clipper, Limits, MemoryStore
from spillover.mcp.results import cover_line
from spillover.testing import content

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "laws"))
from law_faults import failures  # noqa: E402  a neighbour's

_spec = importlib.util.spec_from_file_location("bench_redact", TESTS.parent / "bench" / "redact.py")
bench = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(bench)

#: How each character of a secret is written, and what stands in front of it.
ESCAPES = {
    "as it is": (lambda char: char, " "),
    "JSON": (lambda char: json.dumps(char)[1:-1], '{"out": "a\\n'),
    "JSON in JSON": (lambda char: json.dumps(json.dumps(char)[1:-1])[1:-1], '{"out": "{\\"in\\": \\"a\\\\n'),
    "repr": (lambda char: repr(char)[1:-1], "b'a\\t"),
    "code points": (lambda char: f"\\u{ord(char):04x}", "\\u0022"),
    "address": (lambda char: char if char.isalnum() or char in "-_." else f"%{ord(char):02X}", "?a%3D"),
    "HTML": (lambda char: f"&#{ord(char)};", "&quot;"),
    "zero width": (lambda char: char + "\u200b", " "),
}
#: Lengths of lines around which windows, pieces and reads begin and end.
EDGES = (0, 8_192, 24_576, 65_536, 262_144)
LOG = "a line of the log, and nothing in it\n"


def pieces(text, dice):
    """Return the same bytes in pieces of a random size."""
    data = text.encode()
    size = dice.choice([7, 1_000, 8_192, 65_536]) if len(data) > 20_000 else dice.randint(1, 4_000)
    size = max(size, len(data) // 400)
    return [data[at : at + size] for at in range(0, len(data), size)]


def raised(clipper, text):
    def tool():
        raise ValueError(text)

    try:
        clipper.wrap(tool)()
    except Exception as error:  # noqa: BLE001  one with other words, perhaps
        return f"{error}{error!r}"


def answers(clipper, ref, dice):
    """Return what the ways back say of an output."""
    first = dice.randint(0, 300_000)
    yield clipper.read(ref, bytes=f"{first}:{first + 3_000}").text
    yield clipper.read(ref, lines="1:40").text
    yield clipper.grep(ref, dice.choice(["a", "[A-Z]{4}", "=|:"])).text
    yield clipper.outline(ref).text


#: Name → what a model is shown.
WAYS = {
    "clip": lambda clipper, text, dice: clipper.clip(text).text,
    "pieces": lambda clipper, text, dice: clipper.clip(pieces(text, dice)).text,
    "wrap": lambda clipper, text, dice: clipper.wrap(lambda: text)(),
    "dict": lambda clipper, text, dice: json.dumps(clipper.wrap(lambda: {"rows": [text]})(), ensure_ascii=False),
    "raise": lambda clipper, text, dice: raised(clipper, text),
    "blocks": lambda clipper, text, dice: str(clipper.clip_blocks([{"type": "text", "text": text}, {"type": "text", "text": "b"}])),
    "streams": lambda clipper, text, dice: clipper.clip_streams(stdout=text, stderr=LOG * 9).text,
    "program": lambda clipper, text, dice: clipper.clip(text, caller="program").text,
    "MCP": lambda clipper, text, dice: cover_line(json.dumps({"id": 1, "result": {"content": [text]}}).encode(), clipper.settings).decode(),
}  # fmt: skip


def runs_of(secret, spell):
    """Return parts of a secret that are worth having, as they are written."""
    parts = secret.split("\n")[1:-1] if secret.startswith("-----") else [secret]
    least = 12 if len(secret) >= 24 else 0
    return {"".join(map(spell, part[at : at + 8])) for part in parts for at in range(least, len(part) - 7)}


def redaction(seconds, seed, count=None):
    """Look for secrets in what is shown and stored. All figures except `texts` and `covered` must be 0."""
    figures = dict.fromkeys(("texts", "covered", "shown", "stored", "raised"), 0)
    examples, until = [], time.monotonic() + seconds
    while time.monotonic() < until if count is None else figures["texts"] < count:
        name = f"{seed}:{figures['texts']}"
        dice = random.Random(name)
        kind, escape, way = dice.choice([*bench.KINDS]), dice.choice([*ESCAPES]), dice.choice([*WAYS])
        before, secret, behind = bench.KINDS[kind](dice)
        if secret.startswith("-----") and escape == "zero width":
            escape = "JSON"
        spell, opening = ESCAPES[escape]
        offset = (
            max(0, dice.choice(EDGES) + dice.randint(-200, 200)) if dice.random() < 0.7 else dice.randint(0, 90_000)
        )
        words = before if escape in ("as it is", "zero width") else "".join(map(spell, before))
        fill = (
            "some words " * (offset // 11) + "x" * (offset % 11) if dice.random() < 0.5 else LOG * (offset // len(LOG))
        )
        rest = "more words " * dice.randint(0, 9_000) if dice.random() < 0.5 else "\n" + LOG * dice.randint(0, 3_000)
        text = f"{fill}{opening}{words}{''.join(map(spell, secret))}{behind} {rest}"
        redact = dice.choice(["shown", "stored"])
        clipper = Clipper(Limits(tokens=dice.choice([200, 900, 8_000])), store=MemoryStore(), redact=redact)
        figures["texts"] += 1
        where = (name, kind, escape, way, offset, redact)
        try:
            shown = [WAYS[way](clipper, text, dice)]
            records = [*clipper.settings.store.list()]
            for record in records:
                shown += answers(clipper, record.ref, dice)
        except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
            figures["raised"] += 1
            examples.append((*where, repr(error)))
            continue
        runs = runs_of(secret, spell)
        figures["covered"] += any("redacted" in one for one in shown)
        if any(run in one for one in shown for run in runs):
            figures["shown"] += 1
            examples.append(where)
        kept = [content(clipper.settings.store, record.ref).decode("utf-8", "replace") for record in records]
        if redact == "stored" and any(run in one for one in kept for run in runs):
            figures["stored"] += 1
            examples.append((*where, "stored"))
    return {**figures, "examples": examples[:20]}


OPTIONS = {
    "redact": ("off", "shown", "stored"),
    "keep": ("auto", "head", "tail", "ends", "signal"),
    "worth": (0, 0.085, 0.9),
    "since": ("auto", "last"),
    "query": ("", "which line is 77"),
    "raw": (False, True),
    "stats": (None, True, False),
    "limits": (Limits(lines=20), Limits(bytes=900), Limits(tokens=300), Limits(tokens=300, lines=30)),
}


def options(seconds, seed, count=None):
    """Clip with random options while a store fails. All figures except `clips` and `lost` must be 0."""
    figures = dict.fromkeys(("clips", "lost", "over", "shown", "raised"), 0)
    examples, until = [], time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until if count is None else figures["clips"] < count:
            name = f"{seed}:{figures['clips']}"
            dice = random.Random(name)
            chosen = {option: dice.choice(values) for option, values in OPTIONS.items()}
            chosen |= {"budget": Budget(9_000)} if dice.random() < 0.2 else {}
            every = failures(Path(folder) / str(figures["clips"]), dice.randint(0, 3))
            failure = dice.choice([*every])
            store, cap = every[failure]
            _, secret, _ = bench.KINDS["github classic"](dice)
            query = chosen.pop("query")
            text = f"{LOG * dice.randint(0, 2_000)}Error: {secret}\n{LOG * dice.randint(0, 4_000)}{secret}"
            figures["clips"] += 1
            try:
                clipper = Clipper(store=store(), **chosen, **({"cap": cap} if cap else {}))
                clip = clipper.clip(pieces(text, dice) if dice.random() < 0.5 else text, query=query)
            except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
                figures["raised"] += 1
                examples.append((name, failure, chosen, repr(error)))
                continue
            figures["lost"] += clip.outcome == "lost"
            is_open = chosen["redact"] != "off" and any(run in clip.text for run in runs_of(secret, str))
            over = not chosen["limits"].hold(clip.text, clipper.settings.count)
            figures["shown"] += is_open
            figures["over"] += over
            if is_open or over:
                examples.append((name, failure, chosen, "shown" if is_open else "over"))
    return {**figures, "examples": examples[:20]}

"""Deterministic outputs of any size, one for every kind that a selector recognises."""

import base64
import json
import random


def _lines(line, size):
    out, number, total = [], 0, 0
    while total < size:
        out.append(line(number))
        total += len(out[-1])
        number += 1
    return b"".join(out)


def _log(dice, number):
    level = "ERROR" if number % 211 == 77 else "WARN" if number % 97 == 5 else "INFO"
    return b"2026-03-0%d 12:%02d:%02d %s worker-%d request %d took %d ms\n" % (
        number % 9 + 1, number // 60 % 60, number % 60, level.encode(), number % 7, number, dice.randrange(900),
    )  # fmt: skip


def _record(dice, number):
    level = "error" if number % 307 == 11 else "info"
    return {
        "id": number,
        "level": level,
        "msg": f"step {number} of the job",
        "ms": dice.randrange(5_000),
        "tags": ["a", "b"],
    }


def _ndjson(dice, number):
    return json.dumps(_record(dice, number)).encode() + b"\n"


def _long_ndjson(dice, number):
    return json.dumps({**_record(dice, number), "body": "x" * dice.choice((10, 900, 30_000))}).encode() + b"\n"


def _csv(dice, number):
    if number == 0:
        return b"id,name,price,day\n"
    return b"%d,item %d,%d.%02d,2026-01-%02d\n" % (
        number,
        number,
        dice.randrange(99),
        dice.randrange(99),
        number % 28 + 1,
    )


def _diff(dice, number):
    if number % 40 == 0:
        name = b"src/file%d.py" % (number // 40)
        return b"diff --git a/%b b/%b\nindex 1111111..2222222 100644\n--- a/%b\n+++ b/%b\n@@ -1,39 +1,39 @@\n" % (
            (name,) * 4
        )
    return b"%bvalue_%d = compute(%d)\n" % (b" +-"[number % 3 : number % 3 + 1], number, dice.randrange(99))


def _code(dice, number):
    return b"def function_%d(value: int) -> int:\n    # adds\n    return value + %d\n\n\n" % (
        number,
        dice.randrange(99),
    )


def _numbered(dice, number):
    return b"%6d\xe2\x86\x92%b\n" % (number + 1, _code(dice, number).split(b"\n")[number % 3])


def _found(dice, number):
    mark = b":" if number % 4 == 0 else b"-"
    name = b"src/app/part_%d.py" % (number // 60)
    return b"%b%b%d%b    value = compute(%d)\n" % (name, mark, number % 60 + 1, mark, dice.randrange(99))


def _names(dice, number):
    return b"/srv/project/src/pkg_%d/module_%d_%d.py\n" % (number // 40, number, dice.randrange(99))


def _prose(dice, number):
    words = ("the", "quick", "harbor", "lantern", "of", "quiet", "engines", "and", "maps", "in", "a", "drawer")
    return " ".join(dice.choice(words) for _ in range(90)).capitalize().encode() + b".\n\n"


def _trace(dice, number):
    if number % 30 == 29:
        return b"ValueError: number %d is out of range\n\n" % number
    if number % 30 == 0:
        return b"Traceback (most recent call last):\n"
    return b'  File "/srv/app/module_%d.py", line %d, in call_%d\n    step(%d)\n' % (number % 5, number, number, number)


def _dump(dice, number):
    row = bytes(dice.randrange(256) for _ in range(16))
    seen = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
    return f"{number * 16:08x}  {row[:8].hex(' ')}  {row[8:].hex(' ')}  |{seen}|\n".encode()


def _page(dice, number):
    if number == 0:
        return b"### Page\n- Page Title: Orders\n### Snapshot\n```yaml\n- main [ref=e1]:\n"
    return b'  - row "Order %d" [ref=e%d]:\n    - button "Open" [ref=e%d] [cursor=pointer]\n    - cell "%d" [ref=e%d]\n' % (
        number, 3 * number, 3 * number + 1, dice.randrange(999), 3 * number + 2,
    )  # fmt: skip


def _tree(dice, number):
    return b"\t[%d] link 'item %d', clickable, visible\n\t\tStaticText 'costs %d'\n" % (
        number,
        number,
        dice.randrange(99),
    )


def _report(dice, number):
    return b"## Step %d\n\nThe service reads `conf/step_%d.toml` and calls `run_%d()` once. It takes %d seconds.\n\n- It is well.\n\n" % (
        number, number, number, dice.randrange(99),
    )  # fmt: skip


def _wrapped(size, open_with, row, close_with):
    return lambda dice: (
        open_with + _lines(lambda number: row(dice, number), size - len(open_with) - len(close_with)) + close_with
    )


def _elements(dice, number):
    return b"<li class='row'><a href='/item/%d'>item %d</a> costs <b>%d</b></li>\n" % (
        number,
        number,
        dice.randrange(99),
    )


def _array(dice, number):
    return (b"" if number == 0 else b",\n") + json.dumps(_record(dice, number)).encode()


def kinds(size):
    """Return an output of about `size` bytes for every kind, by name."""

    def rows(row):
        return _wrapped(size, b"", row, b"")

    made = {
        "log": rows(_log),
        "NDJSON": rows(_ndjson),
        "long NDJSON": rows(_long_ndjson),
        "JSON": _wrapped(size, b"[", _array, b"]\n"),
        "JSON in one line": lambda dice: json.dumps([_record(dice, number) for number in range(size // 90)]).encode(),
        "a log in JSON": lambda dice: json.dumps(
            {"stdout": rows(_log)(dice).decode("utf-8", "replace"), "exit_code": 2}
        ).encode(),
        "a repr": lambda dice: repr([_record(dice, number) for number in range(size // 90)]).encode(),
        "CSV": rows(_csv),
        "TSV": rows(lambda dice, number: _csv(dice, number).replace(b",", b"\t")),
        "diff": rows(_diff),
        "HTML": _wrapped(size, b"<!doctype html>\n<html><body><ul>\n", _elements, b"</ul></body></html>\n"),
        "XML": _wrapped(size, b"<?xml version='1.0'?>\n<list>\n", _elements, b"</list>\n"),
        "base64": lambda dice: base64.encodebytes(dice.randbytes(size * 3 // 4)),
        "hex": lambda dice: dice.randbytes(size // 2).hex().encode() + b"\n",
        "hex dump": rows(_dump),
        "binary": lambda dice: dice.randbytes(size),
        "code": rows(_code),
        "numbered code": rows(_numbered),
        "search": rows(_found),
        "names of files": rows(_names),
        "prose": rows(_prose),
        "markdown": rows(_report),
        "page": rows(_page),
        "accessibility tree": rows(_tree),
        "repr": lambda dice: repr([_record(dice, number) for number in range(size // 90)]).encode() + b"\n",
        "words above JSON": _wrapped(size, b"Found these:\n\n[", _array, b"]\n"),
        "stack traces": rows(_trace),
        "progress": rows(lambda dice, number: b"\r%3d%% of 100 [%s]" % (number % 101, b"#" * (number % 50))),
        "colors": rows(lambda dice, number: b"\x1b[3%dmline %d\x1b[0m\n" % (number % 8, number)),
        "empty lines": lambda dice: b"\n" * size,
        "one line": lambda dice: b"word " * (size // 5),
    }
    return {name: make(random.Random(name)) for name, make in made.items()}

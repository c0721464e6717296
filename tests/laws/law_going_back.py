"""Read a stored output as a model does: make the call each answer ends with, until an answer has no next call."""

import ast
import re
import shlex

#: The three ways in which an answer can name its next call, by hint.
WAYS_BACK = ("cli", "tools", ())
#: Each answer must make progress, so this many are never needed.
MANY = 100_000

_PLAIN = re.compile(r"(?:line (\d+), columns|lines|bytes|from line) ([\d:]+)")


def next_call(answer):
    """Return the arguments of the call an answer ends with; None at the end of the output."""
    footer = answer.rpartition("\n")[2]
    assert footer.startswith("["), footer
    assert footer.endswith("]"), footer
    _, found, call = footer[:-1].partition("Next: ")
    if not found:
        return None
    if call.startswith("spill "):
        return _from_shell(call)
    if "_output(" in call:
        return {word.arg: ast.literal_eval(word.value) for word in ast.parse(call, mode="eval").body.keywords}
    line, span = _PLAIN.fullmatch(call).groups()
    if call.startswith("from line"):
        return {"start": span}
    return {"lines": line, "columns": span} if line else {call.split()[0]: span}


def _from_shell(call):
    words = shlex.split(call)
    if words[1] == "grep":
        return {"start": words[words.index("--from") + 1]}
    for option in ("--bytes", "--columns"):
        if option in words:
            asked = {option[2:]: words[words.index(option) + 1]}
            return asked | ({"lines": words[3]} if option == "--columns" else {})
    return {"lines": words[3]}


def follow(ask, **first):
    """Yield every answer, up to the one that names no next call."""
    asked = first
    for _ in range(MANY):
        answer = ask(**asked)
        yield asked, answer.text
        going_on = next_call(answer.text)
        if going_on is None:
            return
        assert going_on != asked, "an answer without progress"
        asked = going_on
    raise AssertionError("no end")

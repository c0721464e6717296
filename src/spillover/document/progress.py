"""Lines that were written over: frames of a progress bar are folded to the last, everything else is shown as rows.

A carriage return starts a line again. What stood there is a frame when it shows how far something has come and what
replaces it says the same, or more, with other figures; when nothing but a spinner differs; or when it is a drawn bar
(`[===>   ]`), whatever comes next. So is what the program itself erased (a carriage return and `ESC [K`), unless it
tells of trouble. Then it is left out, and counted. Anything else is shown as a row of its own: a log that has carriage
returns for line ends is not a progress bar.

No pattern sees the text: every step passes over a state once, or over a bounded part of it, so the time is linear.
"""

from __future__ import annotations

#: Box drawing, blocks, geometric shapes and braille: what bars and spinners are drawn with.
_DRAWN = (*range(0x2500, 0x2600), *range(0x2800, 0x2900))
_DRAWN_CHARS = frozenset(map(chr, _DRAWN))
#: All that is neither letter nor digit separates words; in a frame it is a bar, a spinner or padding.
_BETWEEN = (*(code for code in range(128) if not chr(code).isalnum()), *_DRAWN, 0xA0, 0xB7, 0x2022, 0x2026)
_TO_WORDS = dict.fromkeys((*_BETWEEN, *range(0x30, 0x3A)), " ")
_TO_FIGURES = dict.fromkeys(_BETWEEN, " ")
#: Without all of it, states of one bar are equal; carriage returns stay, so that a whole line is brought down at once.
_TO_KEYS: dict[int, None] = {code: None for code in _TO_WORDS if code != 0x0D}
#: Words that come and go with the figures of one bar.
_UNIT_WORDS = (
    "B b kB KB MB GB TB KiB MiB GiB TiB kb Mb Gb k K M G T Ki Mi Gi kbit kbits Mbit Mbits bit bits byte bytes bps "
    "s ms us ns m h d x it its sec secs min mins hr hrs second seconds minute minutes hour hours eta ETA"
)
_UNITS = frozenset(_UNIT_WORDS.split())
#: What a bar in brackets consists of, its least and greatest length in characters, and how many brackets are tried.
_IN_BAR = "=#>-.*+~_ \t:oO" + "".join(map(chr, range(0x2500, 0x2600))) + "⣿⣀"
_MIN_BAR = 6
_MAX_BAR = 400
_TRIES = 8
_BRACKETS = (("[", "]"), ("|", "|"), ("(", ")"), ("<", ">"))
#: Characters beside the sign of a share ("3/20") that are read as its numbers.
_NEAR_CHARS = 16
#: What is never folded away, though it stands beside a bar.
_TROUBLE_TEXT = (
    "error errors fail fails failed failure failures failing fatal warn warning warnings panic panicked abort "
    "aborted denied refused cannot exception traceback invalid killed"
)
_TROUBLE = frozenset(_TROUBLE_TEXT.split())
_PUNCTUATION = ".,:;!?()[]{}<>\"'`*-"
#: The figures of curl have no words: three clocks, and their colons.
_CLOCKS = 6


def fold(text: str, *, flat: bool = False, erased: str = "\x18") -> tuple[str, int]:
    """Return the text without carriage returns, and how many frames are left out of it.

    Rows become lines. `flat`: a line stays one line, of its last row and the rows that report trouble. `erased` begins
    a state before which the line was erased.
    """
    pieces: list[str] = []
    position = frames = 0
    while (at := text.find("\r", position)) >= 0:
        start = text.rfind("\n", position, at) + 1 or position
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[start:end]
        if erased in line:
            line, count = _erase(line, erased)
            frames += count
        rows, count = _rows(line)
        frames += count
        if flat:
            rows = [" ".join([*filter(_is_trouble, rows[:-1]), rows[-1]])]
        pieces += (text[position:start], "\n".join(rows))
        position = end
    pieces.append(text[position:])
    return "".join(pieces), frames


def _erase(line: str, erased: str) -> tuple[str, int]:
    """Return a line without the states that were erased, and how many there were. Bad news stays."""
    states: list[str] = []
    count = 0
    for state in line.split("\r"):
        if state.startswith(erased):
            while states and _is_blank(states[-1]):
                states.pop()
            if states and not _is_trouble(states[-1]):
                states.pop()
                count += 1
        states.append(state.replace(erased, ""))
    return "\r".join(states), count


def _rows(line: str) -> tuple[list[str], int]:
    """Return the states of a line that are shown, and how many are not. Blanks alone are no state."""
    keys = line.translate(_TO_KEYS).split("\r")
    states = [pair for pair in zip(line.split("\r"), keys, strict=True) if not _is_blank(pair[0])]
    if len(states) < 2:
        return [states[0][0] if states else line.rstrip("\r").rpartition("\r")[2]], 0
    rows: list[str] = []
    before, key_before = states[0]
    in_bar = False
    for state, key in states[1:]:
        if state == before:
            continue  # written again as it was
        if not (in_bar and key == key_before):
            in_bar = _is_next_frame(before, state, same_key=key == key_before)
            if not in_bar and not _is_bar(before) and not (key == key_before and _figures(before) == _figures(state)):
                rows.append(before)
        before, key_before = state, key
    rows.append(before)
    return rows, len(states) - len(rows)


def _is_blank(state: str) -> bool:
    return not state or state.isspace() or not state.strip("\b \t")


def _is_next_frame(before: str, after: str, *, same_key: bool) -> bool:
    """Return whether both show how far one thing has come: `after` says what `before` says, or more."""
    if not (_is_progress(before) or _is_progress(after)):
        return False
    if same_key:
        return True
    old, new = _words(before), _words(after)
    return new[: len(old)] == old if old else not new or _is_progress(after)


def _is_bar(state: str) -> bool:
    """Return whether a state is a bar, which is a frame whatever replaces it, unless it tells of trouble."""
    return _bar_end(state) is not None and not _is_trouble(state)


def _is_trouble(state: str) -> bool:
    return any(word.strip(_PUNCTUATION) in _TROUBLE for word in state.lower().split())


def _figures(state: str) -> list[str]:
    """Return all words, those of digits too: where these are equal, only spinners and blanks differ."""
    return state.translate(_TO_FIGURES).split()


def _words(state: str) -> list[str]:
    """Return the words of a state, apart from figures and their units."""
    return [word for word in state.replace("N/A", " ").translate(_TO_WORDS).split() if word not in _UNITS]


def _is_progress(state: str) -> bool:
    """Return whether a state shows how far something has come.

    It has a percentage, a share of a total, a rate, a time left, a bar, or is a bare count.
    """
    if state.isalpha() and state.isascii():
        return state in ("eta", "ETA")
    percent = state.find("%")
    if percent > 0 and (state[percent - 1].isdigit() or state[percent - 1] == " "):
        return True
    if "--:--" in state or "===" in state or "###" in state or _has_share(state) or _bar_end(state) is not None:
        return True
    if not state.isascii() and not _DRAWN_CHARS.isdisjoint(state):
        return True
    words = state.translate(_TO_WORDS).split()
    if not words:
        return state.strip().isdecimal() or state.count(":") >= _CLOCKS
    return "eta" in words or "ETA" in words or (state.count(":") >= _CLOCKS and not _words(state))


def _has_share(state: str) -> bool:
    """Return whether it says "3/20", "1.2 MB/3.4 MB", "3 of 20" or "5 MB/s". A date is none of these, nor is a path."""
    for mark in ("/", " of "):
        at = state.find(mark)
        for _ in range(_TRIES):
            if at < 0:
                break
            end = at + len(mark)
            before, behind = state[max(0, at - _NEAR_CHARS) : at].rstrip(), state[end : end + _NEAR_CHARS].lstrip()
            if mark == "/" and before[-1:].isalpha() and behind[:1] == "s" and not behind[1:2].isalnum():
                return True
            number = before.rstrip("kKMGTiBb").rstrip()
            outside = number.rstrip("0123456789.,")[-1:], behind.lstrip("0123456789.,")[:1]
            if number[-1:].isdigit() and behind[:1].isdigit() and "/" not in outside and not outside[0].isalpha():
                return True
            at = state.find(mark, end)
    return False


def _bar_end(state: str) -> int | None:
    """Return where a bar in brackets ends: `[=====>    ]`, `|██▌   |`."""
    for opens, closes in _BRACKETS:
        at = state.find(opens)
        for _ in range(_TRIES):
            if at < 0:
                break
            end = state.find(closes, at + 1, at + _MAX_BAR)
            if end - at > _MIN_BAR and not state[at + 1 : end].strip(_IN_BAR):
                return end + 1
            at = state.find(opens, at + 1)
    return None

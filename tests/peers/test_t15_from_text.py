"""t15 against its report, written again from the text alone: 5,000 outputs in three wordings, and what the page says of the rest."""

from dataclasses import dataclass
from functools import cached_property

import pytest
from from_text import codepoints, outputs, utf16
from from_text import t15 as document
from from_text.compared import (
    Difference,
    check_the_page,
    compare,
    first_bytes,
    human_lines,
    last_bytes,
)

from spillover import Limits, MemoryStore, profiles

t15 = profiles.t15


@dataclass(frozen=True)
class Case:
    style: str
    text: str
    max_lines: int
    max_bytes: int
    direction: str

    @cached_property
    def kept(self):
        """What the report's code keeps, if it comes to that."""
        return document.keep(self.text, self.direction, self.max_lines)

    @cached_property
    def size(self):
        return len(self.text.encode())

    @cached_property
    def units(self):
        return utf16.length(self.text)


def cases(count, seed):
    random = outputs.seeded(seed)
    for _ in range(count):
        if random.random() < 0.2:
            text = outputs.output(random, 5, 1_000)
            yield Case("generic", text, 0, 1_000, "tail")
            continue
        max_lines, max_bytes = random.randint(1, 8), random.choice((60, 200, 400, random.randint(8, 60)))
        text = outputs.output(random, max_lines, min(max_bytes, 60))
        yield Case(random.choice(("block", "recipe")), text, max_lines, max_bytes, random.choice(("head", "tail")))


def fits(case):
    """Whether it fits by the page: lines as a person counts them, and bytes; characters where those are the limit."""
    if case.style == "generic":
        return len(case.text) <= case.max_bytes
    return len(human_lines(case.text)) <= case.max_lines and case.size <= case.max_bytes


def final_newline(case):
    """All of its lines fit, and with the one that a final newline opens they do not."""
    if case.style == "generic" or not case.text.endswith("\n"):
        return False
    return case.text.count("\n") == case.max_lines and case.size <= case.max_bytes


def units_called_bytes(case):
    return case.units != case.size


def cut_by_lines_alone(case):
    return case.style != "generic" and not fits(case) and len(case.kept.encode()) > case.max_bytes


def nothing_kept(case):
    """The only element that is kept is the empty one behind a final newline, or an empty first line."""
    return case.style != "generic" and not fits(case) and case.kept == "" and case.text != ""


def first_called_last(case):
    return case.style == "block" and case.direction == "head"


def lines_kept(case):
    """Other than so many lines are there, or are shown."""
    return case.style == "recipe"


DIFFERENCES = {
    "cut_by_lines_alone": Difference("then cuts by lines alone", cut_by_lines_alone),
    "units_called_bytes": Difference("which is UTF-16 units, is called bytes", units_called_bytes),
    "final_newline": Difference("2,000 lines and a final newline are 2,001", final_newline),
    "nothing_kept": Difference("an empty preview", nothing_kept),
    "first_called_last": Difference("`truncated to last 2000 lines` for the first ones too", first_called_last),
    "lines_kept": Difference("however many there are", lines_kept),
}


def theirs(case, path):
    if case.style == "generic":
        text = document.generic(case.text, path, max_bytes=case.max_bytes)
    else:
        limits = {"max_lines": case.max_lines, "max_bytes": case.max_bytes}
        text = getattr(document, case.style)(case.text, path, direction=case.direction, **limits)
    return case.text if text is None else text


def by_the_page(case, path, causes):
    """Return the report's text with some of its steps done as the page says."""
    in_bytes = "units_called_bytes" in causes
    size = case.size if in_bytes else case.units
    if case.style == "generic":
        units = codepoints if in_bytes else utf16
        if units.length(case.text) <= case.max_bytes:
            return case.text
        return units.part(case.text, -case.max_bytes) + document.generic_notice(path, size, case.max_bytes)
    lines = case.text.count("\n") + ("final_newline" not in causes)
    if lines <= case.max_lines and size <= case.max_bytes:
        return case.text
    kept = case.kept
    if "nothing_kept" in causes:
        whole = human_lines(case.text)
        kept = "".join(whole[: case.max_lines] if case.direction == "head" else whole[-case.max_lines :])
    if causes & {"cut_by_lines_alone", "nothing_kept"}:
        kept = within(kept, case.max_bytes, case.direction)
    if case.style == "block":
        which = "first" if "first_called_last" in causes else "last"
        return kept + document.block_notice(path, case.max_lines, case.max_bytes, which)
    shown = kept.count("\n") + 1 if "lines_kept" in causes else case.max_lines
    return kept + document.recipe_notice(path, case.text.count("\n") + 1, shown, case.direction, size)


def within(text, size, direction):
    """Return the lines at that end that fit, newlines between them; of one line that does not fit, the part that does."""
    lines = text.split("\n")
    if direction == "tail":
        lines.reverse()
    kept, used = [], -1
    for line in lines:
        used += len(line.encode()) + 1
        if used > size:
            break
        kept.append(line)
    if not any(kept) and len(kept) < len(lines):
        return first_bytes(text, size) if direction == "head" else last_bytes(text, size)
    return "\n".join(kept if direction == "head" else kept[::-1])


def test_its_three_wordings_on_5_000_texts():
    store = MemoryStore()

    def ours(case):
        limits = (
            {"chars": case.max_bytes} if case.style == "generic" else {"lines": case.max_lines, "bytes": case.max_bytes}
        )
        clipper = t15.clipper(notice_style=case.style, keep=case.direction, limits=Limits(**limits), store=store)
        clip = clipper.clip(case.text, tool="bash", call_id="call_1")
        return clip.text, clip.ref

    tally = compare(
        "t15", cases(5_000, 15), ours, theirs, by_the_page, DIFFERENCES, whole=lambda case, result: result == case.text
    )
    assert tally.cut > 500


@pytest.mark.parametrize("text", outputs.near_limits(document.MAX_LINES, document.MAX_BYTES), ids=outputs.NEAR)
@pytest.mark.parametrize("style", ["block", "recipe", "generic"])
def test_its_own_numbers(tmp_path, text, style):
    clip = t15.clipper(notice_style=style, folder=str(tmp_path)).clip(text)
    case = Case(style, text, document.MAX_LINES, document.MAX_BYTES, "tail")
    causes = {name for name, difference in DIFFERENCES.items() if difference.cause(case)}
    assert clip.text == by_the_page(case, clip.path, causes)
    assert causes <= {"cut_by_lines_alone", "lines_kept"}


def test_its_files_have_the_names_of_the_report(tmp_path):
    for style in ("block", "recipe", "generic"):
        clipper = t15.clipper(notice_style=style, folder=str(tmp_path / style))
        clip = clipper.clip("x" * 50_001 + "\n", tool="npm", call_id="call_7")
        name = document.file_name("npm", "call_7", generic=style == "generic")
        assert clip.path == str(tmp_path / style / name)
        assert (tmp_path / style / name).read_text() == "x" * 50_001 + "\n"


#: Rows that no text can show, and where they are tested.
ELSEWHERE = {
    "without a call id": "profiles/test_t15.py",
    "a folder in `/tmp`": "profiles/test_t15.py",
    "no cleaning up": "profiles/test_t15.py",
    "no limits or direction for one tool": "profiles/test_t15.py",
    "warns of `ls -R` and `find`": "profiles/test_t15_commands.py",
    "a warning, or the way to the file": "profiles/test_t15_commands.py",
}


def test_the_page_has_these_differences_and_says_of_the_others_why_not():
    check_the_page("t15", DIFFERENCES, ELSEWHERE)

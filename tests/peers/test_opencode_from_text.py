"""opencode against its document, written again from the text alone: 5,000 outputs, and what the page says of the rest."""

import os
import time
from dataclasses import dataclass
from functools import cached_property

import pytest
from from_text import codepoints, outputs, utf16
from from_text import opencode as document
from from_text.compared import (
    Difference,
    check_the_page,
    compare,
    first_bytes,
    human_lines,
    last_bytes,
)

from spillover import MemoryStore, UsageError, profiles
from spillover.testing import FailingStore

opencode = profiles.opencode
DAY_MS = 24 * 60 * 60 * 1_000
FULL = "No space left on device"
AGENTS = {True: [{"permission": "task", "pattern": "*", "action": "allow"}], False: None}


@dataclass(frozen=True)
class Case:
    text: str
    max_lines: int
    max_bytes: int
    direction: str
    has_task_tool: bool
    disk_is_full: bool

    @cached_property
    def cut(self):
        return document.collect(self.text, self.max_lines, self.max_bytes, self.direction)


def cases(count, seed):
    random = outputs.seeded(seed)
    for _ in range(count):
        max_lines, max_bytes = (
            random.randint(1, 8),
            random.choice((20, 60, 200, 200, random.randint(1, 60), random.randint(1, 3))),
        )
        if random.random() < 0.01:
            max_lines, max_bytes = random.choice(((0, max_bytes), (max_lines, 0)))
        text = outputs.output(random, max_lines, min(max_bytes, 60))
        agent, full = random.random() < 0.3, random.random() < 0.05
        yield Case(text, max_lines, max_bytes, random.choice(("head", "tail")), agent, full)


def limit_of_zero(case):
    return 0 in (case.max_lines, case.max_bytes)


def final_newline(case):
    fits = len(human_lines(case.text)) <= case.max_lines and document.byte_length(case.text) <= case.max_bytes
    return fits and case.cut is not None and not limit_of_zero(case)


def empty_preview(case):
    """Nothing is shown, or nothing but blank lines because the next one is too long."""
    cut = case.cut
    if cut is None or final_newline(case):
        return False
    return cut.preview == "" or (cut.unit == "bytes" and not cut.preview.strip("\n"))


def disk_is_full(case):
    return case.disk_is_full and case.cut is not None and not final_newline(case) and not limit_of_zero(case)


DIFFERENCES = {
    "disk_is_full": Difference("a full disk", disk_is_full),
    "limit_of_zero": Difference("`maxLines: 0` and `maxBytes: 0`", limit_of_zero),
    "empty_preview": Difference("an empty preview", empty_preview),
    "final_newline": Difference("a final newline is one more line", final_newline),
}


def by_the_page(case, path, causes):
    cut = case.cut
    if "limit_of_zero" in causes:
        return "refused"
    if "final_newline" in causes:
        return {"content": case.text, "truncated": False}
    if "empty_preview" in causes:
        cut = _something(case)
    if cut is None:
        return {"content": case.text, "truncated": False}
    told = document.hint(path, case.has_task_tool)
    if "disk_is_full" in causes:
        told = f"{told.partition(' Full output')[0]} Full output not kept: {FULL}."
        return {"content": document.message(cut, case.direction, told), "truncated": True}
    if case.disk_is_full:
        return "the call fails"
    return {"content": document.message(cut, case.direction, told), "truncated": True, "outputPath": path}


def _something(case):
    """Return the lines that a person would count, or as much of them as fits, and what is missing then."""
    lines = human_lines(case.text)
    if case.direction == "head":
        whole = "".join(lines[: case.max_lines])
        part = first_bytes(whole, case.max_bytes)
    else:
        whole = "".join(lines[-case.max_lines :])
        part = last_bytes(whole, case.max_bytes)
    removed = case.text.count("\n") - part.count("\n")
    if part == whole and removed:
        return document.Cut(part, removed, "lines")
    return document.Cut(part, document.byte_length(case.text) - document.byte_length(part), "bytes")


def test_its_output_on_5_000_texts():
    stores = {False: MemoryStore(), True: FailingStore(MemoryStore(), reason=FULL)}
    clippers = {
        (task, full): opencode.clipper(store=store, permission=rules)
        for task, rules in AGENTS.items()
        for full, store in stores.items()
    }

    def ours(case):
        limits = {"max_lines": case.max_lines, "max_bytes": case.max_bytes, "direction": case.direction}
        try:
            result = opencode.output(case.text, clippers[case.has_task_tool, case.disk_is_full], **limits)
        except UsageError:
            return "refused", "PATH"
        _, saved, path = result["content"].partition("saved to: ")
        path = path.partition("\n")[0]  # a store without files says its own name
        return result | ({"outputPath": path} if saved and result["truncated"] else {}), path

    def theirs(case, path):
        limits = {"max_lines": case.max_lines, "max_bytes": case.max_bytes, "direction": case.direction}
        if case.cut is not None and case.disk_is_full:
            return "the call fails"
        return document.output(case.text, path, has_task_tool=case.has_task_tool, **limits)

    tally = compare(
        "opencode",
        cases(5_000, 10),
        ours,
        theirs,
        by_the_page,
        DIFFERENCES,
        whole=lambda case, result: not result["truncated"],
    )
    assert tally.cut > 1_000


def test_its_file_holds_the_output(tmp_path):
    clipper = opencode.clipper(folder=str(tmp_path))
    text = "x\r\n" * 2_001
    result = opencode.output(text, clipper)
    path = tmp_path / result["outputPath"]
    assert result == document.output(text, str(path))
    assert (path.parent, path.name[:5], path.read_bytes()) == (tmp_path, "tool_", text.encode())


@pytest.mark.parametrize("text", outputs.near_limits(document.MAX_LINES, document.MAX_BYTES), ids=outputs.NEAR)
def test_its_own_numbers(tmp_path, text):
    result = opencode.output(text, opencode.clipper(folder=str(tmp_path)))
    assert result == document.output(text, result.get("outputPath"))


@pytest.mark.parametrize("metadata", [{}, {"exit": 0}, {"truncated": False}, {"truncated": True}])
@pytest.mark.parametrize("output", ["ok", "x\n" * 3_000])
def test_a_result_is_settled_as_tool_define_does(tmp_path, metadata, output):
    given = {"title": "a", "output": output, "metadata": metadata}
    result = opencode.settle(given, opencode.clipper(folder=str(tmp_path)))
    assert result == document.settle(given, result["metadata"].get("outputPath"))


@dataclass(frozen=True)
class Page:
    """What Read is asked for; how a file becomes lines the document leaves open."""

    lines: tuple[str, ...]
    offset: int
    limit: int

    def __str__(self):
        return (
            f"{len(self.lines)} lines, offset {self.offset}, limit {self.limit}: {str(self.lines[self.offset :])[:200]}"
        )


def pages(count, seed):
    random = outputs.seeded(seed)
    printable = {ord(char): None for char in "\x00\x0b\x0c\r\n"}  # or it is taken for a binary file
    for _ in range(count):
        if random.random() < 0.08:
            lines = random.choices(("", "a", "é", "😀"), k=outputs.around(random, 2_000))
            yield Page(
                tuple(lines),
                random.randint(0, min(len(lines), 4) - 1) if lines else 0,
                random.choice((2_000, 2_001, 9_999)),
            )
            continue
        lines = [outputs.word(random, 8).translate(printable) for _ in range(random.randint(0, 30))]
        for _ in range(random.choice((0, 1, 1, 28))):
            long = outputs.long_line(random, outputs.around(random, 2_000)).translate(printable)
            lines.insert(random.randint(0, len(lines)), long)
        yield Page(tuple(lines), random.randint(0, max(len(lines) - 1, 0)), random.choice((2_000, 5, 30)))


def half_a_character(page):
    return any(char > "\uffff" for line in page.lines for char in line)


def more_than_2000_lines(page):
    return page.limit > document.DEFAULT_READ_LIMIT


READ = {
    "half_a_character": Difference("Read: 2,000 UTF-16 units", half_a_character),
    "more_than_2000_lines": Difference("Read: any `limit`", more_than_2000_lines),
}


def read_by_the_page(page, given, causes):
    limit = min(page.limit, document.DEFAULT_READ_LIMIT) if "more_than_2000_lines" in causes else page.limit
    units = codepoints if "half_a_character" in causes else utf16
    shown, truncated = document.read_lines(page.lines, page.offset, limit, units)
    numbered = (f"{number}: {line}" for number, line in enumerate(shown, page.offset + 1))  # [facts] the numbers
    return "\n".join(numbered), truncated


def test_its_read_on_1_000_files(tmp_path):
    file = tmp_path / "file.txt"

    def ours(page):
        file.write_bytes("".join(f"{line}\n" for line in page.lines).encode())
        result = opencode.read(file, page.offset, page.limit)
        return (
            result["output"].partition("<content>\n")[2].rpartition("\n\n(")[0],
            result["metadata"]["truncated"],
        ), None

    def theirs(page, given):
        return read_by_the_page(page, given, frozenset())

    tally = compare(
        "opencode, Read",
        pages(1_000, 100),
        ours,
        theirs,
        read_by_the_page,
        READ,
        whole=lambda page, result: not result[1],
    )
    assert tally.cut > 150


def half_an_emoji(text):
    return any(char > "\uffff" for char in text)


BASH = {"half_an_emoji": Difference("Bash: 30,000 UTF-16 units", half_an_emoji)}


def test_what_a_person_sees_of_300_commands():
    random = outputs.seeded(30)
    texts = [outputs.long_line(random, outputs.around(random, 30_000)) for _ in range(300)]
    tally = compare(
        "opencode, Bash",
        texts,
        lambda text: (opencode.live(text), None),
        lambda text, given: document.bash_metadata(text),
        lambda text, given, causes: document.bash_metadata(text, codepoints if causes else utf16),
        BASH,
        whole=lambda text, result: text == result,
    )
    assert tally.cut > 50


@dataclass(frozen=True)
class Folder:
    """Files by name and by how many days ago they were written, as the id has it too."""

    now: int
    days: dict[str, float]


def folders(count, seed):
    random = outputs.seeded(seed)
    now = int(time.time() * 1_000)
    for _ in range(count):
        days = {}
        for number in range(5):
            age = random.choice((0, 1, 6.9, 7.1, 10, random.uniform(0, 20), random.uniform(100, 1_000)))
            written = identifier(now - age * DAY_MS, f"{number:014d}")
            days[random.choice([written] * 18 + [f"tool_notes{number}.txt", f"notes_{number}"])] = age
        yield Folder(now, days)


def identifier(milliseconds, end):
    return document.identifier(int(milliseconds), end)


def time_starts_anew(folder):
    """A name says another time than that of its file."""
    times = {name: document.timestamp(name) for name in folder.days}
    cutoff = document.timestamp(identifier(folder.now - document.RETENTION_MS, ""))
    return any(
        said is not None and (said >= cutoff) != (folder.days[name] * DAY_MS <= document.RETENTION_MS)
        for name, said in times.items()
    )


def written_by_a_person(folder):
    return any(name.startswith("tool_notes") for name in folder.days)


CLEANUP = {
    "time_starts_anew": Difference("age is read from the id", time_starts_anew),
    "written_by_a_person": Difference("every `tool_*` that is old goes", written_by_a_person),
}


def swept_by_the_page(folder, given, causes):
    kept = document.cleanup(folder.days, folder.now)
    if "time_starts_anew" in causes:
        old = {name for name, age in folder.days.items() if age * DAY_MS > document.RETENTION_MS}
        stays = {name for name in folder.days if not name.startswith("tool_") or name not in old}
        kept = {name for name in stays if document.timestamp(name) is not None or not name.startswith("tool_")}
    if "written_by_a_person" in causes:
        kept |= {name for name in folder.days if name.startswith("tool_notes")}
    return kept


def test_its_cleanup_of_100_folders(tmp_path):
    def ours(folder):
        where = tmp_path / str(len(list(tmp_path.iterdir())))
        where.mkdir(mode=0o700)
        for name, age in folder.days.items():
            (where / name).write_text("an output")
            written = (folder.now - age * DAY_MS) / 1_000
            os.utime(where / name, (written, written))
        saved = opencode.output("x" * 60_000, opencode.clipper(folder=str(where)))["outputPath"]
        return {file.name for file in where.iterdir() if str(file) != saved and not file.name.startswith(".")}, None

    def theirs(folder, given):
        return document.cleanup(folder.days, folder.now)

    compare("opencode, cleanup", folders(100, 7), ours, theirs, swept_by_the_page, CLEANUP)


#: Rows that no text can show, and where they are tested.
ELSEWHERE = {
    "only `head` and `tail`": "profiles/test_opencode.py",
    "fourteen random characters": "profiles/test_opencode_files.py",
    "a file for each call": "profiles/test_opencode_files.py",
    "a symlink in the place": "profiles/test_opencode_files.py",
    "errors are not bounded": "profiles/test_opencode.py",
    "compaction keeps": "profiles/test_opencode.py",
    "Read: a lone carriage return": "peers/test_opencode_tools.py",
    "Read: a pipe or a device": "peers/test_opencode_tools.py",
}


def test_the_page_has_these_differences_and_says_of_the_others_why_not():
    check_the_page("opencode", DIFFERENCES | READ | BASH | CLEANUP, ELSEWHERE)

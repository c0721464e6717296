"""daycare against its document, written again from the text alone: 5,000 inputs of all its paths, and what the page says of the rest."""

from dataclasses import dataclass

from from_text import codepoints, outputs, utf16
from from_text import daycare as document
from from_text.compared import Difference, check_the_page, compare

from spillover import Limits, MemoryStore, profiles

daycare = profiles.daycare
LIMIT = 8_000
#: What all texts of a result may show together, and a command's two streams with all that is around them.
TOTAL, EXEC = 16_000, 17_024


@dataclass(frozen=True)
class Case:
    path: str
    texts: tuple[str, ...]
    limit: int = LIMIT
    source: str = ""

    def __str__(self):
        return f"{self.path} {[len(text) for text in self.texts]} {self.limit} {self.source!r} {[text[:80] for text in self.texts]}"


def cases(seed):
    random = outputs.seeded(seed)
    for path, count in {"tail": 900, "head_tail": 900, "head": 700, "clip": 700, "placed": 300}.items():
        for _ in range(count):
            limit = random.randint(1 if path in ("clip", "placed") else 0, 30)
            yield Case(path, (outputs.output(random, 4, limit),), limit, random.choice(("", "stdout", "output")))
    for path, count in {
        "blocks": 450,
        "exec_json": 350,
        "exec_text": 250,
        "exec_net": 150,
        "rlm": 200,
        "rlm_net": 150,
    }.items():
        for _ in range(count):
            number = random.randint(1, 4) if path == "blocks" else 2
            size = TOTAL if path == "rlm_net" else LIMIT
            yield Case(path, tuple(large(random, size) for _ in range(number)))


def large(random, limit):
    """A text of about so many characters, or a small one."""
    if random.random() < 0.2:
        return outputs.output(random, 5, 40)
    size = random.choice((outputs.around(random, limit), limit // 2))
    start = outputs.lines(random, random.randint(1, 6), 20)
    return outputs.fit(start + outputs.long_line(random, max(size - len(start), 0)), size)


def units_of(causes):
    return codepoints if "utf16_units" in causes else utf16


def utf16_units(case):
    return any(char > "\uffff" for text in case.texts for char in text)


def no_bound_for_all(case):
    return case.path == "blocks" and sum(min(len(text), LIMIT) for text in case.texts) > TOTAL


def escapes(case):
    """JSON writes the streams with so many characters more that they are above the bound."""
    if case.path not in ("exec_json", "exec_net"):
        return False
    return len(document.exec_json(document.exec_streams(*case.texts, units=codepoints))) > EXEC


def streams_cut_again(case):
    return case.path == "exec_net" and len(made(case, frozenset({"utf16_units", "escapes"}))) > LIMIT


def python_cut_again(case):
    return case.path == "rlm_net" and len(case.texts[0]) > LIMIT


def size_of_one_text(case):
    if case.path == "blocks":
        return len(case.texts) == 1
    return case.path in ("clip", "placed")


def what_is_cut_is_gone(case):
    return case.path == "placed" and len(case.texts[0]) > case.limit


DIFFERENCES = {
    "what_is_cut_is_gone": Difference("what is cut is gone", what_is_cut_is_gone),
    "size_of_one_text": Difference("for a result with one text", size_of_one_text),
    "utf16_units": Difference("UTF-16 units", utf16_units),
    "no_bound_for_all": Difference("without a bound for all", no_bound_for_all),
    "streams_cut_again": Difference("two streams of 8,000 in JSON, then cut", streams_cut_again),
    "escapes": Difference("JSON escapes make a stream longer", escapes),
    "python_cut_again": Difference("a Python result of 16,000, then cut", python_cut_again),
}


def made(case, causes):
    """Return the streams as JSON, all of them or as much as there is room for."""
    units, room = units_of(causes), LIMIT
    if "escapes" in causes:
        low = 1
        while low < room:
            middle = (low + room + 1) // 2
            streams = document.exec_streams(*case.texts, limit=middle, units=units)
            low, room = (middle, room) if len(document.exec_json(streams)) <= EXEC else (low, middle - 1)
    return document.exec_json(document.exec_streams(*case.texts, limit=room, units=units))


def shares(sizes):
    """Return what each text may show: small ones all, the others the same of what is left."""
    given, room, left = dict.fromkeys(range(len(sizes)), LIMIT), TOTAL, list(range(len(sizes)))
    while small := [number for number in left if min(sizes[number], LIMIT) * len(left) <= room]:
        room -= sum(min(sizes[number], LIMIT) for number in small)
        left = [number for number in left if number not in small]
    for place, number in enumerate(left):
        given[number] = room * (place + 1) // len(left) - room * place // len(left)
    return list(given.values())


def one_source(text, units, causes):
    return f"output ({units.length(text):,} chars total)" if "size_of_one_text" in causes else "output"


def by_the_page(case, ref, causes):
    """Return the document's text with some of its steps done as the page says; without causes, the document's own."""
    units, text = units_of(causes), case.texts[0]
    match case.path:
        case "tail":
            return document.string_truncate_tail(text, case.limit, case.source, units)
        case "head_tail":
            return document.string_truncate_head_tail(text, case.limit, case.source, units)
        case "head":
            return document.string_truncate(text, case.limit, units)
        case "clip" | "placed":
            source = one_source(text, units, causes)
            if "what_is_cut_is_gone" in causes:
                source += f"; full output: {ref}"
            return document.string_truncate_tail(text, case.limit, source, units)
        case "blocks":
            if len(case.texts) == 1:
                return [document.string_truncate_tail(text, LIMIT, one_source(text, units, causes), units)]
            limits = shares([units.length(text) for text in case.texts]) if "no_bound_for_all" in causes else None
            return document.tool_result_truncate(case.texts, units, limits)
        case "exec_json":
            return made(case, causes)
        case "exec_text":
            return document.exec_text(document.exec_streams(*case.texts, units=units))
        case "exec_net":
            text = made(case, causes)
            return text if "streams_cut_again" in causes else document.one_text(text, units=units)
        case "rlm":
            return document.rlm_result_text(case.texts[:1], case.texts[1], 3, units)
        case "rlm_net":
            text = document.rlm_tool_result(text, units)
            return text if "python_cut_again" in causes else document.one_text(text, units=units)


def theirs(case, ref):
    return by_the_page(case, ref, frozenset())


def test_all_its_paths_on_5_000_inputs():
    by = daycare.clipper(store=MemoryStore())
    whole = MemoryStore()

    def net(message):
        return daycare.tool_result(message, by=by)["content"][0]["text"]

    def ours(case):
        text = case.texts[0]
        source = (case.source,) if case.source else ()
        match case.path:
            case "tail":
                return daycare.tail(text, case.limit, *source), None
            case "head_tail":
                return daycare.head_tail(text, case.limit, *source), None
            case "head":
                return daycare.head(text, case.limit), None
            case "clip" | "placed":
                cut = daycare.clipper(store=whole, place=case.path == "placed", limits=Limits(chars=case.limit))
                clip = cut.clip(text)
                return clip.text, clip.ref
            case "blocks":
                blocks = [{"type": "text", "text": text} for text in case.texts]
                picture = {"type": "image", "data": "AAAA"}
                *result, last = daycare.tool_result([*blocks, picture], by=by)
                assert last is picture
                return [block["text"] for block in result], None
            case "exec_json":
                return str(daycare.exec_output(*case.texts, as_json=True, by=by)), None
            case "exec_text":
                streams = str(daycare.exec_output(*case.texts, by=by))
                return "" if streams == "Command completed with no output." else streams, None
            case "exec_net":
                streams = str(daycare.exec_output(*case.texts, as_json=True, by=by))
                return net({"toolName": "exec", "content": [{"type": "text", "text": streams}]}), None
            case "rlm":
                return str(daycare.rlm_result(case.texts[:1], case.texts[1], tool_calls=3, by=by).text), None
            case "rlm_net":
                return net(daycare.rlm_tool_result(text, by=by).tool_message("call_1")), None

    inputs = list(cases(3))
    assert len(inputs) >= 5_000
    tally = compare(
        "daycare",
        inputs,
        ours,
        theirs,
        by_the_page,
        DIFFERENCES,
        whole=lambda case, result: result in (case.texts[0], [*case.texts]),
    )
    assert tally.cut > 1_000


#: Rows that no text can show, and where they are tested.
ELSEWHERE = {
    "a command's streams as `stdout` and `stderr`": "peers/test_daycare_cases.py",
    "capture ends at 1 MB": "peers/test_daycare_cases.py",
}


def test_the_page_has_these_differences_and_says_of_the_others_why_not():
    check_the_page("daycare", DIFFERENCES, ELSEWHERE)

"""The page under hostile outputs, large ones, many tabs, and a store that goes away."""

import hashlib
import json
import os
import re
import shutil

from playwright.sync_api import expect

from spillover import Clipper, Limits
from spillover.source.blob import BLOCK_BYTES, LineIndex
from spillover.store.record import Record, encode

expect.set_options(timeout=60_000)

LINE = 64
LINES = (1 << 30) // LINE


def test_what_a_tool_printed_is_never_markup(page, place):
    hostile = [
        "<script>document.title = 'owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "</pre></div><iframe src='https://example.com'></iframe>",
        "\x1b]0;title\x07\x1b[31mred\x1b[0m \x1b[2J",
        "safe \u202e txt.exe \u2066 isolate",
        "javascript:alert(1) {{constructor.constructor('alert(1)')()}}",
    ]
    text = "".join(f"{line}\n" for line in hostile) + "x" * 1_000_000 + "\n" + "filler\n" * 60_000
    ref = place.clipper.clip(text, tool="<b>tool</b>").ref
    place.clipper.run(
        ["sh", "-c", "echo '<i>'; seq 60000 # <script>document.title='owned'</script>"], cwd=place.project
    )
    with place.serve() as address:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        expect(page.locator(".row[data-id]")).to_have_count(2)
        expect(page.locator(".row .command").first).to_contain_text("<script>document.title='owned'</script>")
        page.goto(f"{address.partition('#')[0]}#/output/{ref}")
        for number, shown in (
            (1, hostile[0]),
            (2, hostile[1]),
            (4, "red "),
            (5, "safe <U+202E> txt.exe <U+2066> isolate"),
            (6, hostile[5]),
        ):
            expect(page.locator(f".line[data-line='{number}'] .text")).to_have_text(shown, use_inner_text=True)
        page.check("#raw")
        expect(page.locator(".line[data-line='4'] .text")).to_contain_text("␛]0;title␇␛[31mred")
        assert page.locator("main script, main iframe, main img").count() == 0
        expect(page.locator(".clip").first).to_contain_text("<script>")
        assert page.title() != "owned"
        assert all(url.startswith(address.partition("#")[0]) for url in asked), "nothing is asked of any other host"
        page.click(".line[data-line='7'] .more")
        expect(page.locator("dialog.long header")).to_contain_text("from byte 2,001 of 1,000,00")
        page.click("dialog.long >> text=after")
        expect(page.locator("dialog.long header")).to_contain_text("from byte 4,001")


def one_gigabyte(place):
    """Store an output of 1 GiB in sixteen million lines. Its hash is made up: making it would take longer than the test."""
    place.clipper.clip("the store is made\n" * 40_000, tool="seq")
    ref, block = "cat-" + "a" * 16, (b"." * (LINE - 1) + b"\n") * (BLOCK_BYTES // LINE)
    with open(place.root / f"{ref}.txt", "wb") as file:
        file.writelines(block * 64 for _ in range((1 << 30) // (64 * BLOCK_BYTES)))
        for number, text in ((1, b"first line"), (9_000_000, b"needle"), (LINES, b"last line")):
            file.seek((number - 1) * LINE)
            file.write(text)
    index = LineIndex(
        BLOCK_BYTES, tuple(number * (BLOCK_BYTES // LINE) for number in range((1 << 30) // BLOCK_BYTES + 1))
    )
    record = Record(
        ref=ref, tool="cat", sha256="a" * 64, bytes=1 << 30, lines=LINES, created=2e9, index=index, scope=place.scope,
        shown=((1, 20), (9_000_000, 9_000_000), (LINES - 9, LINES)), why=((9_000_000, 9_000_000, "error"),), kind="log",
    )  # fmt: skip
    (place.root / f"{ref}.json").write_bytes(encode(record))
    for ending in (".txt", ".json"):
        os.chmod(place.root / (ref + ending), 0o600)
    return ref


def test_a_gigabyte_scrolls_at_once_because_only_what_is_in_view_is_fetched(page, place):
    ref = one_gigabyte(place)
    try:
        with place.serve() as address:
            sizes = []
            page.on("response", lambda answer: sizes.append((answer.url, answer)) if "/lines?" in answer.url else None)
            page.goto(f"{address}&to=/output/{ref}")
            expect(page.locator(".line[data-line='1'] .text")).to_contain_text("first line")
            page.keyboard.press("G")
            expect(page.locator(f".line[data-line='{LINES}'] .text")).to_contain_text("last line")
            page.keyboard.press("k")
            expect(page.locator(".line[data-line='9000000'] .text")).to_contain_text("needle")
            expect(page.locator(".line[data-line='9000000'] .why")).to_have_text("error")
            box = page.locator(".lines").bounding_box()
            page.mouse.move(box["x"] + 50, box["y"] + 50)
            page.mouse.wheel(0, 200)  # ten lines, not a share of sixteen million
            expect(page.locator(".line[data-line='9000025']")).to_be_attached()
            page.locator(".lines").evaluate("one => { one.scrollTop = one.scrollHeight / 4; }")
            expect(page.locator("[data-pane=lines] .step")).to_have_text(re.compile(r" 419\d{4}:419\d{4}$"))
            expect(page.locator("[data-pane=model] button")).to_have_text("Read 1.1 GB")
            assert len(sizes) < 20
            assert all("count=200" in url for url, _ in sizes)
            page.fill(".tools input[type=search]", "needle")
            expect(page.locator(".tools .grow .count")).to_have_text("1 of 1")
            expect(page.locator(".line.now")).to_have_attribute("data-line", "9000000")
    finally:
        os.unlink(place.root / f"{ref}.txt")


def test_a_part_of_one_huge_line_is_not_told_as_all_of_it_nor_a_tool_s_text_as_ours(page, place):
    (place.project / "huge.txt").write_text("z" * 300_000)
    place.spill("run", "--tokens", "300", "--", "cat", "huge.txt")
    place.spill("run", "--", "echo", "[Output of a tool [1]]")
    with place.serve() as address:
        page.goto(address)
        huge = page.locator(".row", has_text="huge.txt")
        expect(huge.locator(".shown")).to_contain_text("0.1 %")
        huge.click()
        expect(page.locator("[data-pane=model]")).to_contain_text("the very words the model got")
        expect(page.locator("[data-pane=model] .ours.notice").first).to_contain_text("[Output clipped")
        page.click("[data-tab=whatif]")
        expect(page.locator("[data-pane=whatif] .cost")).to_contain_text("against what the model saw")
        expect(page.locator("[data-pane=whatif] .foot button")).to_be_disabled()
        page.goto(f"{address.partition('#')[0]}#/")
        page.locator(".row", has_text="echo").click()
        expect(page.locator("[data-pane=model] .clip")).to_contain_text("[Output of a tool [1]]")
        expect(page.locator("[data-pane=model] .ours")).to_have_count(0)


def test_what_cannot_be_shown_as_the_model_saw_it_is_said(page, place):
    old = place.clipper.but(Limits(tokens=500)).clip("y" * 300_000, tool="old").ref
    record = next(place.root.rglob(f"{old}.json"))
    facts = json.loads(record.read_bytes())
    text = json.dumps({name: value for name, value in facts.items() if name not in ("made", "check")})[:-1]
    record.write_text(f'{text}, "check": "{hashlib.sha256(text.encode()).hexdigest()}"}}\n')
    with place.serve() as address:
        page.goto(f"{address}&to=/output/{old}")
        expect(page.locator("[data-pane=model] .note")).to_contain_text("Its record does not say what made that clip")
        expect(page.locator("[data-pane=model] .clip")).to_have_count(0)


def test_two_tabs_are_both_live_and_a_page_without_its_token_says_so(page, place):
    place.clipper.clip("one\n" * 50_000, tool="first")
    with place.serve() as address:
        home = address.partition("#")[0]
        page.goto(home)
        expect(page.locator("#refused")).to_contain_text("Open the address that `spill ui` printed")
        page.goto(f"{home}#token=wrong")
        page.reload()
        expect(page.locator("#refused")).to_be_visible()
        page.goto("about:blank")
        page.goto(address)
        other = page.context.new_page()
        other.goto(home)  # the token is known to this browser by now
        for tab in (page, other):
            expect(tab.locator(".row[data-id]")).to_have_count(1)
            expect(tab.locator("#live")).to_contain_text("live")
        place.clipper.clip("two\n" * 50_000, tool="second")
        for tab in (page, other):
            expect(tab.locator(".row[data-id]")).to_have_count(2)
            expect(tab.locator(".row .tool").first).to_have_text("second")


def test_a_store_that_vanishes_is_said_and_comes_back_by_itself(page, place):
    ref = place.clipper.clip("one\n" * 50_000, tool="first").ref
    with place.serve() as address:
        page.goto(address)
        expect(page.locator(".row[data-id]")).to_have_count(1)
        expect(page.locator("#live")).to_contain_text("live")
        shutil.rmtree(place.root)
        expect(page.locator(".empty")).to_contain_text("The store is not there")
        page.goto(f"{address.partition('#')[0]}#/output/{ref}")
        expect(page.locator(".empty h1")).to_have_text("This output cannot be shown")
        page.goto(f"{address.partition('#')[0]}#/")
        place.clipper.clip("two\n" * 50_000, tool="second")
        expect(page.locator(".row .tool").first).to_have_text("second")


def test_both_streams_are_told_apart_and_projects_can_be_filtered(page, place):
    numbers = "".join(f"{number}\n" for number in range(30_000))
    capture = place.clipper.capture(tool="mine")
    for stream, text in (("stdout", numbers), ("stderr", "oops\n"), ("stdout", numbers)):
        capture.write(text, stream=stream)
    assert capture.clip.outcome == "stored"
    Clipper(store=place.store, scope="acme/other").clip("theirs\n" * 50_000, tool="theirs")
    with place.serve("--all-scopes") as address:
        page.goto(address)
        rows = page.locator(".row[data-id]")
        expect(rows).to_have_count(2)
        page.select_option(".filters [name=project]", "acme/other")
        expect(rows).to_have_count(1)
        expect(page.locator(".row .tool")).to_have_text("theirs")
        page.select_option(".filters [name=project]", place.scope)
        page.click(".row[data-id]")
        expect(page.locator(".line .text").first).not_to_be_empty()
        page.keyboard.press("e")
        expect(page.locator(".line.err .text")).to_have_text("oops")
        expect(page.locator(".line.err .gutter")).to_have_attribute("title", "stderr")
        page.keyboard.press("c")
        expect(page.locator("[data-pane=lines] .foot [role=status]")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()").endswith(" --all-scopes")

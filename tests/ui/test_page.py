"""The page in a real Chromium: each view, a whole investigation, hostile and large outputs, a store that goes away."""

import hashlib
import json
import os
import re
import shutil
import time
import tomllib

import pytest
from playwright.sync_api import expect

from spillover import Clipper, Limits, journal
from spillover.journal import Entry
from spillover.source.blob import BLOCK_BYTES, LineIndex
from spillover.store.record import Record, encode

expect.set_options(timeout=60_000)


def log_line(number):
    if number in (2_000, 5_000):
        return f"src/part_{number}.c:41: error: 'buffer_{number}' undeclared\n"
    if number % 10 == 7:
        first, second = SYLLABLES[number // 10 % 13], SYLLABLES[number // 130 % 13]
        return f"resolved the package {first}{second} from the registry\n"
    return f"[{number}/8000] compiling part_{number}.c\n"


SYLLABLES = ("zeb", "ra", "lu", "mo", "ki", "ta", "ne", "so", "vi", "pa", "do", "fe", "gu")
LOG = "".join(map(log_line, range(1, 8_001)))
#: A line that is not shown, and what to ask for so that it is.
HIDDEN, QUERY = 1_457, "lufe"
JSON = json.dumps(
    {"items": [{"id": i, "name": f"item {i}"} for i in range(3_000)], "error": {"code": "E_PARTIAL"}}, indent=1
)
CSV = "id,customer,amount,status\n" + "".join(
    f"{i},customer-{i % 97},{i * 3},{'failed' if i == 3_000 else 'paid'}\n" for i in range(4_000)
)
DIFF = "".join(
    f"diff --git a/f{i}.py b/f{i}.py\n--- a/f{i}.py\n+++ b/f{i}.py\n@@ -1,2 +1,2 @@\n-old_{i} = 1\n+new_{i} = 1\n same = 0\n"
    * 3
    for i in range(300)
)
BUILD = "import os\nfor i in range(6000):\n    print(f'[{i}] compiling part_{i}.c in {(i * int(os.environ[\"SEED\"])) % 977} ms')\nif os.environ['SEED'] != '1':\n    print('FAILED test_login: expected 200, got 500')\nraise SystemExit(os.environ['SEED'] != '1')\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory, new_place):
    """A place with one output of each kind, and its page."""
    place = new_place(tmp_path_factory.mktemp("shop"))
    refs = {}
    for name, text in {"make": LOG, "curl": JSON, "sql": CSV, "git": DIFF}.items():
        refs[name] = place.clipper.clip(text, tool=name).ref
    with place.serve("--all-scopes") as address:
        yield address, refs, place


def open_output(page, shop, name):
    address, refs, _ = shop
    page.goto(f"{address}&to=/output/{refs[name]}")
    expect(page.locator(".line .text").first).not_to_be_empty()


def test_the_list_is_newest_first_and_every_filter_narrows_it(page, shop):
    address, refs, _ = shop
    page.goto(address)
    rows = page.locator(".row[data-id]")
    expect(rows).to_have_count(4)
    assert "token" not in page.url, "the token leaves the address at once"
    assert rows.evaluate_all("rows => rows.map(row => row.dataset.id)") == [
        refs[name] for name in ("git", "sql", "curl", "make")
    ]
    for name, value, left in (
        ("tool", "make", ["make"]),
        ("kind", "csv", ["sql"]),
        ("outcome", "stored", ["git", "sql", "curl", "make"]),
    ):
        page.select_option(f".filters [name={name}]", value)
        expect(rows).to_have_count(len(left))
        expect(page.locator(f".row[data-id={refs[left[0]]}]")).to_be_visible()
        page.select_option(f".filters [name={name}]", "")
    page.fill(".filters [name=command]", "cur")
    expect(rows).to_have_count(1)
    page.fill(".filters [name=command]", "")
    page.fill(".filters [name=text]", "e_partial")
    expect(rows).to_have_count(1)
    expect(page.locator(f".row[data-id={refs['curl']}]")).to_be_visible()
    page.fill(".filters [name=text]", "nowhere in any of them")
    expect(page.locator(".empty h2")).to_have_text("Nothing matches")
    page.click("text=Clear filters")
    expect(rows).to_have_count(4)


def test_the_time_filter_goes_by_the_clock_of_the_browser(page, shop):
    hours_later = time.time() + 2 * 3_600
    page.clock.set_fixed_time(hours_later)
    page.goto(shop[0])
    rows = page.locator(".row[data-id]")
    expect(rows).to_have_count(4)
    for value, left in (("3600", 0), ("86400", 4), ("3600", 0), ("", 4)):
        page.select_option(".filters [name=time]", value)
        expect(rows).to_have_count(left)


def test_a_keyboard_is_enough(page, shop):
    address, refs, _ = shop
    page.goto(address)
    expect(page.locator(".row[data-id]")).to_have_count(4)
    for key in ("j", "j", "k", "j", "j"):
        page.keyboard.press(key)
    expect(page.locator(".row.chosen")).to_have_attribute("data-id", refs["make"])
    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog.help")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator(".title h1")).to_have_text("make")
    page.keyboard.press("/")
    expect(page.locator(".tools input[type=search]")).to_be_focused()
    page.keyboard.type("undeclared")
    expect(page.locator(".tools .grow .count")).to_have_text("1 of 2")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(".line.now")).to_have_attribute("data-line", "5000")
    page.keyboard.press("g")
    expect(page.locator(".line[data-line='1']")).to_be_visible()
    page.keyboard.press("w")
    expect(page.locator("#try-tokens")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(".row.chosen")).to_have_attribute("data-id", refs["make"])


def test_shown_lines_are_marked_with_their_reason_and_the_others_are_dimmed(page, shop):
    _, refs, place = shop
    open_output(page, shop, "make")
    record = place.store.get(refs["make"])
    shown = {line for first, last in record.shown for line in range(first, last + 1)}
    assert {2_000, 5_000} <= shown
    while True:  # part by part, to the end
        for row in page.locator(".line").all()[:80]:
            line = int(row.get_attribute("data-line"))
            assert ("seen" in row.get_attribute("class").split()) == (line in shown), line
        before = page.locator(".tools .group .count").nth(1).inner_text()
        page.keyboard.press("j")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if page.locator(".tools .group .count").nth(1).inner_text() == before:
            break
    page.fill(".tools input[type=search]", "buffer_5000")
    expect(page.locator(".line.now .text")).to_have_text("src/part_5000.c:41: error: 'buffer_5000' undeclared")
    reasons = {first: why for first, _, why in record.why}
    expect(page.locator(".line.now .why")).to_have_text(reasons[5_000])
    assert page.locator(".map .bar-seen").count() > 1


def test_what_the_model_saw_is_proved_by_the_record(page, shop):
    _, refs, place = shop
    open_output(page, shop, "make")
    expect(page.locator("[data-pane=model]")).to_contain_text("the very words the model got")
    expected = place.clipper.clip(LOG, tool="make").text
    assert page.locator("[data-pane=model] .clip").text_content().rstrip("\n") == expected.rstrip("\n")
    assert page.locator("[data-pane=model] .cost b").inner_text().replace(",", "") == str(
        place.clipper.settings.count(expected)
    )
    assert refs["make"] in expected


def test_other_limits_change_the_clip_at_once_with_their_cost(page, shop):
    open_output(page, shop, "make")
    page.click("[data-tab=whatif]")
    tokens = page.locator("#tried-tokens")
    expect(tokens).not_to_have_text("")
    configured = tokens.inner_text()
    page.fill("#try-tokens", "400")
    expect(tokens).not_to_have_text(configured)
    assert int(tokens.inner_text().replace(",", "")) <= 400
    expect(page.locator("[data-pane=whatif] .cost")).to_contain_text("against what the model saw")
    page.select_option("#try-keep", "tail")
    rule = page.locator("[data-pane=whatif] .step")
    expect(rule).to_contain_text("keep")
    assert tomllib.loads(rule.inner_text()) == {"tools": {"make": {"tokens": 400, "keep": "tail"}}}
    expect(page.locator("[data-pane=whatif] .clip")).to_contain_text("[8000/8000] compiling part_8000.c")
    expect(page.locator(".line[data-line='2']")).to_have_class(re.compile("hidden"))
    page.select_option("#try-keep", "")
    page.fill("#try-tokens", "")
    page.fill("#try-query", QUERY)
    expect(page.locator("[data-pane=whatif] .clip")).to_contain_text(f"package {QUERY} ")
    page.fill("#try-tokens", "1")
    expect(page.locator("[data-pane=whatif] .cost .bad")).to_contain_text("tokens")


def test_every_tab_is_in_sight_on_a_phone(page, shop):
    page.set_viewport_size({"width": 375, "height": 800})
    open_output(page, shop, "curl")
    tabs = page.locator(".tabs button")
    expect(tabs).to_have_count(4)
    assert max(tabs.evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")) <= 375
    expect(page.get_by_role("tab", name="As the model saw it")).to_be_visible()


def test_a_diff_is_coloured(page, shop):
    open_output(page, shop, "git")
    expect(page.locator(".line.diff-in .text").first).to_have_text("+new_0 = 1")
    colours = [
        page.locator(f".line.diff-{side} .text").first.evaluate("one => getComputedStyle(one).color")
        for side in ("in", "out")
    ]
    assert colours[0] != colours[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1440])
def test_it_is_readable_at_every_width_and_nothing_moves_once_it_is_there(page, shop, width, scheme):
    address, _, _ = shop
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => list.getEntries().forEach(each => window.shifts += each.value))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    page.goto(address)
    expect(page.locator(".row[data-id]")).to_have_count(4)
    views = {
        "": ".row[data-id]",
        f"output/{shop[1]['make']}": "[data-pane=model] .clip",
        "runs": ".empty h2",
        "stats": "#net",
    }
    for view, there in views.items():
        page.goto(f"{address.partition('#')[0]}#/{view}")
        expect(page.locator(there).first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        assert page.evaluate(CONTRAST) == [], view
    assert page.evaluate("window.shifts") < 0.1


#: Every text that is on the screen, with too little contrast to its ground: WCAG AA wants 4.5.
CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((all, c, i) => all + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const out = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest("svg, option, .skip, .hide, noscript")) continue;
    const [one, other] = [light(parse(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) out.push(`${element.className}: ${element.textContent.slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return out;
}"""


def test_two_runs_side_by_side_say_what_is_new_and_gone(page, place):
    (place.project / "build.py").write_text(BUILD)
    for seed in ("1", "2"):
        place.env["SEED"] = seed
        assert place.spill("run", "--", "python3", "build.py").returncode == int(seed != "1")
    with place.serve() as address:
        page.goto(f"{address}&to=/runs")
        expect(page.locator(".column.new h3 b")).to_have_text("1")
        expect(page.locator(".column.new .diff-lines")).to_contain_text("FAILED test_login: expected 200, got 500")
        expect(page.locator(".column.gone")).to_contain_text("Nothing is gone")
        expect(page.locator(".detail tbody tr")).to_have_count(2)
        expect(page.locator(".detail tbody tr").first.locator("td").nth(1)).to_have_text("1")
        expect(page.locator(".detail tbody tr").first.locator("td").nth(5)).to_have_text("1")


def test_the_charts_add_up_to_what_the_ledger_says(page, place):
    place.clipper.clip("kept\n" * 50_000, tool="make")
    for day in range(5):
        entry = Entry(operation="clip", outcome="stored", when=time.time() - 86_400 * day, scope=place.scope, tool=f"tool{day % 2}", produced=10_000, base=10_000, shown=1_000, notice=50)  # fmt: skip
        journal.append(str(place.root), entry)
    before = sum(entry.produced for entry in journal.read(str(place.root)))
    with place.serve() as address:
        page.goto(f"{address}&to=/stats")
        expect(page.locator("[data-figure=produced]")).to_have_attribute("data-value", str(before))
        assert page.locator(".chart .part-net").count() >= 5
        expect(page.locator(".bar-row .label", has_text="tool0").first).to_be_visible()


def test_an_investigation_from_the_list_to_the_retrieval(page, place):
    """List → open → search → what-if → copy the command → run it → see the retrieval appear."""
    (place.project / "build.py").write_text(f"print({LOG!r}, end='')")
    ran = place.spill("run", "--tool", "make", "--", "python3", "build.py")
    assert ran.returncode == 0, ran.stderr
    with place.serve() as address:
        page.goto(address)
        page.click(".row[data-id] >> text=python3 build.py")
        expect(page.locator("[data-pane=model]")).to_contain_text("the very words the model got")
        page.fill(".tools input[type=search]", f"package {QUERY}\\b")
        expect(page.locator(".tools .grow .count")).to_have_text(re.compile(r"1 of \d"))
        expect(page.locator(".line.now")).to_have_class(re.compile("hidden"))
        page.click("[data-tab=whatif]")
        page.fill("#try-query", QUERY)
        expect(page.locator("[data-pane=whatif] .clip")).to_contain_text(f"package {QUERY} ")
        expect(page.locator(".line.now")).to_have_class(re.compile("seen"))
        page.click("[data-tab=back]")
        expect(page.locator("[data-pane=back]")).to_contain_text("Nothing of it has been fetched back")
        page.click(f".line[data-line='{HIDDEN}'] .gutter")
        page.click("#copy")
        expect(page.locator(".foot [role=status]")).to_have_text("Copied")
        command = page.evaluate("navigator.clipboard.readText()")
        assert command == page.locator("[data-pane=lines] .step").inner_text()
        answer = place.spill(*command.removeprefix("spill ").split())
        assert f"package {QUERY} " in answer.stdout, answer.stderr
        expect(page.locator("#retrievals li")).to_have_count(1)
        expect(page.locator("#retrievals li")).to_contain_text("read")
        expect(page.locator(".facts")).to_contain_text(re.compile("fetched back 1"))
        expect(page.locator(f".line[data-line='{HIDDEN}']")).to_have_class(re.compile("fetched"))


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
        urls = []
        page.on("request", lambda request: urls.append(request.url))
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
        assert all(url.startswith(address.partition("#")[0]) for url in urls), "no other host gets a request"
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


def test_a_part_of_one_huge_line_is_not_shown_as_all_of_it_nor_a_tool_s_text_as_ours(page, place):
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


def test_what_cannot_be_shown_as_the_model_saw_it_has_a_reason(page, place):
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


def test_both_streams_are_distinguished_and_projects_can_be_filtered(page, place):
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

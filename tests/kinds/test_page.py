"""Pages: what can be clicked, filled or read is shown with its ref; rows alike are folded, and no ref is cut off."""

import re

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.page import is_page

TOP = "### Page\n- Page URL: https://shop.example.org/\n- Page Title: Shop\n### Snapshot\n```yaml\n"


def clip(text, tokens=600, query=None):
    return Clipper(Limits(tokens=tokens), store=MemoryStore()).clip(text, query=query)


def rows(count, first=10):
    return "".join(
        f'    - row [ref=e{first + 3 * n}]:\n      - link "Order {n}" [ref=e{first + 3 * n + 1}]\n      - img [ref=e{first + 3 * n + 2}]\n'
        for n in range(count)
    )


PLAYWRIGHT = (
    TOP
    + '- main [ref=e1]:\n  - navigation "Main" [ref=e2]:\n    - button "Save" [ref=e3]\n'
    + rows(200)
    + '  - button "Last of all" [ref=e900]\n```\n'
)
DEVTOOLS = 'uid=1_0 RootWebArea "Shop"\n' + "".join(
    f'  uid=1_{n} link "Order {n}"\n    uid=1_{n + 500} StaticText "Order {n}"\n' for n in range(1, 300)
)
GYM = "RootWebArea 'Shop', focused\n" + "".join(
    f"\t[{n}] link 'The order {n}', clickable, visible\n\t\tStaticText 'The order {n}'\n" for n in range(300)
)


@pytest.mark.parametrize("text", [PLAYWRIGHT, DEVTOOLS, GYM], ids=["playwright", "devtools", "browsergym"])
def test_a_page_of_each_grammar_is_known_and_shown_from_its_beginning(text):
    clipped = clip(text)
    assert clipped.kind == "page"
    assert "rder 1" in clipped.text
    assert "rder 11" in clipped.text


def test_what_ends_a_page_is_not_shut_out_by_rows_alike():
    text = clip(PLAYWRIGHT).text
    assert 'button "Last of all" [ref=e900]' in text
    assert 'button "Save" [ref=e3]' in text
    assert 'navigation "Main" [ref=e2]' in text
    assert "Order 150" not in text


def test_text_that_only_repeats_the_name_above_it_is_left_out():
    assert "StaticText" not in clip(GYM).text


def test_no_ref_is_cut_off_however_long_the_name():
    name = "a very long name " * 60
    text = TOP + "".join(f'- link "{n} {name}" [ref=e{n}] [cursor=pointer]:\n  - /url: /{n}\n' for n in range(40))
    shown = clip(text, 1_500).text
    lines = [line for line in shown.splitlines() if line.startswith("- link")]
    assert len(lines) > 5
    assert all(re.search(r"\[ref=e\d+\]", line) for line in lines)
    assert "… " in lines[0]


def test_a_long_line_is_cut_behind_a_ref_that_stands_where_it_would_be_cut():
    text = TOP + "".join(f'- link "{n:03} {chr(97) * 130}" [ref=e{n}]: {"words of it " * 60}\n' for n in range(40))
    lines = [line for line in clip(text, 1_500).text.splitlines() if line.startswith("- link")]
    assert len(lines) > 15
    assert all(re.search(r"\[ref=e\d+\]", line) and len(line) < 260 for line in lines)


def test_a_query_raises_the_element_that_answers_it():
    page = PLAYWRIGHT.replace("Order 150", "Herring in oil")
    assert "Herring" not in clip(page).text
    assert "Herring" in clip(page, query="where is the herring").text


@pytest.mark.parametrize(
    "text",
    ["- item [ref=e1]\n" * 3, "[INFO] link 'x'\n" * 50, "[12] done\n" * 50, "- name: x\n  uid=1\n" * 50],
    ids=["few", "words in brackets", "numbers without a name", "a list"],
)
def test_what_only_looks_a_little_like_a_page_is_none(text):
    assert not is_page(text.encode().splitlines())


def test_the_reasons_say_what_a_line_is_for():
    why = {reason.why for reason in clip(PLAYWRIGHT).why}
    assert {"top", "control"} <= why

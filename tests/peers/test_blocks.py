"""Several blocks in one result, from published cases: which survive, in which order, and what is counted."""

import pytest

from spillover import Limits
from spillover.testing import content

IMAGE = {"type": "image", "data": "i" * 7_000, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "a" * 7_000, "mimeType": "audio/wav"}
LIMITS = Limits(bytes=1_000)


def text(words):
    return {"type": "text", "text": words}


def kinds(blocks):
    return [block["type"] for block in blocks]


def words(blocks):
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


ORDER = [
    # source, blocks, expected kinds of blocks, what the text must contain
    ("codex: abcd, image, efgh, audio, ijkl, image at 8 bytes",
     [text("abcd" * 200), IMAGE, text("efgh" * 200), AUDIO, text("ijkl" * 200), IMAGE],
     ["text", "image", "text", "audio", "text", "image"], ["abcd", "efgh", "ijkl"]),
    ("codex: t, t, image, 10 t, t, t at 3 t",
     [text("t" * 200), text("u" * 200), IMAGE, text("V" * 3_000), text("w" * 200), text("z" * 200)],
     ["text", "text", "image", "text", "text", "text"], ["t" * 50, "V" * 50, "z" * 40]),
    ("daycare toolResult", [text("header"), IMAGE, text("x" * 5 + "y" * 9_000)],
     ["text", "image", "text"], ["header", "y" * 100]),
    ("opencode v2 OC6-4", [text("x" * 1_201), IMAGE], ["text", "image"], ["x" * 100]),
    ("opencode v2 OC6-1", [text("HEAD-" + "x" * 3_000), text("y" * 3_000 + "-TAIL")], ["text", "text"], ["HEAD-", "-TAIL"]),
    ("gemini cuts only a single part", [text("g" * 3_000)], ["text"], ["g" * 100]),
    ("gemini lets two parts pass", [text("g" * 3_000), text("h" * 3_000)], ["text", "text"], ["g" * 100, "h" * 100]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "blocks", "kept", "there"), ORDER, ids=[row[0] for row in ORDER])
def test_order_and_media_survive_and_the_texts_share_one_budget(clipping, store, source, blocks, kept, there):
    out = clipping(LIMITS).clip_blocks(blocks)
    assert kinds(out) == kept
    assert len(words(out).encode()) <= LIMITS.bytes
    assert [part for part in there if part not in words(out)] == []
    assert all(block in (IMAGE, AUDIO) for block in out if block["type"] != "text")
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    assert content(store, out.clip.ref).decode() == "\n".join(texts)
    assert out.clip.total.bytes == len("\n".join(texts))


UNTOUCHED = [
    ("opencode v2 OC6-3: only an image of 6 MiB", [{**IMAGE, "data": "p" * (6 << 20)}]),
    ("deepagents: small text and a huge image", [text("small"), {**IMAGE, "data": "p" * 1_000_000}]),
    ("openai-agents: nothing to trim", [text("ok")]),
    ("kimi drops oversize media", [text("ok"), IMAGE, AUDIO]),
    ("inspect_ai: a list of content", [text("one"), text("two")]),
]


@pytest.mark.parametrize(("source", "blocks"), UNTOUCHED, ids=[source for source, _ in UNTOUCHED])
def test_what_fits_is_the_very_same(clipping, store, source, blocks):
    out = clipping(LIMITS).clip_blocks(blocks)
    assert all(after is before for after, before in zip(out, blocks, strict=True))
    assert list(store.list()) == []


def test_text_in_two_places_is_not_counted_twice(clipping):
    """opencode v2 OC6-5: 30,000 characters, both in the structured data and in the text."""
    result = {"structuredContent": {"text": "x" * 700}, "content": [text("x" * 700)]}
    assert clipping(LIMITS).wrap(lambda: result, tool="t")() == result


def test_what_cannot_be_written_as_json_is_left_as_it_is(clipping):
    """opencode v2 OC6-7: data that cannot be written as JSON, beside text that fits."""
    result = {"value": object()}
    assert clipping(LIMITS).wrap(lambda: result, tool="t")() is result


def test_a_structure_alone_that_does_not_fit_is_kept_as_json_that_can_be_read_again(clipping, store):
    """opencode v2 OC6-2: no content, only large structured data."""
    import json

    result = {"text": "x" * 51_200}
    out = clipping(LIMITS).wrap(lambda: result, tool="t")()
    [record] = store.list()
    assert json.loads(content(store, record.ref)) == result
    assert len(out) <= 1_000

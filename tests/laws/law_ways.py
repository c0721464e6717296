"""Every public entry point: pass the same bytes through each, and return what it produced."""

import asyncio
import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from spillover import Clip, aclip, clip
from spillover.testing import byte_by_byte, chunked
from support import clean
from support import write_json as write


@dataclass(frozen=True)
class Came:
    """What an entry point produced from an output."""

    texts: tuple[str, ...]  # everything the model gets
    clips: tuple[Clip, ...]
    inputs: tuple[bytes, ...]  # the bytes behind each clip


def as_text(data):
    """Return the bytes as a str, in which bytes that are not UTF-8 become lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text):
    return text.encode("utf-8", "surrogatepass")


def one(made, data):
    return Came((made.text,), (made,), (data,))


def by_str(clipper, data, cuts, folder):
    text = as_text(data)
    return one(clipper.clip(text), as_bytes(text))


def by_bytes(clipper, data, cuts, folder):
    return one(clipper.clip(data), data)


def by_bytearray(clipper, data, cuts, folder):
    return one(clipper.clip(bytearray(data)), data)


def by_memoryview(clipper, data, cuts, folder):
    return one(clipper.clip(memoryview(data)), data)


def by_text_file(clipper, data, cuts, folder):
    text = as_text(data)
    return one(clipper.clip(io.StringIO(text, newline="")), as_bytes(text))


def by_binary_file(clipper, data, cuts, folder):
    return one(clipper.clip(io.BytesIO(data)), data)


def by_path(clipper, data, cuts, folder):
    path = Path(folder) / "output"
    path.write_bytes(data)
    return one(clipper.clip(path), data)


def by_list(clipper, data, cuts, folder):
    return one(clipper.clip(list(chunked(data, cuts))), data)


def by_generator(clipper, data, cuts, folder):
    return one(clipper.clip(byte_by_byte(data) if len(data) < 2_000 else chunked(data, cuts)), data)


def by_async_iterable(clipper, data, cuts, folder):
    async def source():
        for chunk in chunked(data, cuts):
            yield chunk

    return one(asyncio.run(clipper.aclip(source())), data)


def by_function(clipper, data, cuts, folder):
    return one(clip(chunked(data, cuts), clipper.settings.limits, **as_arguments(clipper)), data)


def by_async_function(clipper, data, cuts, folder):
    return one(asyncio.run(aclip(bytes(data), clipper.settings.limits, **as_arguments(clipper))), data)


def as_arguments(clipper):
    names = ("keep", "store", "tokenizer", "hints", "scope", "redact", "cap", "wording", "stats")
    facts = {name: getattr(clipper, name) for name in ("tool", "query", "budget") if hasattr(clipper, name)}
    return {name: getattr(clipper.settings, name) for name in names} | facts


def by_capture(clipper, data, cuts, folder):
    capture = clipper.capture()
    for stream, chunk in dealt_out(data, cuts):
        capture.write(chunk, stream)
    return one(capture.clip, data)


def dealt_out(data, cuts):
    """Yield the pieces of an output, every third of them for stderr."""
    for number, chunk in enumerate(chunked(data, cuts)):
        yield "stderr" if number % 3 == 1 else "stdout", chunk


def by_streams(clipper, data, cuts, folder):
    parts = halves(data, cuts)
    return one(clipper.clip_streams(stdout=parts[0], stderr=parts[1]), behind_each_other(parts))


@dataclass(frozen=True)
class TextBlock:
    """A block as the SDK of a provider has it."""

    text: str
    type: str = "text"


def by_blocks(clipper, data, cuts, folder):
    """Blocks as dicts and as objects, in turn."""
    texts = [as_text(part) for part in chunked(data, cuts)]
    image = {"type": "image", "data": "…", "mimeType": "image/png"}
    given = [image, *(TextBlock(text) if n % 2 else {"type": "text", "text": text} for n, text in enumerate(texts))]
    blocks = clipper.clip_blocks(given)
    as_dicts = [asdict(block) if isinstance(block, TextBlock) else block for block in blocks]
    assert [block for block in as_dicts if block["type"] == "image"] == [image]
    return Came(block_texts(as_dicts), (blocks.clip,), (behind_each_other(map(as_bytes, texts)),))


def by_messages(clipper, data, cuts, folder):
    """Whole messages: a result inside of one of Anthropic's, and the rest as OpenAI has them."""
    texts = [as_text(part) for part in chunked(data, cuts)] or [""]
    first = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "0", "content": texts[0]}]}
    given = [first, *({"role": "tool", "tool_call_id": str(n), "content": text} for n, text in enumerate(texts[1:]))]
    messages = clipper.clip_blocks(given)
    assert len(messages) == len(given)
    got = [messages[0]["content"][0]["content"], *(message["content"] for message in messages[1:])]
    return Came(tuple(got), (messages.clip,), (behind_each_other(map(as_bytes, texts)),))


def by_data(clipper, data, cuts, folder):
    """Data in messages: a response of Gemini that has a text, and rows in a result of Bedrock and of MCP."""
    text, rows = as_text(data), [{"row": n, "name": "a name"} for n in range(60)]
    gemini = {"functionResponse": {"name": "run", "response": {"output": text, "exit_code": 1}}}
    bedrock = {"toolResult": {"toolUseId": "0", "content": [{"json": rows}]}}
    given = [gemini, bedrock, {"content": [], "structuredContent": {"rows": rows}}]
    out = clipper.clip_blocks(given)
    response, result = out[0]["functionResponse"]["response"], out[1]["toolResult"]["content"]
    assert response["exit_code"] == 1
    got = [response["output"], *(block["text"] if "text" in block else write(block["json"]) for block in result)]
    got += [block["text"] for block in out[2]["content"]]
    got += [write(out[2]["structuredContent"])] if "structuredContent" in out[2] else []
    return Came(
        tuple(got), (out.clip,), (behind_each_other(map(as_bytes, [text, write(rows), write({"rows": rows})])),)
    )


def by_many(clipper, data, cuts, folder):
    parts = dict(enumerate(chunked(data, cuts)))
    clips = clipper.clip_many(parts)
    assert clips.keys() == parts.keys()
    return Came(tuple(clip.text for clip in clips.values()), tuple(clips.values()), tuple(parts.values()))


def halves(data, cuts):
    at = sum(cuts) % (len(data) + 1)
    return data[:at], data[at:]


def behind_each_other(parts):
    """Join the parts into one output, with a newline after each part that does not end with one."""
    whole = b""
    for part in parts:
        if part and whole and not whole.endswith(b"\n"):
            whole += b"\n"
        whole += part
    return whole


def block_texts(blocks):
    return tuple(block["text"] for block in blocks if block["type"] == "text")


def wrapped_text(clipper, data, cuts, folder):
    return Came((clipper.wrap(lambda: as_text(data))(),), (), (data,))


def wrapped_bytes(clipper, data, cuts, folder):
    return Came((clipper.wrap(lambda: data)(),), (), (data,))


def wrapped_coroutine(clipper, data, cuts, folder):
    async def tool():
        return as_text(data)

    return Came((asyncio.run(clipper.wrap(tool)()),), (), (data,))


def wrapped_generator(clipper, data, cuts, folder):
    return Came((clipper.wrap(lambda: chunked(data, cuts))(),), (), (data,))


def wrapped_blocks(clipper, data, cuts, folder):
    content = [{"type": "text", "text": as_text(part)} for part in chunked(data, cuts)]
    result = clipper.wrap(lambda: {"isError": True, "content": content})()
    assert result["isError"] is True
    return Came(block_texts(result["content"]), (), (data,))


def wrapped_data(clipper, data, cuts, folder):
    """Return data from a tool, which a framework would write as JSON."""
    rows = [clean(part) for part in chunked(data, cuts)]
    result = clipper.wrap(lambda: rows)()
    return Came((result if isinstance(result, str) else json.dumps(result, ensure_ascii=False),), (), (data,))


@dataclass
class Ran:
    """What a tool may return instead of a text."""

    stdout: str
    parts: list[str]
    exit_code: int = 3


def written(result):
    """As a host writes it: JSON, with lines."""
    return result if isinstance(result, str) else json.dumps(asdict(result), ensure_ascii=False, indent=1)


def wrapped_object(clipper, data, cuts, folder):
    rows = [clean(part) for part in chunked(data, cuts)]
    result = clipper.wrap(lambda: Ran(clean(data), rows))()
    assert isinstance(result, str) or result.exit_code == 3
    return Came((written(result),), (), (data,))


def wrapped_declared(clipper, data, cuts, folder):
    rows = [clean(part) for part in chunked(data, cuts)]

    def tool() -> list[str]:
        return rows

    result = clipper.wrap(tool)()
    return Came((result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1),), (), (data,))


def wrapped_dict(clipper, data, cuts, folder):
    """Return a dict with the output as a string in it, as most shell tools do."""

    def tool() -> dict[str, object]:
        return {"stdout": clean(data), "exit_code": 2}

    result = clipper.wrap(tool)()
    return Came((result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1),), (), (data,))


def wrapped_error(clipper, data, cuts, folder):
    """Raise from a tool, because hosts show the message of an exception to the model."""

    def tool():
        raise ValueError(data.decode("utf-8", "replace"))

    try:
        clipper.wrap(tool)()
    except ValueError as error:
        return Came((str(error),), (), (data,))
    raise AssertionError("the exception is gone")


#: One output in and one clip out, for every kind of source.
SOURCES = {
    "str": by_str,
    "bytes": by_bytes,
    "bytearray": by_bytearray,
    "memoryview": by_memoryview,
    "text file": by_text_file,
    "binary file": by_binary_file,
    "path": by_path,
    "list of chunks": by_list,
    "generator": by_generator,
    "async iterable": by_async_iterable,
    "clip()": by_function,
    "aclip()": by_async_function,
    "capture": by_capture,
}
#: Several outputs in, or several texts out.
TOGETHER = {
    "clip_streams": by_streams,
    "clip_blocks": by_blocks,
    "messages": by_messages,
    "data": by_data,
    "clip_many": by_many,
}
#: Wrapped tools, which return only what the model gets.
WRAPPED = {
    "wrapped text": wrapped_text,
    "wrapped bytes": wrapped_bytes,
    "wrapped coroutine": wrapped_coroutine,
    "wrapped generator": wrapped_generator,
    "wrapped blocks": wrapped_blocks,
    "wrapped data": wrapped_data,
    "wrapped object": wrapped_object,
    "wrapped declared list": wrapped_declared,
    "wrapped declared dict": wrapped_dict,
    "wrapped error": wrapped_error,
}

"""A scripted model on loopback, in the four protocols that coding agents speak. It calls the tools it is told to, one after the other.

Whatever it is asked, it answers with the next call of its script, and with "done" behind the last. It remembers every request.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    """`calls` are (tool, arguments), or (tool, script); a tool's name may be a function of the names that the host offers."""

    def __init__(self, calls):
        self.calls, self.requests, self.step = list(calls), [], 0
        self.early = False  # whether a tool was not offered yet when it was wanted
        self.lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.say(b'{"data": [], "models": []}', "application/json")

            def do_POST(self):
                size = int(self.headers.get("content-length") or 0)
                data = self.rfile.read(size) if size else self.read_chunks()
                try:
                    asked = json.loads(data or b"{}")
                except ValueError:
                    asked = {}
                said = model.answer(self.path, asked)
                if said is None:
                    self.send_response(503)
                    self.send_header("retry-after", "1")
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                self.say(*said)

            def read_chunks(self):
                out = b""
                while self.headers.get("transfer-encoding") == "chunked":
                    length = int(self.rfile.readline() or b"0", 16)
                    out += self.rfile.read(length)
                    self.rfile.readline()
                    if not length:
                        break
                return out

            def say(self, body, kind="text/event-stream"):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, asked):
        for part, speak in PROTOCOLS.items():
            if part in path:
                offered = names(asked)
                if not offered:  # a title, a summary: not the conversation
                    return speak(None, 0, stream=wants_stream(path, asked))
                with self.lock:
                    self.requests.append(asked)
                    number, call = self.step, self.calls[self.step] if self.step < len(self.calls) else None
                    self.step += 1
                if call is not None:
                    tool, arguments = call
                    tool = tool(offered) if callable(tool) else tool
                    if tool is None:  # the host has not connected to its server yet: it is to ask again
                        with self.lock:
                            self.early = True
                            self.step -= 1
                            self.requests.pop()
                        return None
                    call = tool, arguments(offered) if callable(arguments) else arguments
                return speak(call, number, stream=wants_stream(path, asked))
        return b"{}", "application/json"

    def said(self, number=-1):
        """Return the text of what the model was sent, as it would read it, in one request."""
        out = []

        def walk(value):
            if isinstance(value, str):
                out.append(value)
            elif isinstance(value, list):
                for item in value:
                    walk(item)
            elif isinstance(value, dict):
                for item in value.values():
                    walk(item)

        request = self.requests[number]
        walk({key: request.get(key) for key in ("messages", "input", "contents")})
        return "\n".join(out)


def wants_stream(path, asked):
    return bool(asked.get("stream")) or "streamGenerate" in path


def names(asked):
    """Return the names of the tools that are offered, whatever the protocol."""
    found = []
    # Codex in code mode offers its tools in a message.
    more = [tool for item in asked.get("input") or () for each in item.get("tools") or () for tool in each["tools"]]
    for tool in [*(asked.get("tools") or ()), *more]:
        found += [each.get("name") for each in tool.get("functionDeclarations") or ()]
        found += [f"{tool['name']}/{each['name']}" for each in tool.get("tools") or ()]  # a namespace of Codex
        found.append((tool.get("function") or {}).get("name") or tool.get("name"))
    return [name for name in found if name]


def events(pairs):
    return "".join((f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n" for name, data in pairs).encode(), "text/event-stream"  # fmt: skip


def anthropic(call, number, *, stream):
    block = {"type": "text", "text": "done"} if call is None else {"type": "tool_use", "id": f"toolu_{number:04}", "name": call[0], "input": call[1]}  # fmt: skip
    reason = "end_turn" if call is None else "tool_use"
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
    if not stream:
        return json.dumps(
            {**message, "content": [block], "stop_reason": reason, "stop_sequence": None}
        ).encode(), "application/json"
    begun = {**block, **({"text": ""} if call is None else {"input": {}})}
    delta = (
        {"type": "text_delta", "text": "done"}
        if call is None
        else {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    )
    return events([
        ("message_start", {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": begun}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {"type": "message_stop"}),
    ])  # fmt: skip


def responses(call, number, *, stream):
    if call is None:
        item = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "done", "annotations": []}]}  # fmt: skip
    else:
        item = {"type": "function_call", "id": f"fc{number}", "call_id": f"call_{number}", "name": call[0], "arguments": json.dumps(call[1]), "status": "completed"}  # fmt: skip
    if call is not None and isinstance(call[1], str):  # a script
        item = {"type": "custom_tool_call", "id": f"ct{number}", "call_id": f"call_{number}", "name": call[0], "input": call[1], "status": "completed"}  # fmt: skip
    if call is not None and "/" in call[0]:
        item["namespace"], item["name"] = call[0].split("/")
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "model": "scripted",
        "output": [item],
        "status": "completed",
        "usage": usage,
    }
    return events([
        ("response.created", {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}}),
        ("response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}),
        ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("response.completed", {"type": "response.completed", "response": response}),
    ])  # fmt: skip


def chat(call, number, *, stream):
    message = {"role": "assistant", "content": "done"} if call is None else {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": {"name": call[0], "arguments": json.dumps(call[1])}}]}  # fmt: skip
    reason = "stop" if call is None else "tool_calls"
    about = {"id": f"c{number}", "created": 1, "model": "scripted"}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    if not stream:
        whole = {
            **about,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage,
        }
        return json.dumps(whole).encode(), "application/json"
    chunk = {**about, "object": "chat.completion.chunk"}
    return events([
        ("", {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
        ("", "[DONE]"),
    ])  # fmt: skip


def gemini(call, number, *, stream):
    part = (
        {"text": "done"}
        if call is None
        else {"functionCall": {"name": call[0], "args": call[1]}, "thoughtSignature": "c2lnbmVk"}
    )
    whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}  # fmt: skip
    return events([("", whole)]) if stream else (json.dumps(whole).encode(), "application/json")


PROTOCOLS = {"/messages": anthropic, "/responses": responses, "/chat/completions": chat, "enerateContent": gemini}

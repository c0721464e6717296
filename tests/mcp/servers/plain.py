"""An MCP server that uses only the standard library and answers as instructed, including answers no server should give."""

import json
import os
import signal
import subprocess
import sys
import time

TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}}
    for name in ("say", "flood", "error", "die", "garbage", "sleep", "spawn", "pid", "raw")
]
MORE = json.loads(os.environ.get("MORE_TOOLS", "[]"))
PAGE = 4


def put(message):
    put_line(json.dumps({"jsonrpc": "2.0", **message}).encode())


def put_line(line):
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def listed(params):
    tools = [*TOOLS, *MORE]
    start = int(params.get("cursor", 0))
    more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(tools) else {}
    return {"tools": tools[start : start + PAGE], **more}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def call(name, given, id_):
    """Return the result of a call; None if there is none."""
    if name == "say":
        return given["result"]
    if name == "flood":
        return text("".join(f"{number}: the quick brown fox\n" for number in range(1, given["lines"] + 1)))
    if name == "die":
        os.kill(os.getpid(), signal.SIGKILL) if given.get("hard") else os._exit(3)
    if name == "garbage":
        put_line(b"this is no JSON")
        put_line(b"x" * given.get("bytes", 0))
        return text("after all")
    if name == "sleep":
        time.sleep(given["seconds"])
        return text("slept")
    if name == "spawn":
        child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
        return text(f"{os.getpid()} {child.pid}")
    if name == "pid":
        return text(str(os.getpid()))
    if name == "raw":
        put_line(given["line"].replace("ID", json.dumps(id_)).encode("latin-1"))
        return None
    return text(f"{name} {json.dumps(given)}")


def main():
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        method, id_, params = message.get("method"), message.get("id"), message.get("params") or {}
        if id_ is None or method is None or not isinstance(params.get("name", ""), str):
            continue
        if method == "initialize":
            asked = params.get("protocolVersion")
            can = {} if "--no-tools" in sys.argv else {"tools": {"listChanged": True}}
            put(
                {
                    "id": id_,
                    "result": {
                        "protocolVersion": asked,
                        "capabilities": can,
                        "serverInfo": {"name": "plain", "version": "1"},
                    },
                }
            )
        elif method == "tools/list":
            put({"id": id_, "result": listed(params)})
        elif method == "tools/call" and params.get("name") == "error":
            put({"id": id_, "error": params["arguments"]["error"]})
        elif method == "tools/call":
            result = call(params.get("name"), params.get("arguments") or {}, id_)
            if result is not None:
                put({"id": id_, "result": result})
        elif method == "ping":
            put({"id": id_, "result": {}})
        else:
            put({"id": id_, "error": {"code": -32601, "message": f"Method not found: {method}"}})
    while "--stubborn" in sys.argv:
        time.sleep(1)


main()

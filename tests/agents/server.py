"""An MCP server on stdio with one tool, whose answer is 4 MB with an error in the middle: as text, as data, or as an error."""

import json
import sys

STEPS = "".join(f"step {number} compiling part {number}\n" for number in range(60_000))
BIG = f"{STEPS}ERROR: part9.c:17: no such type\n{STEPS}"
mode = sys.argv[1]

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method = asked["method"]
    if method == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "big", "version": "1"}}  # fmt: skip
    elif method == "tools/list":
        result = {
            "tools": [{"name": "probe", "description": "Look.", "inputSchema": {"type": "object", "properties": {}}}]
        }
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": BIG}], "isError": mode == "error"}
        if mode == "data":
            data = {"stdout": BIG, "exit_code": 2}
            result = {"content": [{"type": "text", "text": json.dumps(data)}], "structuredContent": data}
    else:
        result = {}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}) + "\n")
    sys.stdout.flush()

"""A client that starts `spill mcp`, makes a server spawn a child, prints the process ids, and waits to be killed."""

import json
import subprocess
import sys
import time

proxy = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(id_, method, **params):
    proxy.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + "\n")
    proxy.stdin.flush()
    return json.loads(proxy.stdout.readline())["result"]


ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"})
ask(2, "tools/list")
pids = ask(3, "tools/call", name="spawn", arguments={})["content"][0]["text"]
sys.stdout.write(f"{proxy.pid} {pids}\n")
sys.stdout.flush()
time.sleep(1_000)

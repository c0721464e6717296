"""Whatever stdin and stdout are, `spill mcp` answers, or exits and says why; it never hangs or prints a traceback."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from spillover.cli.output import EXIT_OK, EXIT_UNWRITTEN, EXIT_USAGE

PATIENCE = 60  # seconds; only guards against hanging
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n"
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}

#: redirections → exit code, stderr, whether the ping is answered
ENDS = {
    "< /dev/null": (EXIT_OK, "", False),
    "< asked.jsonl": (EXIT_OK, "", True),
    "< asked.jsonl > said.jsonl": (EXIT_OK, "", True),
    "< empty": (EXIT_OK, "", False),
    "<&-": (EXIT_USAGE, "stdin is closed", False),
    "<&- >&-": (EXIT_USAGE, "stdin is closed", False),
    "<&- >&- 2>&-": (EXIT_USAGE, "", False),
    "< /dev/zero": (EXIT_USAGE, "neither a pipe nor a file", False),
    "< asked.jsonl >&-": (EXIT_OK, "", False),
    "< asked.jsonl > /dev/null": (EXIT_OK, "", False),
    "< asked.jsonl > /dev/full": (EXIT_UNWRITTEN, "No space left", False),
    "< pipe > /dev/full": (EXIT_UNWRITTEN, "No space left", False),
    "< pipe": (EXIT_OK, "", True),
    "< pipe >&-": (EXIT_OK, "", False),
    "< pipe > said.jsonl": (EXIT_OK, "", True),
}


@pytest.mark.parametrize("behind", [False, True], ids=["alone", "a proxy"])
@pytest.mark.parametrize("ends", ENDS)
def test_every_stdin_and_stdout_is_answered_or_refused_in_words(mcp, ends, behind):
    """`spill mcp < /dev/null` used to print an asyncio traceback and hang."""
    code, words, answered = ENDS[ends]
    (mcp.folder / "asked.jsonl").write_text(PING)
    (mcp.folder / "empty").touch()
    line = '"$@" ' + ends.replace("< pipe", "")
    command = ["sh", "-c", line, "sh", *mcp.spill(*["--", *mcp.plain] * behind)]
    ran = subprocess.run(
        command,
        input=PING,
        env=mcp.env,
        cwd=mcp.folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stderr == "" or words
    said = Path(mcp.folder / "said.jsonl")
    text = said.read_text() if said.exists() else ran.stdout
    assert [json.loads(line) for line in text.splitlines()] == [PONG] * answered


def test_a_terminal_is_told_what_is_expected(mcp):
    ours, theirs = pty.openpty()
    process = mcp.started(mcp.spill(), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    assert "waiting for an MCP client on stdin" in process.stderr.readline()
    os.write(ours, PING.encode())
    assert json.loads(process.stdout.readline()) == PONG
    os.write(ours, b"\x04")  # Ctrl-D
    assert process.wait(PATIENCE) == 0
    os.close(ours)


def test_more_requests_in_a_file_than_a_pipe_holds_are_all_answered(mcp):
    asked = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) for number in range(5_000)]
    (mcp.folder / "asked").write_text("\n".join(asked))
    with open(mcp.folder / "asked", "rb") as file, open(mcp.folder / "said", "wb") as out:
        subprocess.run(mcp.spill(), stdin=file, stdout=out, env=mcp.env, timeout=PATIENCE, check=True)
    answers = map(json.loads, (mcp.folder / "said").read_text().splitlines())
    assert sorted(answer["id"] for answer in answers) == list(range(5_000))


def test_nothing_that_is_printed_comes_between_the_messages():
    code = """
import asyncio, os
from spillover.mcp.stdio import connect_client
async def main():
    client = await connect_client()
    print("stray", flush=True)
    os.system("echo stray too")
    await client.send(b"{}")
    await client.flush()
asyncio.run(main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, capture_output=True, check=True, timeout=60
    )
    assert (ran.stdout, ran.stderr) == (b"{}\n", b"stray\nstray too\n")

"""What is foreign reaches a person's terminal harmless, whatever command prints it, and wherever it stands."""

import ast
import hashlib
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import spillover.cli
from spillover import DirStore
from spillover.cli.output import escape_controls, write_json
from spillover.store.record import Record
from spillover.testing import put

#: Sets the clipboard, the title and colours; an 8-bit CSI; turns the line around; hides letters; DEL; a second line of ours.
HOSTILE = "\x1b]52;c;cm0gLXJmIC8=\x07\x1b[2J\x9b31m\u202eevil\u2066\U000e0041\u200b\x7f\nspill: all is well\r\b"
BIDI = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def assert_harmless(data, what=""):
    text = data.decode("utf-8")  # strict: half a character would be a byte of its own on some terminals
    obeyed = [char for char in text if (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f"]
    assert not obeyed, (what, text)
    assert not set(text) & set(BIDI), (what, text)
    assert not [char for char in text if 0xE0000 <= ord(char) <= 0xE0FFF or char == "\u200b"], (what, text)


@pytest.fixture
def hostile(tmp_path):
    """A store, a folder and a configuration whose every word is somebody else's."""
    store = DirStore(tmp_path / ("store " + HOSTILE.replace("/", "")))
    record = put(store, b"".join(b"line %d\n" % n for n in range(9_000)), "tool")
    writer = store.writer()
    writer.write(b"x" * 100)
    sha256 = hashlib.sha256(b"x" * 100).hexdigest()
    made = Record(
        ref=f"tool-{sha256[:12]}", tool=HOSTILE, sha256=sha256, bytes=100, lines=1, call_id=HOSTILE, command=HOSTILE,
        partial=HOSTILE, produced_bytes=200, why=((1, 1, HOSTILE),), kind=HOSTILE, segments=((HOSTILE, 100),),
    )  # fmt: skip
    second = writer.publish(made).ref
    folder = tmp_path / ("folder " + HOSTILE.replace("/", ""))
    folder.mkdir()
    (folder / "home").mkdir()
    return store, record.ref, second, folder


#: Every command, with what may be hostile in what it is given. {ref}, {second}: outputs with a record; {bad}: hostile words.
CALLS = [
    ["list"], ["list", "--all"], ["list", "--json"], ["list", "--tool", "{bad}"], ["list", "--command", "{bad}"],
    ["show", "{second}"], ["show", "{second}", "--why"], ["show", "{second}", "--json"], ["show", "{bad}"], ["show", "last:{bad}"],
    ["read", "{second}"], ["read", "{second}", "--json"], ["read", "{bad}"], ["read", "{ref}", "{bad}"], ["read", "{ref}", "--columns", "{bad}"],
    ["grep", "{ref}", "{bad}"], ["grep", "{ref}", "{bad}", "-F"], ["grep", "{bad}", "x"], ["grep", "{ref}", "x", "--from", "{bad}"],
    ["outline", "{ref}"], ["outline", "{second}"], ["outline", "{bad}"],
    ["gc"], ["gc", "--dry-run"], ["gc", "--json"], ["gc", "--compress-after", "{bad}"],
    ["verify"], ["verify", "{second}"], ["verify", "--json"], ["verify", "{bad}"],
    ["pin", "{second}"], ["pin", "{bad}"], ["unpin", "{second}"], ["unpin", "{bad}"],
    ["config"], ["config", "--json"], ["doctor"], ["doctor", "--json"], ["doctor", "--store", "{bad}"],
    ["trust"], ["trust", "{bad}"], ["trust", "--list"], ["trust", "--remove", "{bad}"],
    ["run", "--", "{bad}"], ["run", "--tool", "{bad}", "--", "true"], ["run", "--json", "--", "printf", "%s", "{bad}"],
    ["run", "--", "printf", "%s", "{bad}"], ["run", "--timeout", "{bad}", "--", "true"], ["run", "--store", "{bad}", "--", "seq", "9000"],
    ["run", "--", "sh", "-c", 'printf "%s" "$0"', "{bad}"], ["run", "--profile", "{bad}", "--", "true"],
    ["init", "claude-code"], ["init", "claude-code", "--dry-run"], ["init", "codex", "--scope", "project"], ["init", "{bad}"],
    ["hook", "claude-code"], ["hook", "{bad}"], ["mcp", "--url", "{bad}"],
    ["{bad}"], ["--{bad}"], ["--keep", "{bad}"], ["--tokens", "{bad}"], ["--tokenizer", "{bad}"],
    ["--tool", "{bad}"], ["--tool", "{bad}", "--json"], ["--help"], ["list", "--help"],
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_hostile_words_are_harmless_on_every_command(hostile, call):
    """`list`, `show`, `config` and `doctor` printed commands, tool names, keys and paths raw: `\\e]52` set the clipboard."""
    store, ref, second, folder = hostile
    words = [word.replace("{ref}", ref).replace("{second}", second).replace("{bad}", HOSTILE) for word in call]
    env = {**os.environ, "SPILLOVER_STORE": str(store.root), "HOME": str(folder / "home"), "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", *words],
        input=HOSTILE.encode() * 5, capture_output=True, timeout=60, check=False, cwd=folder, env=env,
    )  # fmt: skip
    assert_harmless(ran.stdout, "stdout")
    assert_harmless(ran.stderr, "stderr")
    assert b"Traceback" not in ran.stderr
    if call[0] != "run":  # what a command prints may be any text
        assert b"\nspill: all is well" not in ran.stderr


@pytest.mark.parametrize("debug", ["", "1"])
def test_hostile_configuration_is_harmless_in_what_is_said_of_it(tmp_path, debug):
    (tmp_path / "spillover.toml").write_text(
        f"{json.dumps('bad' + HOSTILE)} = 1\n[tools.{json.dumps(HOSTILE)}]\nkeep = 'head'\n", encoding="utf-8"
    )
    env = {**os.environ, "SPILLOVER_DEBUG": debug, "SPILLOVER_KEEP": HOSTILE}
    for command in ("config", "doctor", "list"):
        ran = subprocess.run(
            [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", command],
            capture_output=True, timeout=60, check=False, cwd=tmp_path, env=env,
        )  # fmt: skip
        assert_harmless(ran.stdout + ran.stderr, command)


def test_a_traceback_for_debugging_is_harmless(tmp_path):
    code = (
        "import sys; import spillover.cli.run; from spillover.cli import main\n"
        "def broken(_): raise RuntimeError(sys.argv[1])\n"
        "from msgspec.structs import replace; commands = spillover.cli.run.COMMANDS\n"
        "commands['run'] = replace(commands['run'], run=broken)\n"
        "sys.exit(main(['run', '--', 'true']))"
    )
    for debug in ("", "1"):
        ran = subprocess.run(
            [sys.executable, "-c", code, HOSTILE], capture_output=True, timeout=60, check=False,
            env={**os.environ, "SPILLOVER_DEBUG": debug},
        )  # fmt: skip
        assert_harmless(ran.stderr)
        assert b"RuntimeError" in ran.stderr


@pytest.mark.parametrize(
    "value", ["é漢😀", "a\x7fb", "a\x9bb", "a\u202eb", "a\U000e0041b", "a\ud800b", "a\x1bb", "می‌خ"]
)
def test_json_is_harmless_and_still_the_same_value(value, capfd):
    write_json({"key": value})
    printed = capfd.readouterr().out
    assert_harmless(printed.encode())
    assert json.loads(printed) == {"key": value}
    if value == "é漢😀":
        assert value in printed, "what is ordinary stays readable"


def test_what_a_profile_shows_as_it_came_is_harmless_on_a_terminal_and_untouched_in_a_pipe(tmp_path):
    words = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())",
             "--profile", "opencode", "--store", str(tmp_path / "s")]  # fmt: skip
    given = b"\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07 done\n"
    piped = subprocess.run(words, input=given, capture_output=True, timeout=60, check=True)
    assert piped.stdout == given
    keys, line = pty.openpty()
    subprocess.run(words, input=given, stdout=line, timeout=60, check=True)
    os.close(line)
    seen = os.read(keys, 4_096).replace(b"\r\n", b"\n")
    os.close(keys)
    assert_harmless(seen)
    assert b"red" in seen


def test_what_an_mcp_server_writes_to_stderr_is_harmless_on_a_terminal_and_untouched_in_a_pipe(tmp_path):
    # A server behind `spill mcp` had our stderr itself: its escape codes set the clipboard of whoever started it by hand.
    server = ["sh", "-c", "printf '\\033]52;c;eA==\\007\\033[2Jready \\342\\200\\256x\\r\\n' >&2; cat >/dev/null"]
    words = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", "mcp", "--", *server]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "timeout": 60, "cwd": tmp_path}
    piped = subprocess.run(words, stderr=subprocess.PIPE, check=True, **options)
    assert piped.stderr == b"\x1b]52;c;eA==\x07\x1b[2Jready \xe2\x80\xaex\r\n"
    keys, line = pty.openpty()
    subprocess.run(words, stderr=line, check=True, **options)
    os.close(line)
    seen = os.read(keys, 4_096).replace(b"\r\n", b"\n")
    os.close(keys)
    assert_harmless(seen)
    assert b"ready" in seen


def test_a_list_is_as_wide_as_the_terminal_and_whole_for_a_program(tmp_path):
    env = {**os.environ, "SPILLOVER_STORE": str(tmp_path / "s"), "SPILLOVER_CONFIG": "none"}
    call = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())"]
    command = "seq 9000; echo " + "word " * 40
    subprocess.run([*call, "run", "--lines", "9", "--", "sh", "-c", command], env=env, capture_output=True, check=True)
    piped = subprocess.run([*call, "list"], env=env, capture_output=True, check=True).stdout.decode()
    assert command.strip() in piped
    keys, line = pty.openpty()
    termios.tcsetwinsize(line, (24, 80))
    subprocess.run([*call, "list"], env=env, stdout=line, timeout=60, check=True)
    os.close(line)
    rows = os.read(keys, 4_096).decode().splitlines()
    os.close(keys)
    assert max(map(len, rows)) == 80
    assert rows[1].endswith("…")


def test_what_is_plain_stays_as_it_is():
    for text in ("", "spill: ok\n\ttabbed\n", "é漢😀 👩‍👩‍👧 می‌خواهم\n"):
        assert escape_controls(text) == text


#: Where the command line may write without `put`, and why.
WRITERS = {
    ("output.py", "os.write"): "put itself",
    ("parsing.py", "sys.stderr"): "compared with, to know where argparse wants to write",
    ("__init__.py", "sys.stdout"): "flushed",
}


def test_nothing_on_the_command_line_writes_but_through_the_one_function():
    found = set()
    for path in sorted(Path(spillover.cli.__file__).parent.glob("**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "input"):
                found.add((path.name, node.func.id))
            elif isinstance(node, ast.Attribute):
                owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
                if owner == "sys" and node.attr in ("stdout", "stderr", "__stdout__", "__stderr__"):
                    found.add((path.name, f"sys.{node.attr}"))
                elif node.attr in ("write", "writelines", "writev") and owner in (
                    "os",
                    "stdout",
                    "stderr",
                    "_out",
                    "buffer",
                ):
                    found.add((path.name, f"{owner}.{node.attr}"))
    assert found == set(WRITERS)

"""What `spill` loads before it runs a command: every tool call pays for it."""

import subprocess
import sys

import pytest

#: Each of these costs milliseconds, and none is needed to run a command whose output fits.
HEAVY = {
    "asyncio",
    "dataclasses",
    "difflib",
    "hashlib",
    "hyperscan",
    "inspect",
    "json",
    "logging",
    "msgspec",
    "numpy",
    "pathlib",
    "random",
    "re2",
    "shutil",
    "socket",
    "splintr",
    "tempfile",
    "tomllib",
    "typing",
    # What the adapters are for is none of a command's business.
    "agents",
    "langchain",
    "langchain_core",
    "langgraph",
    "mcp",
    "openai",
    "pydantic",
    "pydantic_ai",
}
LOADED = """
import sys
before = set(sys.modules)
from spillover.cli import main
main(sys.argv[1:])
print(*set(sys.modules) - before, file=sys.stderr)
"""


def loaded(*words, given=b"hello\n"):
    ran = subprocess.run([sys.executable, "-c", LOADED, *words], input=given, capture_output=True, check=True)
    return set(ran.stderr.decode().splitlines()[-1].split())


@pytest.mark.parametrize("words", [["run", "--", "true"], ["run", "--", "echo", "hello"], []])
def test_what_fits_is_passed_on_without_anything_heavy(words):
    assert not loaded(*words) & HEAVY


def test_what_fits_needs_nothing_that_cuts_or_goes_back():
    ours = {name.removeprefix("spillover.") for name in loaded("run", "--", "true") if name.startswith("spillover.")}
    assert not {name for name in ours if name.startswith(("select.", "retrieve", "render", "blocks", "wrap"))}
    assert not ours & {"store.scoped", "store.owners", "store.joining", "cut", "fit"}


def test_what_overflows_needs_no_search_engine_and_no_exact_tokens():
    ends = loaded("run", "--bytes", "2000", "--keep", "ends", "--", "seq", "5000")
    assert not ends & {"re2", "splintr", "numpy", "hyperscan", "msgspec", "asyncio", "tomllib"}
    assert not {
        name for name in ends if name.startswith(("spillover.adapters", "langchain", "pydantic", "agents", "mcp"))
    }
    assert not loaded("run", "--bytes", "2000", "--", "seq", "5000") & {"re2", "splintr", "asyncio", "tomllib"}


def test_only_the_command_that_is_asked_for_is_loaded():
    assert "spillover.run.command" not in loaded("list")
    assert "spillover.cli.keeping" not in loaded("run", "--", "true")


OURS = LOADED.replace("main(sys.argv[1:])", "main()")


def test_a_log_is_clipped_without_what_others_load_for_things_we_do_not_use(monkeypatch, tmp_path):
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("SPILLOVER_DEBUG", "1")  # the process goes on behind `main`
    log = b"".join(b"2026-01-01 INFO step %d\n" % number for number in range(3_000)) + b"x.c:1: error: no such file\n"
    (tmp_path / "log").write_bytes(log)
    with (tmp_path / "log").open("rb") as given:  # nobody has to wait for a file, so nothing is loaded beside it
        ran = subprocess.run(
            [sys.executable, "-c", OURS, "--tokens", "2000"], stdin=given, capture_output=True, check=True
        )
    assert b"error: no such file" in ran.stdout
    names = set(ran.stderr.decode().splitlines()[-1].split())
    assert {"numpy", "hyperscan"} <= names
    unneeded = {"gettext", "locale", "threading", "typing"}
    if sys.version_info < (3, 14):  # from then on, argparse itself wants it for its colours
        unneeded.add("dataclasses")
    assert unneeded & names == set()


@pytest.mark.parametrize("words", [["run", "--tokens"], ["read", "--help"], ["--nonsense"]])
def test_what_argparse_says_needs_no_translation(words):
    said = [
        subprocess.run([sys.executable, "-c", f"import sys; from spillover.cli import main; sys.exit(main({given}))", *words],
                       capture_output=True, check=False)
        for given in ("", "sys.argv[1:]")
    ]  # fmt: skip
    assert said[0].stdout + said[0].stderr == said[1].stdout + said[1].stderr != b""
    assert said[0].returncode == said[1].returncode

"""What `spill` loads before it runs a command: every tool call pays for it."""

import subprocess
import sys

import pytest

#: None of these is needed to run a command whose output fits.
HEAVY = {
    "asyncio",
    "hyperscan",
    "numpy",
    "splintr",
    "tomllib",
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


@pytest.mark.parametrize("command", ["true", "false"])
def test_what_fits_needs_nothing_that_cuts_or_goes_back(command):
    ours = {name.removeprefix("spillover.") for name in loaded("run", "--", command) if name.startswith("spillover.")}
    cutting = ("select.auto", "select.json", "select.kind", "select.log", "show.cut", "show.fit")
    assert not {
        name for name in ours if name.startswith((*cutting, "retrieve", "since.compare", "wrap.bound", "wrap.function"))
    }


def test_what_overflows_needs_no_search_engine_and_no_exact_tokens():
    ends = loaded("run", "--bytes", "2000", "--keep", "ends", "--", "seq", "5000")
    assert not ends & {"splintr", "hyperscan", "asyncio", "tomllib"}
    assert not {
        name
        for name in ends
        if name.startswith(("spillover.hosts.hook", "spillover.frameworks", "langchain", "pydantic", "agents", "mcp"))
    }
    assert not loaded("run", "--bytes", "2000", "--", "seq", "5000") & {"splintr", "asyncio", "tomllib"}


def test_only_the_command_that_is_asked_for_is_loaded():
    assert "spillover.run" not in loaded("list")
    assert "spillover.cli.outputs" not in loaded("run", "--", "true")

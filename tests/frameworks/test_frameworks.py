"""The names that framework adapters export are documented, and only code that uses an adapter pays for its import."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from spillover.frameworks import OLDEST_VERSIONS

DOCS = Path(__file__).parents[2] / "docs"
#: Each adapter with its page and its extra.
ADAPTERS = {"langchain": "langchain", "openai_agents": "openai-agents", "pydantic_ai": "pydantic-ai"}
each_adapter = pytest.mark.parametrize(("module", "extra"), ADAPTERS.items())


@each_adapter
def test_every_name_says_what_it_is_and_stands_in_its_page_and_in_the_reference(module, extra):
    adapter = importlib.import_module(f"spillover.frameworks.{module}")
    for name in adapter.__all__:
        assert getattr(adapter, name).__doc__.split("\n")[0].endswith(".")
        for page in (DOCS / "adapters" / f"{extra}.md", DOCS / "reference.md"):
            assert name in page.read_text(encoding="utf-8"), page


@each_adapter
def test_the_page_has_the_install_line(module, extra):
    assert f'pip install ".[{extra}]"' in (DOCS / "adapters" / f"{extra}.md").read_text(encoding="utf-8")


@each_adapter
def test_without_the_package_the_error_says_what_to_install(module, extra):
    package = {"openai_agents": "agents"}.get(module, module)
    code = f"import sys; sys.modules[{package!r}] = None\nimport spillover.frameworks.{module}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"or newer: pip install 'spillover[{extra}]'" in ended.stderr


def test_the_oldest_versions_are_those_of_the_extras():
    text = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
    for package, oldest in OLDEST_VERSIONS.values():
        assert f'"{package}>={oldest}' in text


def test_no_framework_is_imported_by_code_that_does_not_use_it():
    code = """
import sys
from spillover import *
import spillover.frameworks
clipper = Clipper(Limits(bytes=500), store=MemoryStore(), hints="tools")
clipper.clip("x\\n" * 5_000)
clipper.wrap(lambda: {"a": ["x" * 5_000]}, tool="t")()
clipper.tool_specs(), clipper.dispatch("read_output", {"ref": "last"})
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "spillover" in loaded
    assert not {"agents", "langchain", "langchain_core", "langgraph", "mcp", "openai", "pydantic", "pydantic_ai"} & {
        *loaded
    }

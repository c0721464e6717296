"""The documents written again are worth something only if they know nothing of what they are held against."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "from_text"
DOCUMENTS = ("daycare", "klaude", "opencode", "t15", "vtcode")


@pytest.mark.parametrize("name", [file.stem for file in FOLDER.glob("*.py")])
def test_nothing_of_ours_is_used(name):
    source = (FOLDER / f"{name}.py").read_text()
    assert "import spillover" not in source
    assert "from spillover" not in source


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document_is_there_and_is_compared(name):
    assert (FOLDER / f"{name}.py").is_file()
    assert f"from from_text import {name} as document" in (FOLDER.parent / f"test_{name}_from_text.py").read_text()

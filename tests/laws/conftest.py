"""The laws share their outputs, their ways in and their naive counting: the modules law_*.py beside this file."""

import sys
from pathlib import Path

# pytest's importlib mode leaves sys.path alone, so that test files cannot import by accident what stands beside them.
sys.path.append(str(Path(__file__).parent))

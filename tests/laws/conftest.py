"""Let the law tests import what they share: the law_*.py modules in this folder."""

import sys
from pathlib import Path

# pytest's importlib mode does not change sys.path, so that test files cannot import their neighbours by accident.
sys.path.append(str(Path(__file__).parent))

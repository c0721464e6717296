"""Let the tests import the parts of `make soak`, which are modules in this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

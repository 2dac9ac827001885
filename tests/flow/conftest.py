"""Nothing here but the path to the helpers beside the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

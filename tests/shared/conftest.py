"""Puts the oracles beside these tests on the path.

In: pytest. Out: nothing. Refuses to know: shared streams.
"""

import sys
from pathlib import Path

TESTS = str(Path(__file__).parent.parent)
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)

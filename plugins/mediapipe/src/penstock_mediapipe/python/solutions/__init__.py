"""`penstock_mediapipe.solutions` under the name that programs for MediaPipe know: the same modules."""

from __future__ import annotations

import sys
from importlib import import_module

from penstock_mediapipe.solutions import MODULES

for _name in MODULES:
    # `import penstock_mediapipe.python.solutions.hands` finds it, and it is no second module.
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = import_module(
        f"penstock_mediapipe.solutions.{_name}"
    )

"""The end of `beside_reference.py` that runs in MediaPipe's environment: cases in, results out, a line each.

python reference_end.py FOLDER    FOLDER has backend_reference.py and run_cases.py
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def main() -> None:
    """Answer each case with a line of JSON, until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):  # the reference writes to both
        os.dup2(silence, number)
    sys.path.insert(0, sys.argv[1])
    backend: Any = importlib.import_module("backend_reference")
    run_cases: Any = importlib.import_module("run_cases")
    answers.write('"ready"\n')
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(run_cases.run_case(json.loads(line), backend)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

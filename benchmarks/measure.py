"""One measurement of one contestant, in this process; `side_by_side` starts it for each measurement.

    PYTHON benchmarks/measure.py MODULE:FUNCTION SETTINGS

SETTINGS is a JSON object of keyword arguments. The function returns figures, name → number; the last line
printed is a JSON object of `figures`, of `python` and of `versions`, or, where the contestant is not
installed here, of `missing`, the reason. Standard library only: peers run in environments of their own.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import platform
import sys

#: Module → distribution; the report has its version if a measurement has imported it.
TOLD = {
    "penstock": "penstock-core",
    "numpy": "numpy",
    "cv2": "opencv-python-headless",
    "av": "av",
    "google.protobuf": "protobuf",
    "mediapipe": "mediapipe",
    "streamz": "streamz",
    "reactivex": "reactivex",
    "pluggy": "pluggy",
    "OpenGL": "PyOpenGL",
}


def versions() -> dict[str, str]:
    """Return name → version of those of these distributions that this process has imported."""
    found = {}
    for module, distribution in TOLD.items():
        if module in sys.modules:
            try:
                found[distribution] = importlib.metadata.version(distribution)
            except importlib.metadata.PackageNotFoundError:  # the module is not from that distribution
                found[distribution] = "of another distribution"
    engine = sys.modules.get("penstock.engine.schedule")
    if engine is not None:
        compiled = str(engine.__file__).endswith((".so", ".pyd"))
        found["engine of penstock"] = "compiled" if compiled else "plain Python"
    return found


def main() -> None:
    """Import, measure, print."""
    module_name, _, function = sys.argv[1].partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
        return
    figures = getattr(module, function)(**json.loads(sys.argv[2]))
    found = versions() | getattr(module, "VERSIONS", {})
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    python = f"{platform.python_implementation()} {platform.python_version()}" + (
        "" if has_gil else ", no GIL"
    )
    print(json.dumps({"figures": figures, "python": python, "versions": found}))


if __name__ == "__main__":
    main()

"""Build the core with its engine compiled.

    python scripts/compiled_wheel.py DIRECTORY [CORE]

Writes an sdist and, from it, a wheel for this interpreter into DIRECTORY, which is emptied before. The wheel
is built from the sdist, since a build in place leaves the compiled modules in the source tree. It needs uv, a
C compiler and half a minute. CORE is another copy of the core; by default this checkout's.
"""

from __future__ import annotations

import os
import subprocess
import sys

from members import ROOT


def main(directory: str, core: str = "core") -> int:
    """Build both, of the core at a path from the root. Return the exit status."""
    command = ["uv", "build", "--quiet", "--clear", "--python", sys.executable, "--out-dir", directory]
    environment = {**os.environ, "HATCH_BUILD_HOOKS_ENABLE": "1"}
    return subprocess.run([*command, core], cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

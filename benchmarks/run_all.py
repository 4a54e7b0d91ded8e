"""Every benchmark, one after the other, each with its tables; `tox run -e bench` runs this in short form.

    python benchmarks/run_all.py [--folder REPORTS] [NAME ...] [-- OPTIONS OF EACH]

    python benchmarks/run_all.py -- --short
    python benchmarks/run_all.py --folder reports chain latency -- --reference PYTHON --peers PYTHON

REPORTS gets NAME.json for each. It checks that each benchmark runs, that its contestants did their work, and
that its report has every field, but not how long it takes. It exits with 1 if one fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from side_by_side import HERE, BenchmarkError, check_report

if TYPE_CHECKING:
    from collections.abc import Sequence

#: In the order of the claims in README.md.
BENCHMARKS: Final = (
    "chain",
    "latency",
    "join",
    "edge_overlay",
    "large_graphs",
    "equal_graphs",
    "memory",
    "many_graphs",
    "parallel",
    "processes",
    "simulated_scale",
    "start",
    "functions",
    "slow_node",
    "monitor",
    "budget",
    "live",
    "metrics",
    "gpu_frame",
    "image",
    "encoders",
)
#: Those that need files which are not here: they are run by themselves.
APART: Final = ("cluster", "detect", "door")


def run(name: str, folder: Path, options: Sequence[str]) -> str:
    """Run a benchmark and check its report. Return the fault, or ""."""
    target = folder / f"{name}.json"
    target.unlink(missing_ok=True)
    command = [sys.executable, str(HERE / f"{name}.py"), "--json", str(target), *options]
    code = subprocess.run(command, check=False).returncode  # noqa: S603  # our own files
    if not target.exists():
        return f"{name} exited with {code} and wrote no report"
    try:
        check_report(json.loads(target.read_text(encoding="utf-8")))
    except BenchmarkError as error:
        return f"{name}: {error}"
    return f"{name} exited with {code}: a bar is missed" if code else ""


def main(arguments: Sequence[str]) -> int:
    """Run the named benchmarks, or all. Return the exit status."""
    own, options = list(arguments), list[str]()
    if "--" in own:
        cut = own.index("--")
        own, options = own[:cut], own[cut + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default all: {', '.join(BENCHMARKS)}")
    parser.add_argument("--folder", type=Path, help="where the reports go; default a temporary one")
    given = parser.parse_args(own)
    if unknown := sorted(set(given.names) - set(BENCHMARKS)):
        parser.error(f"no benchmark {', '.join(unknown)}, expected some of {', '.join(BENCHMARKS)}")
    wrong = []
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        for name in given.names or BENCHMARKS:
            print(f"== {name}", flush=True)
            start = perf_counter()
            if fault := run(name, folder, options):
                wrong.append(fault)
            print(f"== {name}: {perf_counter() - start:.1f} s\n", flush=True)
    for fault in wrong:
        print(fault, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

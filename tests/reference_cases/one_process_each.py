"""Run recorded cases, each in a process of its own: paths come in by stdin, results go out by stdout as JSON.

The processes are forks of this one, which has imported everything and started no thread. Starting Python
for each case would take longer than all cases together.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import backend_penstock
import run_cases

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def run(case: dict[str, Any], results: Connection) -> None:
    """Run a case and send its result; the process ends at once, whatever threads the case has left."""
    results.send(json.dumps(run_cases.run_case(case, backend_penstock)))
    os._exit(0)


def result_of(case: dict[str, Any]) -> str:
    """Return the result of a case; a process that dies or takes too long is a "crash"."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(case, sending))
    process.start()
    sending.close()
    try:
        if receiving.poll(case["timeout_s"]):
            return str(receiving.recv())
        return json.dumps({"crash": "hang"})
    except EOFError:
        process.join()
        return json.dumps({"crash": f"exit {process.exitcode}"})
    finally:
        process.kill()
        process.join()
        process.close()


# Load the plugins before the first fork.
backend_penstock.Graph(
    'input_stream: "a" node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }'
)
for path in sys.stdin:
    result = result_of(json.loads(Path(path.rstrip("\n")).read_text("utf-8")))
    sys.stdout.write(f"{result}\n")
    sys.stdout.flush()

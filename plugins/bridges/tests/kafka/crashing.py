"""Writes each value of a topic to a file, a line each, until it is killed: crashing.py GRAPH FILE."""

from __future__ import annotations

import sys
from pathlib import Path

import penstock


def main():
    with Path(sys.argv[2]).open("ab", buffering=0) as file:

        @penstock.register_calculator
        @penstock.calculator
        def keep(value: bytes) -> int:
            file.write(value + b"\n")
            return 1

        graph = penstock.CalculatorGraph(Path(sys.argv[1]).read_text(encoding="utf-8"))
        graph.run()


main()

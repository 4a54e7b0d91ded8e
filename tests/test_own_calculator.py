"""The way of a new user: an empty directory, a film, and the twelve lines of `examples/own_calculator.py`."""

from __future__ import annotations

import ast
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "own_calculator.py"
TICKS = (0, 1, 2, 5)


def write_film(path):
    """Write 64 x 48 frames of grey level 40, 60, ..., 40 ms a tick."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 25)
        for index, tick in enumerate(TICKS):
            frame = av.VideoFrame.from_ndarray(
                np.full((48, 64, 3), 40 + 20 * index, np.uint8), format="rgb24"
            )
            frame.pts, frame.time_base = tick, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def read_film(path):
    with av.open(str(path)) as container:
        return [
            (float(frame.time), float(frame.to_ndarray(format="rgb24").mean()))
            for frame in container.decode(video=0)
        ]


def code_lines(source):
    """Return the number of lines that are neither blank nor comment nor docstring."""
    tree = ast.parse(source)
    silent = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            silent.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(bool(line.strip()) and not line.startswith("#") and n not in silent for n, line in lines)


def test_the_example_has_twelve_lines_of_code():
    assert code_lines(EXAMPLE.read_text(encoding="utf-8")) == 12


def test_the_example_makes_the_negative_of_a_film_at_the_same_times(tmp_path):
    write_film(tmp_path / "in.mp4")
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())

    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (0, "")
    before, after = read_film(tmp_path / "in.mp4"), read_film(tmp_path / "out.mp4")
    assert [time for time, _ in after] == [time for time, _ in before]
    assert len(after) == len(TICKS)
    for (_, light), (_, dark) in zip(before, after, strict=True):
        assert abs(255 - light - dark) < 4

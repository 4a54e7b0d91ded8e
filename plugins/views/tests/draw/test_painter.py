"""Drawings that a process of its own lays out: the same picture, and no waiting for one that hangs."""

from __future__ import annotations

import importlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from penstock.errors import UnavailableError
from penstock_views import draw
from penstock_views.draw import painter

GRAPH = 'input_stream: "a"\nnode { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "b" }'


@pytest.fixture
def hanging(monkeypatch, tmp_path):
    """Let the program that draws be one that never ends; return the file that it makes when it runs."""
    begun = tmp_path / "begun"
    (tmp_path / "hangs_forever.py").write_text(
        f"import threading\nopen({str(begun)!r}, 'w').close()\nthreading.Event().wait()\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(painter, "PAINTER", "hangs_forever")
    return begun


@pytest.mark.parametrize("across", [False, True])
def test_the_picture_is_the_one_of_this_process(across):
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    drawing = draw.drawing(GRAPH)

    assert draw.painter_svg(drawing, across=across) == draw.svg(drawing, marked=True, across=across)


def test_what_makes_the_drawing_is_called_in_the_other_process(monkeypatch, tmp_path):
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    (tmp_path / "drawn_elsewhere.py").write_text(
        "import os\nfrom penstock_views import draw\n"
        "def made(config, kept):\n"
        "    open(kept, 'w').write(str(os.getpid()))\n    return draw.drawing(config)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module("drawn_elsewhere").made
    kept = tmp_path / "process"

    found = draw.painter_svg(partial(made, GRAPH, kept))

    assert found == draw.svg(draw.drawing(GRAPH), marked=True)
    assert int(kept.read_text(encoding="utf-8")) != os.getpid()


def test_a_picture_that_takes_too_long_is_given_up(hanging):
    with pytest.raises(UnavailableError, match=r"the painter had not drawn the graph after 0\.2 s"):
        draw.painter_svg(draw.drawing(GRAPH), longest_s=0.2)


def test_a_painter_that_is_closed_ends_the_picture_under_way_and_begins_no_other(hanging):
    painter = draw.Painter()
    drawing = draw.drawing(GRAPH)
    waiting = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(painter.svg, drawing)
        for _ in range(600):
            if hanging.exists():
                break
            waiting.wait(0.1)
        painter.close()
        painter.close()
        with pytest.raises(UnavailableError, match="was given up"):
            found.result(30)

    assert hanging.exists()
    with pytest.raises(UnavailableError, match="was given up"):
        painter.svg(drawing)


def test_why_it_cannot_be_drawn_is_said(monkeypatch, tmp_path):
    (tmp_path / "cannot_draw.py").write_text("import sys\nsys.exit('no ink')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(painter, "PAINTER", "cannot_draw")

    with pytest.raises(UnavailableError, match=r"^the painter cannot draw the graph: no ink$"):
        draw.painter_svg(draw.drawing(GRAPH))

"""LocalFilePatternContentsCalculator: a directory as a stream."""

from __future__ import annotations

import pytest

from penstock.errors import GraphRunError
from penstock_calculators.side_packets.local_file_pattern_contents import LocalFilePatternContentsCalculator
from penstock_testing import run_calculator


def files(folder, suffix):
    run = run_calculator(
        LocalFilePatternContentsCalculator,
        outputs=["CONTENTS"],
        side_packets={"FILE_DIRECTORY": str(folder), "FILE_SUFFIX": suffix},
    )
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs["CONTENTS"]]


@pytest.fixture
def folder(tmp_path):
    for name in ("b.jpg", "a.jpg", "c.png", "10.jpg", "9.jpg"):
        (tmp_path / name).write_bytes(name.encode() + b"\xff")
    (tmp_path / "inside.jpg").mkdir()
    return tmp_path


def test_files_come_in_the_order_of_their_names(folder):
    names = [b"10.jpg\xff", b"9.jpg\xff", b"a.jpg\xff", b"b.jpg\xff"]

    assert files(folder, "jpg") == list(enumerate(names, start=1))


def test_an_empty_suffix_is_that_of_all_files_and_another_of_none(folder):
    assert len(files(folder, "")) == 5
    assert files(folder, ".gif") == []


def test_a_directory_that_is_none_is_refused(folder):
    with pytest.raises(GraphRunError, match="of the side packet FILE_DIRECTORY does not exist"):
        files(folder / "away", "")
    with pytest.raises(GraphRunError, match="FILE_DIRECTORY cannot be read as a directory"):
        files(folder / "a.jpg", "")


def test_a_file_that_cannot_be_read_is_named(folder, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.open", refuse)

    with pytest.raises(GraphRunError, match=r"the file '.*c.png' cannot be read: .*Permission denied"):
        files(folder, "png")

"""The quick reader of entry points, beside Python's own."""

import importlib.metadata
import sys

import pytest

from penstock.entry_points import ordinary_points
from penstock.plugins.discovery import PluginHost

GROUP = "penstock.try_entries"


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def write(site, folder="try_one-1.5.dist-info", points=None, metadata="Name: try-one\nVersion: 1.5\n"):
    info = site / folder
    info.mkdir()
    text = f"[{GROUP}]\none = sys:path\ntwo = os\n" if points is None else points
    (info / "entry_points.txt").write_text(text, encoding="utf-8")
    (info / ("METADATA" if folder.endswith(".dist-info") else "PKG-INFO")).write_text(
        metadata, encoding="utf-8"
    )


def by_python():
    return sorted(
        (point.name, point.value, found.name, found.version)
        for found in importlib.metadata.distributions()
        for point in found.entry_points.select(group=GROUP)
    )


def test_what_pip_writes_is_read_as_python_reads_it(site):
    write(site)

    found = ordinary_points(GROUP)

    assert (
        sorted(found)
        == by_python()
        == [
            ("one", "sys:path", "try-one", "1.5"),
            ("two", "os", "try-one", "1.5"),
        ]
    )
    assert next(point for point in found if point.name == "one").load() is sys.path


def test_what_is_installed_here_is_read_as_python_reads_it():
    found = ordinary_points("console_scripts")
    every = {
        (point.name, point.value)
        for distribution in importlib.metadata.distributions()
        for point in distribution.entry_points.select(group="console_scripts")
    }

    assert found is None or {(point.name, point.value) for point in found} == every
    assert ordinary_points("penstock") is not None


def test_the_first_of_two_on_the_path_counts(site):
    write(site)
    (site / "second").mkdir()
    write(site / "second", "Try.One-2.0.dist-info", metadata="Name: Try.One\nVersion: 2.0\n")
    sys.path.insert(1, str(site / "second"))
    try:
        assert {point.version for point in ordinary_points(GROUP)} == {"1.5"}
    finally:
        sys.path.remove(str(site / "second"))


@pytest.mark.parametrize(
    "points",
    [
        "",
        "[other]\none = sys\n",
        "# no section\n\n[other]\none=sys",
    ],
)
def test_a_distribution_without_the_group_brings_nothing(site, points):
    write(site, points=points)

    assert ordinary_points(GROUP) == []


@pytest.mark.parametrize(
    ("points", "metadata"),
    [
        (f"[{GROUP}]\none = sys [extra]\n", None),
        (f"[{GROUP}]\none\n", None),
        (f"one = sys\n[{GROUP}]\ntwo = os", None),
        (f"[{GROUP}]\none = sys:\n", None),
        (f"[{GROUP}]\n", None),
        (None, "Version: 1.5\n"),
        (None, "Name: try-one\n"),
        (None, "Name: try-one\nName: try-two\nVersion: 1.5\n"),
        (None, "Name: try\n -one\nVersion: 1.5\n"),
        (None, "Name: \nVersion: 1.5\n"),
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_python(site, points, metadata):
    write(site, points=points, metadata=metadata or "Name: try-one\nVersion: 1.5\n")

    assert ordinary_points(GROUP) is None


def test_a_description_that_looks_like_a_header_is_none(site):
    write(site, metadata="Name: try-one\nVersion: 1.5\n\nName: of the game\n")

    assert [point.distribution for point in ordinary_points(GROUP)] == ["try-one", "try-one"]


def test_eggs_and_old_metadata_are_left_to_python(site, monkeypatch):
    write(site, "try_one.egg-info")
    assert ordinary_points(GROUP) is None
    (site / "try_one.egg-info" / "entry_points.txt").unlink()
    assert ordinary_points(GROUP) == []

    monkeypatch.syspath_prepend(site / "one.egg")
    assert ordinary_points(GROUP) is None


def test_a_file_on_the_path_is_left_to_python_and_one_that_is_not_there_is_nothing(site, monkeypatch):
    monkeypatch.syspath_prepend(site / "nowhere")
    assert ordinary_points(GROUP) == []

    (site / "packed.zip").write_bytes(b"")
    monkeypatch.syspath_prepend(site / "packed.zip")
    assert ordinary_points(GROUP) is None


def test_finders_of_others_that_know_distributions_are_left_to_python(monkeypatch):
    class Finder:
        find_spec = staticmethod(lambda *_: None)
        find_distributions = staticmethod(lambda *_: ())

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])

    assert ordinary_points(GROUP) is None


def test_plugins_are_found_alike_by_both_readers(site, monkeypatch):
    def found():
        return PluginHost(none=True).records

    write(site, points="[penstock]\ntry-one = os\n")
    quick = found()
    (site / "packed.zip").write_bytes(b"")
    monkeypatch.syspath_prepend(site / "packed.zip")
    assert ordinary_points("penstock") is None

    assert quick == found()
    assert ("try-one", "try-one", "1.5", "os") in [record[:4] for record in quick]

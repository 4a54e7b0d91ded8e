"""Where files are found, in which order, and what is said where they are not."""

from __future__ import annotations

import importlib.metadata
import pickle
import sys
import zipfile

import pytest

from penstock.access import Access
from penstock.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError
from penstock_tensors import ResourceFinder

NAME = "mediapipe/modules/hand/model.tflite"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """Work in an empty directory, without the variable and without an installed mediapipe."""
    monkeypatch.delenv("PENSTOCK_MEDIAPIPE_MODELS", raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)


def folder(path, text):
    file = path / NAME
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    return path


def wheel(path, text):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(NAME, text)
    return path


class Installed:
    version = "0.10.21"

    def __init__(self, path):
        self._path = path

    def locate_file(self, name):
        return self._path / name


def test_the_places_of_the_program_go_before_all_others(tmp_path, monkeypatch):
    given, second = folder(tmp_path / "given", b"given"), wheel(tmp_path / "second.whl", b"second")
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(folder(tmp_path / "variable", b"variable")))

    found = ResourceFinder([given, second]).find(NAME)

    assert (found.data, found.name, found.nbytes) == (b"given", NAME, 5)
    assert ResourceFinder([second, given]).find(NAME).data == b"second"


def test_then_comes_the_variable_then_the_distribution_then_the_path(tmp_path, monkeypatch):
    installed = folder(tmp_path / "installed", b"installed")
    folder(tmp_path / "empty", b"path")
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(wheel(tmp_path / "v.whl", b"variable")))
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(installed))

    assert ResourceFinder().find(NAME).data == b"variable"
    monkeypatch.delenv("PENSTOCK_MEDIAPIPE_MODELS")
    assert ResourceFinder().find(NAME).data == b"installed"
    (installed / NAME).unlink()
    assert ResourceFinder().find(NAME).data == b"path"


def test_a_frozen_program_finds_models_beside_it_and_inside_of_it(tmp_path, monkeypatch):
    beside, inside = folder(tmp_path / "beside", b"beside"), folder(tmp_path / "inside", b"inside")
    (beside / "program").touch()
    monkeypatch.setattr(sys, "executable", str(beside / "program"))
    with pytest.raises(NotFoundError):
        ResourceFinder().find(NAME)

    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(inside), raising=False)
    assert ResourceFinder().find(NAME).data == b"beside"
    with pytest.raises(PermissionDeniedError):
        ResourceFinder().find(NAME, Access(reads=[inside]))
    with pytest.raises(NotFoundError, match="searched: no place"):
        ResourceFinder(only_places=True).find(NAME)
    (beside / NAME).unlink()
    assert ResourceFinder().find(NAME).data == b"inside"
    (inside / NAME).unlink()
    with pytest.raises(NotFoundError, match=rf"'{beside}' \(of the program\), '{inside}' \(of the program\)"):
        ResourceFinder().find(NAME)


def test_an_absolute_name_is_a_path(tmp_path):
    (tmp_path / "own.tflite").write_bytes(b"own")

    assert ResourceFinder().find(str(tmp_path / "own.tflite")).data == b"own"


def test_what_is_not_found_is_named_with_all_places_and_the_cure(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(wheel(tmp_path / "v.whl", b"")))
    (tmp_path / "given").mkdir()

    with pytest.raises(NotFoundError) as raised:
        ResourceFinder([tmp_path / "given"]).find("mediapipe/such.tflite")

    words = str(raised.value)
    assert "has not found 'mediapipe/such.tflite'" in words
    for place in ("given'", "v.whl' (PENSTOCK_MEDIAPIPE_MODELS)", "mediapipe (not installed)", "the path '"):
        assert place in words
    assert "pip download --no-deps mediapipe==0.10.21" in words


def test_a_model_of_the_user_is_not_searched_in_the_wheel_of_mediapipe():
    with pytest.raises(NotFoundError, match="put it beside the graph file, name it by an absolute") as raised:
        ResourceFinder().find("yolo.onnx")

    assert "pip download" not in str(raised.value)


def test_a_finder_that_was_pickled_searches_the_same_places(tmp_path):
    given = ResourceFinder([folder(tmp_path / "given", b"given")], only_places=True)

    there = pickle.loads(pickle.dumps(given))  # noqa: S301  # just made

    assert there.find(NAME).data == b"given"
    with pytest.raises(NotFoundError, match="give its directory to ResourceFinder"):
        there.find(str(tmp_path / "given" / NAME))


def test_with_only_places_nothing_else_is_read(tmp_path, monkeypatch):
    folder(tmp_path / "empty", b"path")
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(wheel(tmp_path / "v.whl", b"variable")))
    (tmp_path / "given").mkdir()
    finder = ResourceFinder([tmp_path / "given"], only_places=True)

    for name in (NAME, str(tmp_path / "v.whl"), "../v.whl", "../empty/" + NAME):
        with pytest.raises(NotFoundError, match="give its directory to ResourceFinder"):
            finder.find(name)


def test_a_link_out_of_a_place_is_not_followed(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "given" / "link").symlink_to(tmp_path / "secret")

    with pytest.raises(NotFoundError):
        ResourceFinder([tmp_path / "given"], only_places=True).find("link")


def test_a_place_that_is_none_is_refused(tmp_path, monkeypatch):
    (tmp_path / "text").write_text("text")
    with pytest.raises(InvalidArgumentError, match="does not exist, but the resource finder searches there"):
        ResourceFinder([tmp_path / "missing"])
    with pytest.raises(InvalidArgumentError, match="is neither a directory nor a zip file"):
        ResourceFinder([tmp_path / "text"])
    with pytest.raises(InvalidArgumentError, match="pass a list of directories and wheels"):
        ResourceFinder("somewhere")
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path / "missing"))
    with pytest.raises(InvalidArgumentError, match=r"PENSTOCK_MEDIAPIPE_MODELS: .*missing' does not exist"):
        ResourceFinder().find(NAME)


def test_an_empty_name_is_refused():
    with pytest.raises(InvalidArgumentError, match="finder gets the name '', but it must name a"):
        ResourceFinder().find("")


def test_the_variable_may_be_a_pattern_which_shells_expand_in_no_assignment(tmp_path, monkeypatch):
    wheel(tmp_path / "mediapipe-0.10.21-cp312.whl", b"of the pattern")
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path / "mediapipe-0.10.21-*.whl"))

    assert ResourceFinder().find(NAME).data == b"of the pattern"


@pytest.mark.parametrize(
    ("files", "said"), [([], "matches no file"), (["a.whl", "b.whl"], "matches 2 files: ")]
)
def test_a_pattern_of_none_or_several_is_refused(tmp_path, monkeypatch, files, said):
    for name in files:
        wheel(tmp_path / name, b"")
    monkeypatch.setenv("PENSTOCK_MEDIAPIPE_MODELS", str(tmp_path / "*.whl"))

    with pytest.raises(InvalidArgumentError, match=rf"^PENSTOCK_MEDIAPIPE_MODELS: '.*\*\.whl' {said}"):
        ResourceFinder().find(NAME)

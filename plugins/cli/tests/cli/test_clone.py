"""In the editable environment of a clone, messages name the folders of packs that no index has."""

from __future__ import annotations

import json

import pytest

from penstock_cli.machine import environment
from penstock_cli.machine.clone import from_clone, missing_from_clone


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Return a function that makes a clone, with a core that this environment has installed from it."""
    root = tmp_path / "a clone"
    installed = tmp_path / "site-packages"

    def make(origin=None, **requirements):
        for name, wanted in {"core": [], **requirements}.items():
            folder = root / ("core" if name == "core" else f"plugins/{name}")
            folder.mkdir(parents=True)
            project = f'[project]\nname = "penstock-{name}"\ndependencies = {wanted}\n'
            (folder / "pyproject.toml").write_text(project)
        info = installed / "penstock_core-7.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: penstock-core\nVersion: 7.0\n")
        editable = {"url": (root / "core").as_uri(), "dir_info": {"editable": True}}
        (info / "direct_url.json").write_text(json.dumps(editable if origin is None else origin))
        monkeypatch.syspath_prepend(installed)
        return root

    return make


def test_a_pack_is_installed_from_its_folder(clone):
    root = clone(river=[])

    assert from_clone("penstock-river") == [str(root / "plugins/river")]
    assert from_clone("penstock-river[draw]") == [f"{root / 'plugins/river'}[draw]"]


def test_what_the_pack_requires_and_is_not_installed_comes_from_the_clone_too(clone):
    root = clone(
        river=["numpy>=2", "penstock-core==7.0", "penstock-brook[fast]>=7.0"],
        brook=["penstock-spring; python_version > '3'"],
        spring=["penstock-river"],
    )

    assert from_clone("penstock-river") == [
        str(root / f"plugins/{each}") for each in ("river", "brook", "spring")
    ]


def test_what_an_extra_requires_comes_from_the_clone_too(clone):
    root = clone(river=[], brook=[], spring=[])
    with (root / "plugins/river/pyproject.toml").open("a") as file:
        file.write('[project.optional-dependencies]\nwide = ["penstock-river[deep]>=7", "numpy"]\n')
        file.write('deep = ["penstock-brook"]\nlong = ["penstock-spring"]\n')

    assert from_clone("penstock-river[wide]") == [
        f"{root / 'plugins/river'}[wide]",
        str(root / "plugins/brook"),
    ]
    assert from_clone("penstock-river") == [str(root / "plugins/river")]


def test_a_distribution_that_the_clone_lacks_is_not_found_there(clone):
    clone(river=[])

    assert from_clone("penstock-lake") == []
    assert from_clone("numpy") == []


def test_what_a_new_pack_needs_and_is_missing_is_installed_with_it(clone):
    root = clone(river=["penstock-spring"], spring=[], brook=["penstock-spring"])

    assert missing_from_clone(["penstock-core", "penstock-river", "penstock-brook", "penstock-lake"]) == [
        word for name in ("river", "spring", "brook") for word in ("-e", str(root / "plugins" / name))
    ]


def test_a_pyproject_that_cannot_be_read_is_left_out(clone):
    root = clone(river=[], brook=[])
    (root / "plugins/brook/pyproject.toml").write_text("[project")

    assert from_clone("penstock-brook") == []
    assert from_clone("penstock-river") == [str(root / "plugins/river")]


@pytest.mark.parametrize(
    "origin",
    [{}, {"url": "file:///x/core", "dir_info": {}}, {"url": "https://x/core.whl", "archive_info": {}}],
)
def test_a_core_that_is_not_editable_has_no_clone(clone, origin):
    clone(origin, river=[])

    assert from_clone("penstock-river") == []


def test_a_message_names_the_folder_and_keeps_the_rest(clone, monkeypatch):
    root = clone(river=[])
    monkeypatch.setattr(environment, "_pip", lambda action: f"pip {action}")

    def shown(text):
        return environment.in_this_environment(text)

    river = root / "plugins/river"
    assert shown("install it: pip install penstock-river") == f'install it: pip install -e "{river}"'
    assert shown('pip install "penstock-river[draw]", or') == f'pip install -e "{river}[draw]", or'
    for other in ("pip install penstock-lake", "pip uninstall penstock-river", "pip install penstock-river2"):
        assert shown(other) == other

"""What frozen programs have of packs: the list of their parts, and the table in place of metadata."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.errors import FailedPreconditionError, NotFoundError, PluginError
from penstock.freezing.__main__ import main, options_for
from penstock.freezing.pack_contents import (
    Pack,
    Point,
    data_of,
    installed_packs,
    modules_of,
    pack_files,
    points_text,
)
from penstock.freezing.table import table_of
from penstock.packs import child_command, entry_points, freeze_support
from penstock.plugins.discovery import PluginHost
from penstock.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLUGIN = """
from penstock import Components, hookimpl

@hookimpl
def penstock_components():
    return Components(calculators={"Fogged": "penstock_try_fog.parts.fogged:Fogged"})
"""
FILES = {
    "penstock_try_fog/__init__.py": "",
    "penstock_try_fog/plugin.py": PLUGIN,
    "penstock_try_fog/parts/__init__.py": "",
    "penstock_try_fog/parts/fogged.py": "Fogged = 1",
    "penstock_try_fog/parts/fogged.pyi": "Fogged: int",
    "penstock_try_fog/hook-strange.py": "raise SystemExit('no module')",
    "penstock_try_fog/graphs/fog.pbtxt": "# a graph",
    "penstock_try_fog/__pycache__/plugin.cpython-311.pyc": "",
    "penstock_try_fog_alone.py": "",
}
METADATA = "Metadata-Version: 2.1\nName: penstock-try-fog\nVersion: 1.5\n"
POINTS = (
    "[penstock]\nfog = penstock_try_fog.plugin\n[penstock_tensors.backends]\nfog = penstock_try_fog_alone:B\n"
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the path with a pack, as pip leaves it."""
    for variable in ("PENSTOCK_BLOCK_PLUGINS", "PENSTOCK_PLUGINS", "PENSTOCK_NO_PLUGINS"):
        monkeypatch.delenv(variable, raising=False)
    before = set(sys.modules)
    folder = tmp_path / "site"
    info = "penstock_try_fog-1.5.dist-info"
    written = {**FILES, f"{info}/METADATA": METADATA, f"{info}/entry_points.txt": POINTS}
    written |= {f"{info}/INSTALLER": "pip", f"{info}/direct_url.json": "{}"}
    record = "".join(f"{name},,\n" for name in (*written, "../bin/fog", f"{info}/RECORD"))
    for name, text in {**written, f"{info}/RECORD": record}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for module in set(sys.modules) - before:
        if module.startswith("penstock_try_") or module == "penstock_table":
            del sys.modules[module]


def fog() -> Pack:
    return next(pack for pack in installed_packs() if pack.name == "penstock-try-fog")


# --- the parts ------------------------------------------------------------------------------------


def test_a_pack_has_its_entry_points_packages_and_lone_modules(site) -> None:
    assert fog() == Pack(
        "penstock-try-fog",
        "1.5",
        (
            Point("penstock", "fog", "penstock_try_fog.plugin"),
            Point("penstock_tensors.backends", "fog", "penstock_try_fog_alone:B"),
        ),
        ("penstock_try_fog", "penstock_try_fog_alone"),
    )


def test_the_core_comes_along_and_other_distributions_do_not(site) -> None:
    names = [pack.name for pack in installed_packs()]

    assert "penstock-core" in names
    assert "pluggy" not in names


def test_packs_that_are_not_wanted_stay_out_unless_one_requires_them(site) -> None:
    names = {pack.name for pack in installed_packs(lambda plugin: plugin == "fog")}
    assert names == {"penstock-core", "penstock-try-fog"}

    metadata = site / "penstock_try_fog-1.5.dist-info" / "METADATA"
    metadata.write_text(f"{METADATA}Requires-Dist: penstock_executors>=0\n")
    names = {pack.name for pack in installed_packs(lambda plugin: plugin == "fog")}
    assert names >= {"penstock-core", "penstock-try-fog", "penstock-executors"}


def test_packages_of_plugins_that_are_kept_out_stay_out_unless_something_names_them(site) -> None:
    info = site / "penstock_try_fog-1.5.dist-info"
    points = (
        "[console_scripts]\nfog = penstock_try_fog.plugin:f\n\n[penstock]\nfog = penstock_try_fog.plugin\n"
        "mist = penstock_try_mist.plugin\nrain = penstock_try_rain.plugin\n\n"
        "[penstock_tensors.backends]\nrain = penstock_try_rain.backend:B\n"
    )
    info.joinpath("entry_points.txt").write_text(points)
    for name, source in (("mist", "import penstock_try_haze"), ("rain", ""), ("haze", "")):
        (site / f"penstock_try_{name}").mkdir()
        (site / f"penstock_try_{name}" / "__init__.py").write_text(source)
        with info.joinpath("RECORD").open("a") as record:
            record.write(f"penstock_try_{name}/__init__.py,,\n")

    def chosen(*plugins: str) -> Pack:
        packs = installed_packs(lambda plugin: plugin in plugins)
        return next(pack for pack in packs if pack.name == "penstock-try-fog")

    ordinary = {"penstock_try_fog_alone", "penstock_try_haze"}
    assert set(chosen("mist").packages) == {"penstock_try_mist", *ordinary}
    two = chosen("fog", "mist")
    assert set(two.packages) == {"penstock_try_fog", "penstock_try_mist", *ordinary}
    assert [point.name for point in two.left_out] == ["rain", "rain"]
    assert points_text(two) == points.partition("rain = ")[0]
    (site / "penstock_try_fog_alone.py").write_text('COMPONENT = "penstock_try_rain.part:Part"')
    named = chosen("mist")
    assert set(named.packages) == {"penstock_try_mist", "penstock_try_rain", *ordinary}
    assert [point.value for point in named.points] == [
        "penstock_try_mist.plugin",
        "penstock_try_rain.backend:B",
    ]
    assert not chosen_by_requirement(site).left_out
    assert not [name for name in sys.modules if name.startswith("penstock_try_")]


def chosen_by_requirement(site: Path) -> Pack:
    """Return the pack where no plugin of it is wanted, and another pack requires it."""
    info = site / "penstock_try_other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: penstock-try-other\nVersion: 1.0\nRequires-Dist: penstock-try-fog\n"
    )
    (info / "entry_points.txt").write_text("[penstock]\nother = penstock_try_other.plugin\n")
    packs = installed_packs(lambda plugin: plugin == "other")
    return next(pack for pack in packs if pack.name == "penstock-try-fog")


def test_what_a_required_pack_requires_comes_along_too(site) -> None:
    for name, requires in (("fog", "mist"), ("mist", "rain"), ("rain", "fog")):
        info = site / f"penstock_try_{name}-1.5.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: penstock-try-{name}\nVersion: 1.5\n"
            f"Requires-Dist: penstock-try-{requires}\n"
        )
        (info / "entry_points.txt").write_text(f"[penstock]\n{name} = penstock_try_{name}.plugin\n")

    names = {pack.name for pack in installed_packs(lambda plugin: plugin == "fog")}

    assert names == {"penstock-core", "penstock-try-fog", "penstock-try-mist", "penstock-try-rain"}


def test_modules_and_data_are_told_apart_and_nothing_is_imported(site) -> None:
    assert sorted(modules_of("penstock_try_fog")) == [
        "penstock_try_fog",
        "penstock_try_fog.parts",
        "penstock_try_fog.parts.fogged",
        "penstock_try_fog.plugin",
    ]
    assert list(modules_of("penstock_try_fog_alone")) == ["penstock_try_fog_alone"]
    assert [(file.name, folder) for file, folder in data_of("penstock_try_fog")] == [
        ("fog.pbtxt", "penstock_try_fog/graphs"),
        ("hook-strange.py", "penstock_try_fog"),
    ]
    assert not [name for name in sys.modules if name.startswith("penstock_try_")]


def test_the_core_has_its_catalog_and_its_hook_as_data() -> None:
    assert {"catalog.json", "hook-penstock.py", "rthooks.dat"} <= {
        file.name for file, _ in data_of("penstock")
    }
    assert {"penstock.engine.flow", "penstock.runtime.graph"} <= set(modules_of("penstock"))


def test_the_files_of_a_distribution_are_all_that_an_install_needs(site) -> None:
    found = {inside: file for file, inside in pack_files("penstock-try-fog")}

    assert sorted(found) == sorted(
        [
            *(name for name in FILES if "__pycache__" not in name),
            "penstock_try_fog-1.5.dist-info/METADATA",
            "penstock_try_fog-1.5.dist-info/entry_points.txt",
        ]
    )
    assert found["penstock_try_fog/plugin.py"] == site / "penstock_try_fog/plugin.py"


def test_the_files_of_an_editable_distribution_are_its_sources(site, tmp_path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (site / "penstock_try_fog").rename(source / "penstock_try_fog")
    (site / "_fog.pth").write_text(f"{source}\nimport sys\n")
    info = site / "penstock_try_fog-1.5.dist-info"
    info.joinpath("RECORD").write_text(
        f"_fog.pth,,\n{info.name}/METADATA,,\n{info.name}/entry_points.txt,,\n"
    )
    sys.path.append(str(source))
    try:
        found = {inside: file for file, inside in pack_files("penstock-try-fog")}
        assert fog().packages == ("penstock_try_fog", "penstock_try_fog_alone")
    finally:
        sys.path.remove(str(source))

    assert found["penstock_try_fog/parts/fogged.py"] == source / "penstock_try_fog/parts/fogged.py"
    assert "_fog.pth" not in found


def test_what_is_not_installed_or_not_listed_has_no_files(site) -> None:
    with pytest.raises(
        NotFoundError, match="the distribution 'penstock-try-mist' to freeze is not installed"
    ):
        list(pack_files("penstock-try-mist"))
    (site / "penstock_try_fog-1.5.dist-info" / "RECORD").unlink()
    with pytest.raises(NotFoundError, match="nothing says which files 'penstock-try-fog' has to freeze"):
        list(pack_files("penstock-try-fog"))


# --- the table ------------------------------------------------------------------------------------


@pytest.fixture
def tabled(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that replaces the metadata of the pack by a table."""

    def replace() -> None:
        folder = tmp_path / "program"
        folder.mkdir()
        (folder / "penstock_table.py").write_text(table_of([fog()]))
        for file in (site / "penstock_try_fog-1.5.dist-info").iterdir():
            file.unlink()
        (site / "penstock_try_fog-1.5.dist-info").rmdir()
        monkeypatch.syspath_prepend(folder)

    return replace


def test_a_frozen_program_finds_packs_by_its_table(tabled, monkeypatch) -> None:
    tabled()
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    record = next(record for record in PluginHost().records if record.name == "fog")

    assert record.state == "loaded", record.reason
    assert (record.distribution, record.version) == ("penstock-try-fog", "1.5")
    assert record.components == {"calculator": 1}
    assert [point.name for point in entry_points("penstock_tensors.backends")] == ["fog"]


def test_a_distribution_with_metadata_counts_once(site, tmp_path, monkeypatch) -> None:
    (tmp_path / "penstock_table.py").write_text(table_of([fog()]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert [record.state for record in PluginHost().records if record.name == "fog"] == ["loaded"]
    assert len(entry_points("penstock_tensors.backends")) == 1


def test_a_table_beside_a_program_that_is_not_frozen_does_not_count(tabled) -> None:
    tabled()

    assert not [record for record in PluginHost().records if record.name == "fog"]
    assert not entry_points("penstock_tensors.backends")


def test_the_table_imports_all_modules_where_bundlers_look(site) -> None:
    text = table_of([fog()])

    assert "    import penstock_try_fog.parts.fogged\n" in text
    assert "    import penstock_try_fog_alone\n" in text
    assert not [name for name in sys.modules if name.startswith("penstock_try_")]


def test_a_table_that_is_broken_is_no_missing_table(tmp_path, monkeypatch) -> None:
    (tmp_path / "penstock_table.py").write_text("import no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        entry_points("penstock_tensors.backends")


def test_the_command_writes_the_table_of_the_packs_that_switches_let_through(
    site, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("PENSTOCK_PLUGINS", "fog")

    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'penstock_table.py'}: penstock-core, penstock-try-fog\n"
    assert "import penstock_try_fog.plugin" in (tmp_path / "penstock_table.py").read_text()

    assert main([str(tmp_path / "nowhere")]) == 1
    assert "cannot be written: No such file or directory" in capsys.readouterr().err
    monkeypatch.setenv("PENSTOCK_NO_PLUGINS", "yes")
    with pytest.raises(SystemExit):
        main([])
    assert "PENSTOCK_NO_PLUGINS='yes': must be 1" in capsys.readouterr().err


def test_options_of_bundlers_name_the_packages(site) -> None:
    assert (
        options_for("nuitka", [fog()])
        == "--include-module=penstock_table --include-package-data=penstock_try_fog"
    )
    assert options_for("cx_freeze", [fog()]) == (
        "--packages=penstock_try_fog,penstock_try_fog_alone --includes=penstock_table"
    )


def test_a_graph_in_an_archive_is_read_as_a_file(tmp_path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "packs.zip", "w") as archive:
        archive.writestr("penstock_try_zipped/__init__.py", "")
        archive.writestr("penstock_try_zipped/fog.pbtxt", "# a graph")
    monkeypatch.syspath_prepend(tmp_path / "packs.zip")
    registry = Registry()
    registry.add("subgraph", "Fog", "penstock_try_zipped:fog.pbtxt", distribution="penstock-try-zipped")
    registry.add("subgraph", "Mist", "penstock_try_zipped:mist.pbtxt", distribution="penstock-try-zipped")

    found = registry.find("subgraph", "Fog")

    assert isinstance(found, Path)
    assert (found.suffix, found.read_text()) == (".pbtxt", "# a graph")
    with pytest.raises(PluginError, match=r"package 'penstock_try_zipped' has no file 'mist\.pbtxt'"):
        registry.find("subgraph", "Mist")
    del sys.modules["penstock_try_zipped"]


# --- further processes ----------------------------------------------------------------------------

FROZEN = """
import sys
sys.frozen = True
from penstock.packs import child_command, freeze_support

freeze_support()
print("the program itself", sys.argv[1:])
"""
CHILD = """
import sys

def main():
    print("a part of it", sys.argv)
    return 3
"""


def test_ordinarily_a_module_is_run_by_python_from_the_same_places(tmp_path, monkeypatch) -> None:
    (tmp_path / "penstock_try_child.py").write_text(CHILD)
    monkeypatch.syspath_prepend(tmp_path)

    command = child_command("penstock_try_child", "one")
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, timeout=60)

    assert command[0] == sys.executable
    assert (done.returncode, done.stdout) == (3, "a part of it ['penstock_try_child', 'one']\n")
    assert freeze_support() is None


def test_a_frozen_program_that_does_not_ask_starts_none(monkeypatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    with pytest.raises(FailedPreconditionError, match=r"call penstock\.packs\.freeze_support\(\) before"):
        child_command("penstock_try.child")


def frozen(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(FROZEN)
    (folder / "penstock_try_child.py").write_text(CHILD)
    command = [sys.executable, str(folder / "program.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_frozen_program_is_the_process_that_it_was_started_for(tmp_path) -> None:
    done = frozen(tmp_path, "--penstock-child", "penstock_try_child", "one")
    assert (done.returncode, done.stdout) == (3, "a part of it ['penstock_try_child', 'one']\n")

    done = frozen(tmp_path, "one", "--penstock-child")
    assert (done.returncode, done.stdout) == (0, "the program itself ['one', '--penstock-child']\n")


def test_a_frozen_program_is_a_helper_of_multiprocessing(tmp_path) -> None:
    done = frozen(tmp_path, "-c", "from multiprocessing.resource_tracker import main;print('a helper')")
    assert (done.returncode, done.stdout) == (0, "a helper\n")

    done = frozen(tmp_path, "-c", "print('anything')")
    assert done.stdout == "the program itself ['-c', \"print('anything')\"]\n"


def test_the_table_that_a_program_is_built_with_can_be_compiled(site) -> None:
    compile(table_of(installed_packs()), "penstock_table.py", "exec")

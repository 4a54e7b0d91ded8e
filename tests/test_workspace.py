"""What must agree between the distributions of the workspace, and what they may import."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent

#: Import name to distribution, where the two differ.
DISTRIBUTION_OF = {
    "attr": "attrs",
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "paho": "paho-mqtt",
    "rerun": "rerun-sdk",
    "google": "protobuf",
    "yaml": "pyyaml",
    "OpenGL": "pyopengl",
    "opentelemetry": "opentelemetry-api",  # and the others, which have parts of it
}


def script(name, root=ROOT):
    """Import a file of scripts/, which is no package."""
    spec = importlib.util.spec_from_file_location(
        f"penstock_workspace_{name}", root / "scripts" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MEMBERS = script("members").members()
NAMES = {member.name: member for member in MEMBERS}
TRAIN = [member for member in MEMBERS if member.place in script("members").TRAIN]
PACKS = {package for member in MEMBERS if member.place != "core" for package in member.import_names}
every_member = pytest.mark.parametrize("member", MEMBERS, ids=[member.folder for member in MEMBERS])


def root_pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def required(lines):
    return {canonicalize_name(Requirement(line).name) for line in lines}


def declared(member, *, in_testing):
    """Return the distributions that a member declares, with its extra `testing` where that counts."""
    lines = list(member.project.get("dependencies", ()))
    if in_testing:
        lines += member.project.get("optional-dependencies", {}).get("testing", ())
    return required(lines) | {member.name}


#: Comes with mypy; what compiles the engine knows its marks by this name.
FOR_TYPES = "mypy_extensions"
#: What only a program that is frozen has, and what freezes it: its hooks run inside of it.
FROZEN = {"penstock_table", "PyInstaller"}


def optional(member):
    """Return what the extras of a member bring: its modules may import that when they run."""
    extras = member.project.get("optional-dependencies", {})
    return required(line for extra, lines in extras.items() if extra != "testing" for line in lines)


def imported_at_once(path):
    """Yield the top-level name of every import that runs as soon as a module is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    yield from imports_below(tree)


#: What is loaded only where an extra of its distribution is installed, or the command line.
OF_EXTRAS = re.compile(r"src/penstock_live/|penstock_formats/pillow\.py$|src/\w+/client/|/command_line\.py$")


def is_imported_at_once(path, name):
    """Return whether a file needs a module as soon as it is imported, in every installation."""
    return not OF_EXTRAS.search(path.as_posix()) and name in set(imported_at_once(path))


def imported(path):
    """Yield the top-level name of every import of a file, those inside functions included."""
    yield from imports_below(ast.parse(path.read_text(encoding="utf-8")))


def imports_below(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


def distribution_of(name):
    by_import_name = {package: member.name for member in MEMBERS for package in member.import_names}
    return by_import_name.get(name) or DISTRIBUTION_OF.get(name, canonicalize_name(name))


# --- the lists ------------------------------------------------------------------------------------


def test_the_workspace_has_a_member_of_every_place():
    assert {member.place for member in MEMBERS} == {"core", "plugins", "subgraphs", "contrib"}


def test_the_lists_of_members_are_current():
    done = subprocess.run(
        [sys.executable, "scripts/members.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture
def copied(tmp_path):
    """The script of the lists as a module, whose file lies in another workspace, `tmp_path`."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "members.py", tmp_path / "scripts")
    return script("members", tmp_path)


def test_a_stale_list_is_found_and_rewritten(tmp_path, copied, capsys):
    for name in ("pyproject.toml", ".importlinter", "requirements.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        stale = text.replace("penstock_video", "penstock_gone").replace("./plugins/video", "./plugins/gone")
        (tmp_path / name).write_text(stale, encoding="utf-8")
    for member in MEMBERS:
        (tmp_path / member.folder).mkdir(parents=True)
        source = (ROOT / member.folder / "pyproject.toml").read_text(encoding="utf-8")
        (tmp_path / member.folder / "pyproject.toml").write_text(source, encoding="utf-8")

    statuses = [copied.main(["--check"]), copied.main([]), copied.main(["--check"])]

    assert statuses == [1, 0, 0]
    assert capsys.readouterr().out == (
        ".importlinter: stale; run python scripts/members.py\n"
        "requirements.txt: stale; run python scripts/members.py\n"
        ".importlinter: rewritten\n"
        "requirements.txt: rewritten\n"
    )
    for name in (".importlinter", "requirements.txt"):
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert written == (ROOT / name).read_text(encoding="utf-8")


def test_a_file_without_marks_is_refused_and_not_written(tmp_path, copied):
    (tmp_path / "pyproject.toml").write_text(
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / ".importlinter").write_text("[importlinter]\n", encoding="utf-8")

    with pytest.raises(ValueError, match=r"^0 blocks of members are marked, expected 3; restore the marks$"):
        copied.main([])

    assert (tmp_path / ".importlinter").read_text(encoding="utf-8") == "[importlinter]\n"


# --- each distribution ----------------------------------------------------------------------------


@every_member
def test_a_member_is_called_what_its_directory_says(member):
    assert member.project["name"] == member.name
    packages = sorted(path.parent.name for path in member.source.glob("*/__init__.py"))
    assert member.pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [
        f"src/{package}" for package in packages
    ]
    if len(packages) == 1 and member.place != "core":
        assert packages == [member.name.replace("-", "_")]
    assert member.project.get("entry-points", {}).get("penstock", {}) == member.entry_points


@every_member
def test_a_member_has_what_a_distribution_needs(member):
    packages = [f"src/{package}" for package in member.import_names]
    for name in (
        "README.md",
        *(f"{package}/{file}" for package in packages for file in ("__init__.py", "py.typed")),
    ):
        assert (member.path / name).is_file(), name
    assert list((member.path / "tests").rglob("test_*.py")), "no tests"


@every_member
def test_a_member_has_the_licence_of_the_project(member):
    assert (member.path / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (member.project["license"], member.project["license-files"]) == ("Apache-2.0", ["LICENSE"])


@every_member
def test_a_member_asks_for_the_same_python_as_the_project(member):
    assert member.project["requires-python"] == root_pyproject()["project"]["requires-python"]


#: Classifiers that say the same of every distribution; of a topic each has its own.
SHARED_CLASSIFIERS = (
    "Development Status",
    "Intended Audience",
    "Operating System",
    "Programming Language",
    "Typing",
)


def shared_classifiers(project):
    return [each for each in project["classifiers"] if each.startswith(SHARED_CLASSIFIERS)]


# That a classifier is one that package indexes know is checked by hatchling when it builds.
@every_member
def test_a_member_has_the_classifiers_of_the_project_and_a_topic(member):
    classifiers = member.project["classifiers"]

    assert shared_classifiers(member.project) == shared_classifiers(root_pyproject()["project"])
    assert [each for each in classifiers if each.startswith("Topic ::")], "no topic"
    assert classifiers == sorted(classifiers)


def test_what_is_released_together_has_one_version():
    version = root_pyproject()["project"]["version"]

    assert {member.name: member.project["version"] for member in TRAIN} == {
        member.name: version for member in TRAIN
    }


@every_member
def test_a_member_requires_the_current_minor_version_of_others(member):
    current = script("members").release_range(root_pyproject()["project"]["version"])
    extras = member.project.get("optional-dependencies", {}).values()
    lines = [*member.project.get("dependencies", ()), *(line for extra in extras for line in extra)]
    others = {line for line in lines if canonicalize_name(Requirement(line).name) in NAMES}

    assert {re.sub(r"^[\w-]+(\[[\w,]+\])?", "", line) for line in others} <= {current}


def test_the_core_says_the_version_of_its_distribution():
    program = "import penstock; print(penstock.__version__)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.strip() == NAMES["penstock-core"].project["version"]


@every_member
def test_a_package_beside_others_has_a_page_and_tests_of_its_own(member):
    text = (member.path / "README.md").read_text(encoding="utf-8")
    for package in member.import_names if len(member.import_names) > 1 else ():
        short = package.removeprefix("penstock_").replace("_", "-")
        page = member.path / f"{short}.md"
        assert page.is_file() or package == member.name.replace("-", "_"), f"{package} has no page"
        assert not page.is_file() or f"]({page.name})" in text, f"the README has no link to {page.name}"
        tests = member.path / "tests" / short.replace("-", "_")
        assert list(tests.rglob("test_*.py")), f"{package} has no tests"


def test_the_whole_requires_every_standard_distribution_and_no_other():
    project = root_pyproject()["project"]
    extras = {extra for member in TRAIN for extra in member.extras}

    assert required(project["dependencies"]) == {member.name for member in TRAIN if member.is_standard}
    assert set(project["optional-dependencies"]) == extras
    for extra, lines in project["optional-dependencies"].items():
        assert required(lines) == {member.name for member in TRAIN if extra in member.extras}


# --- who imports what -----------------------------------------------------------------------------


def is_for_tests(member, path):
    """Return whether a file is for tests alone: of the test kit, or below `testing/`."""
    return member.name == "penstock-testing" or "testing" in path.relative_to(member.path).parts


@every_member
def test_a_member_imports_nothing_that_it_does_not_declare(member):
    undeclared = {
        (path.relative_to(member.path).as_posix(), name)
        for path in member.source.rglob("*.py")
        for name in imported(path)
        if name not in sys.stdlib_module_names
        and name not in {FOR_TYPES, *FROZEN}
        and distribution_of(name) not in declared(member, in_testing=is_for_tests(member, path))
        and (distribution_of(name) not in optional(member) or is_imported_at_once(path, name))
    }

    assert undeclared == set()


def test_what_only_the_type_checker_brings_is_imported_for_types_alone():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.modules[{FOR_TYPES!r}] = None; import penstock.engine.schedule",
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


@every_member
def test_a_member_declares_no_distribution_that_it_does_not_import(member):
    used = {distribution_of(name) for path in member.source.rglob("*.py") for name in imported(path)}
    # Graph files, the member's or MediaPipe's, name the calculators of packs, and import nothing of them.
    runs_graphs = list(member.source.rglob("*.pbtxt")) or any(
        ".binarypb" in path.read_text(encoding="utf-8") for path in member.source.rglob("*.py")
    )
    named = set(NAMES) if runs_graphs else set()

    assert declared(member, in_testing=False) - used - named <= {member.name}


def test_members_that_require_a_library_ask_for_the_same_versions():
    """Otherwise a pack that is installed later replaces a library of the packs that are there."""
    asked = {}
    for member in MEMBERS:
        for line in member.project["dependencies"]:
            found = Requirement(line)
            asked.setdefault(canonicalize_name(found.name), set()).add(str(found.specifier))

    assert {name: versions for name, versions in asked.items() if len(versions) > 1} == {}


def test_the_core_imports_no_pack_but_the_test_kit_in_its_tests():
    core = NAMES["penstock-core"].path
    known = {
        (path.relative_to(core).as_posix(), name)
        for path in core.rglob("*.py")
        for name in PACKS & set(imported(path))
    }

    assert {(path, name) for path, name in known if not path.startswith("tests/")} == set()
    assert {name for path, name in known if path.startswith("tests/")} == {"penstock_testing"}


@pytest.mark.parametrize("module", ["penstock", *(f"{package}.plugin" for package in sorted(PACKS))])
def test_importing_the_public_names_or_a_plugin_module_imports_nothing_heavy(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is no module: the distribution brings no components")
    root = module.partition(".")[0]
    program = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    heavy = {"google", "numpy", "cv2", "av", "click", "rich", "pytest", "hypothesis", "asyncio"}
    assert {name for name in loaded if name in heavy | PACKS} <= {root}


def test_the_core_stays_below_its_limit():
    """27,900 lines. The limit is raised for a part that users need, and no reason to leave one out."""
    core = NAMES["penstock-core"].source
    written = [path for path in core.rglob("*.py") if not path.name.endswith("_pb2.py")]

    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in written) < 27_900


# --- what CI runs ---------------------------------------------------------------------------------


def test_what_is_left_out_on_the_newer_python_is_there_and_named_with_its_reason():
    section = (
        (ROOT / "tox.ini").read_text(encoding="utf-8").partition("[testenv:py313]\n")[2].partition("\n[")[0]
    )
    reasons = "\n".join(line for line in section.splitlines() if line.startswith("#   "))
    files = re.findall(r"(?:^|\s)(\w[\w/-]*\.py)", section.partition("commands =")[2])
    left_out = re.findall(r"--ignore (\S+?)[}\s]", section)

    assert [name for name in files if not (ROOT / name).is_file()] == []
    assert set(left_out) <= set(files)
    assert len(left_out) >= 8
    assert [name for name in left_out if Path(name).stem not in reasons] == []


def lacking_wheels():
    """Return environment of tox → libraries without a wheel, from toxfile.py, which needs tox."""
    tree = ast.parse((ROOT / "toxfile.py").read_text(encoding="utf-8"))
    (value,) = (
        each.value for each in ast.walk(tree) if isinstance(each, ast.AnnAssign) and each.target.id == "FREE"
    )
    return ast.literal_eval(value)


@pytest.mark.parametrize("environment", sorted(lacking_wheels()))
def test_packs_left_out_without_the_interpreters_lock_need_a_library_without_wheel_and_are_named(environment):
    lacking = set(lacking_wheels()[environment])
    members = script("members")
    left = {member.name for member in members.without(lacking)}
    out = {member.name for member in TRAIN} - left
    needs = {member.name: required(member.project["dependencies"]) for member in TRAIN}

    assert {"penstock-core", "penstock-executors", "penstock-calculators"} <= left
    assert [name for name in left if needs[name] & (lacking | out)] == []
    assert [name for name in out if not needs[name] & (lacking | out)] == []
    page = (ROOT / "docs" / "concepts" / "scheduling.md").read_text(encoding="utf-8")
    (row,) = (
        line for line in page.splitlines() if line.startswith(f"| {environment[2]}.{environment[3:]} |")
    )
    cells = row.split("|")
    assert set(re.findall(r"[\w-]+", cells[2])) == lacking
    assert set(re.findall(r"[\w-]+", cells[3])) == {name.removeprefix("penstock-") for name in out}


# --- the tree -------------------------------------------------------------------------------------


def test_no_compiled_module_shadows_its_source():
    shadows = [
        path for member in MEMBERS for path in member.source.rglob("*") if path.suffix in {".so", ".pyd"}
    ]

    assert shadows == []


def test_changelog_fragments_have_a_known_type_and_name_a_distribution():
    types = {each["directory"] for each in root_pyproject()["tool"]["towncrier"]["type"]}
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]

    assert {path.name.split(".")[1] for path in fragments} <= types
    for path in fragments:
        name, colon, text = path.read_text(encoding="utf-8").partition(": ")
        assert colon, f"{path.name} must begin with a distribution's name and a colon"
        assert name in {"penstock", *NAMES}, path.name
        assert text.strip(), path.name

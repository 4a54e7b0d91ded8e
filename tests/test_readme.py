"""What the READMEs say works, and their tables hold every member."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def member_folders():
    globs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]["workspace"][
        "members"
    ]
    return sorted(
        path.parent.relative_to(ROOT).as_posix()
        for glob in globs
        for path in ROOT.glob(f"{glob}/pyproject.toml")
    )


def lines_of(path):
    return len((ROOT / path).read_text(encoding="utf-8").splitlines())


def run_program(program, folder):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.mark.parametrize(("page", "most"), [("README.md", 70), ("docs/design.md", 120)])
def test_a_page_that_is_read_from_end_to_end_is_short(page, most):
    assert lines_of(page) <= most


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")), ids=lambda page: page.stem
)
def test_a_decision_is_short_and_says_why_and_what_follows(page):
    text = page.read_text(encoding="utf-8")

    assert re.findall(r"^#+ (.*)$", text, re.MULTILINE)[1:] == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 40


def test_decisions_are_numbered_without_a_gap():
    numbers = sorted(int(page.name[:3]) for page in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))

    assert numbers == list(range(1, len(numbers) + 1))


def test_the_first_block_of_the_readme_is_the_two_commands():
    first = re.search(r"```\n(.*?)```", README, re.DOTALL)

    assert first[1] == "pip install uv && uv run penstock demo\nuv run pytest\n"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder in which the first command of the README was run."""
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run([sys.executable, "-m", "penstock", "demo", "--quiet"], cwd=folder, check=True, timeout=100)
    return folder


def test_the_calculator_of_the_readme_tells_the_brightness_of_each_frame_of_the_demo(demo):
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    done = run_program(program, demo)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"0\.00 s: \d+\n(\d\.\d\d s: \d+\n){124}", done.stdout)


def test_with_the_change_that_the_readme_names_the_program_reads_a_camera(tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (options,) = re.findall(r"`(options \{.*camera_index: 0 } })`", README)
    (call,) = re.findall(r"For a camera, call `graph\.(rows\(.*?\))`", README)
    changed = program.replace('input_side_packet: "INPUT_FILE_PATH:video"', options.replace("0", "77"))
    changed = changed.replace('rows("brightness", side_packets={"video": "penstock-demo.mp4"})', call)

    done = run_program(changed, tmp_path)

    assert "VideoDecoderCalculator" in done.stderr
    assert re.search(r"camera 77 does not exist|77:none|the cameras are", done.stderr)


def test_the_form_in_which_the_models_are_named_is_one_that_a_shell_expands(tmp_path):
    """An assignment takes a pattern as it is: `NAME=*.whl` would set NAME to the pattern."""
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    (export,) = re.findall(r"^\$ (export PENSTOCK_MEDIAPIPE_MODELS=.*)$", install, re.MULTILINE)
    wheel = tmp_path / "mediapipe-0.10.21-cp312-cp312-manylinux_2_28_x86_64.whl"
    wheel.touch()

    told = subprocess.run(
        ["/bin/sh", "-c", f'{export}; echo "$PENSTOCK_MEDIAPIPE_MODELS"'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert Path(told.stdout.strip()) == wheel


def test_the_way_with_pip_alone_installs_every_member():
    assert "\npip install -r requirements.txt\n" in README
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^-e \./([\w/-]*)(?:\[.*\])?$", text, re.MULTILINE)
    install = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for_tests = re.findall(r"-e \"?(contrib[\w/-]*)", install)

    assert sorted({*listed, *for_tests}) == member_folders()
    assert text.endswith("\n-e .\n")


@pytest.mark.parametrize(
    ("readme", "places"),
    [
        ("README.md", ()),
        ("docs/packs.md", ("core", "plugins", "subgraphs", "contrib")),
        ("subgraphs/README.md", ("subgraphs",)),
        ("contrib/README.md", ("contrib",)),
    ],
)
def test_a_readme_links_every_member_of_its_places(readme, places):
    path = ROOT / readme
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    linked = {(path.parent / link).resolve() for link in links}

    assert [link for link in links if not (path.parent / link).exists()] == []
    for folder in member_folders():
        if folder.split("/")[0] in places:
            assert ROOT / folder / "README.md" in linked

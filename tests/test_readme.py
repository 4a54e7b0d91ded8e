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


def readme_program(*, in_the_long_form):
    """Return the first program of the README, or the same with the calculator of the second in its place."""
    program, long_form = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return long_form + program[program.index("GRAPH =") :] if in_the_long_form else program


@pytest.mark.parametrize("in_the_long_form", [False, True])
def test_the_calculator_of_the_readme_prints_what_it_says(in_the_long_form):
    program = readme_program(in_the_long_form=in_the_long_form)
    (promised,) = re.findall(r"print\(.*\)  # (.*)", program)

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout.strip()) == (0, promised), done.stderr


def test_the_way_with_pip_alone_installs_every_member():
    assert "\npip install -r requirements.txt\n" in README
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^-e \./([\w/-]*)(?:\[.*\])?$", text, re.MULTILINE)
    for_tests = re.findall(r"-e \"?(contrib[\w/-]*)", README)

    assert sorted([*listed, *for_tests]) == member_folders()
    assert text.endswith("\n-e .\n")


@pytest.mark.parametrize(
    ("readme", "places"),
    [
        ("README.md", ("core", "plugins", "subgraphs")),
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

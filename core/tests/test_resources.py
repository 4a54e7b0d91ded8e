from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.resources import Resources

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """Two directories with a file each, and a file beside them that no graph may read."""
    for name in ("graphs", "models"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / f"{name}.txt").write_text(name)
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "graphs", tmp_path / "models"


def link(at: Path, to: Path) -> None:
    try:
        at.symlink_to(to)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")


def test_a_path_is_found_below_the_first_root_that_has_it(roots) -> None:
    resources = Resources(roots)

    assert resources.resolve("sub/graphs.txt") == (roots[0] / "sub" / "graphs.txt").resolve()
    assert resources.resolve("sub/models.txt") == (roots[1] / "sub" / "models.txt").resolve()
    assert resources.resolve("sub") == (roots[0] / "sub").resolve()


def test_a_file_is_opened_for_reading_bytes(roots) -> None:
    with Resources(roots).open("sub/models.txt") as file:
        assert file.read() == b"models"


def test_a_path_may_go_up_as_long_as_it_stays_below_the_root(roots) -> None:
    assert Resources(roots).resolve("sub/../sub/graphs.txt").name == "graphs.txt"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "//host/share/x", "C:\\x.bin", "C:/x.bin", "c:x.bin", "\\x.bin"]
)
def test_an_absolute_path_is_refused_in_every_systems_form(roots, path: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Resources(roots[:1]).resolve(path)

    assert str(caught.value) == (
        f"path {path!r} is absolute; this graph reads only below {str(roots[0].resolve())!r}; "
        "pass the file as a side packet, or add its directory as a resource root"
    )


def test_an_absolute_path_below_a_root_is_refused_too(roots) -> None:
    with pytest.raises(InvalidArgumentError, match="is absolute"):
        Resources(roots).resolve(str(roots[0] / "sub" / "graphs.txt"))


@pytest.mark.parametrize("path", ["../secret.txt", "sub/../../secret.txt", "../nowhere.txt", ".."])
def test_a_path_that_leads_out_is_refused_whether_it_exists_or_not(roots, path: str) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^path '.*' leads elsewhere; this graph reads only below '.*' or '"
    ):
        Resources(roots).resolve(path)
    with pytest.raises(InvalidArgumentError, match="leads elsewhere"):
        Resources(roots).resolve(path, must_exist=False)


def test_a_sibling_whose_name_begins_like_the_root_is_outside(tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs-private").mkdir()
    (tmp_path / "graphs-private" / "x.txt").write_text("secret")

    with pytest.raises(InvalidArgumentError, match="leads elsewhere"):
        Resources([tmp_path / "graphs"]).resolve("../graphs-private/x.txt")


def test_a_link_that_leads_out_is_refused(roots) -> None:
    link(roots[0] / "innocent.txt", roots[0].parent / "secret.txt")
    link(roots[0] / "up", roots[0].parent)

    for path in ("innocent.txt", "up/secret.txt"):
        with pytest.raises(InvalidArgumentError, match=f"^path '{path}' leads elsewhere"):
            Resources(roots).open(path)


def test_a_link_into_another_root_is_refused_below_the_first_and_the_other_is_tried(roots) -> None:
    link(roots[0] / "shared.txt", roots[0].parent / "secret.txt")
    (roots[1] / "shared.txt").write_text("allowed")

    with Resources(roots).open("shared.txt") as file:
        assert file.read() == b"allowed"


def test_a_link_that_stays_below_the_root_is_followed(roots) -> None:
    link(roots[0] / "alias.txt", roots[0] / "sub" / "graphs.txt")

    assert Resources(roots).resolve("alias.txt").name == "graphs.txt"


def test_a_link_to_itself_is_a_missing_file(roots) -> None:
    link(roots[0] / "circle", roots[0] / "circle")

    with pytest.raises(NotFoundError, match=r"^path 'circle' does not exist; this graph reads only below "):
        Resources(roots).resolve("circle")


def test_a_root_may_itself_be_a_link(roots, tmp_path: Path) -> None:
    link(tmp_path / "current", roots[0])

    assert Resources([tmp_path / "current"]).resolve("sub/graphs.txt").name == "graphs.txt"


def test_a_missing_file_says_where_it_was_looked_for(roots) -> None:
    with pytest.raises(
        NotFoundError, match=r"^path 'nope.txt' does not exist; this graph reads only below '.*' or '"
    ):
        Resources(roots).resolve("nope.txt")


def test_a_file_to_be_written_lies_below_the_first_root(roots) -> None:
    assert (
        Resources(roots).resolve("sub/new.txt", must_exist=False) == (roots[0] / "sub" / "new.txt").resolve()
    )


def test_without_roots_a_graph_reads_nothing() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"leads elsewhere; this graph has no directory to read from; pass"
    ):
        Resources().resolve("x.txt")


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_names_no_file_is_refused(roots, path: str) -> None:
    with pytest.raises(InvalidArgumentError, match="must be a str that names a file"):
        Resources(roots).resolve(path)


def test_opening_a_directory_says_that_it_cannot_be_opened(roots) -> None:
    with pytest.raises(InvalidArgumentError, match=r"resource path 'sub' cannot be opened: ") as caught:
        Resources(roots).open("sub")

    assert isinstance(caught.value.__cause__, OSError)


def test_a_root_that_is_no_directory_is_refused(roots) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^resource root '.*nowhere' is no directory$"):
        Resources([roots[0], roots[0] / "nowhere"])


def test_a_root_given_twice_counts_once(roots) -> None:
    assert Resources([roots[0], roots[0] / "sub" / ".."]).roots == (roots[0].resolve(),)

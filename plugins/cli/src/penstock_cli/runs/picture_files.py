"""Pictures in place of a video: which paths mean pictures, and how a graph reads or writes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock_cli.existing_files import existing_file
from penstock_cli.failures import WrongUsage
from penstock_cli.loading import name_in
from penstock_cli.runs.live_source import source_of
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Registry
    from penstock.config import CalculatorGraphConfig
    from penstock_cli.runs.screen import Surface

#: Endings of files that hold one picture, or the paths of pictures. A GIF may be a film.
_PICTURES: Final = frozenset([
    ".bmp", ".jp2", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp",
])  # fmt: skip
_LISTS: Final = frozenset([".lst", ".txt"])
_NUMBER: Final = re.compile(r"%0?\d*d")
_ENCODERS: Final = frozenset(["VideoEncoderCalculator", "OpenCvVideoEncoderCalculator"])
#: The stream of the names of pictures.
_NAMES: Final = "picture_name"
_SOURCE: Final = """
node {
  calculator: "PictureSourceCalculator"
  input_side_packet: "INPUT_FILE_PATH:%s"
  output_stream: "VIDEO:%s"
  output_stream: "NAME:%s"
  node_options { [type.googleapis.com/penstock_image.PictureSourceCalculatorOptions] { broken: %s } }
}
"""


def are_pictures(path: str | Path | None) -> bool:
    """Return whether a path to read means pictures: a file, a folder, a list or a pattern; no address."""
    if path is None or "://" in str(path):
        return False
    path = Path(path)
    ending = path.suffix.lower()
    return path.is_dir() or ending in _PICTURES or ending in _LISTS


def are_pictures_out(path: str | Path | None) -> bool:
    """Return whether a path to write means pictures: a file, a pattern, or a folder, which has no ending."""
    if path is None or "://" in str(path):
        return False
    path = Path(path)
    return path.is_dir() or not path.suffix or path.suffix.lower() in _PICTURES


def is_one_picture(path: str | Path | None) -> bool:
    """Return whether a path to read means one picture, which exists."""
    if not are_pictures(path):
        return False
    one = Path(str(path))
    return one.is_file() and one.suffix.lower() not in _LISTS


def hold_picture(window: Surface | None, video: str | Path | None) -> None:
    """Keep a window open until it is closed, or Ctrl-C, if it shows one picture: its run is over at once."""
    if window is not None and is_one_picture(video):
        from penstock_cli.runs.screen import keep_open  # only for this

        keep_open(window)


def default_picture_path(video: Path | str, name: str) -> Path:
    """Return where pictures go that a command draws where nothing else is said: a file, or a folder."""
    return Path(f"{name}.png" if is_one_picture(video) else name)


def path_read(path: Path) -> str:
    """Return the path of a video or of pictures as text.

    Raises:
        FileMissing: there is no such file.
    """
    return _existing_pictures(path) if are_pictures(path) else str(existing_file(path, "video"))


def path_written(path: Path, read: Path | str | None) -> str:
    """Return a path to write as text; a folder of pictures ends with "/".

    Raises:
        WrongUsage: it is what is read.
    """
    read = None if isinstance(read, str) else read  # an address is no file
    if read is not None and path.is_file() and read.is_file() and path.samefile(read):
        kind = "picture" if are_pictures(read) else "video"
        raise WrongUsage(f"file {str(path)!r} is the {kind} that is read; name another file with -o")
    return _pictures_out(path, read) if are_pictures_out(path) else str(path)


def with_pictures(  # noqa: PLR0913  # an argument for each change
    config: CalculatorGraphConfig,
    registry: Registry,
    read: tuple[Path | str | None, str],
    out: Path | None,
    *,
    skips: bool = False,
    named: str = "",
) -> None:
    """Let a graph read or write pictures in place of a video, if its paths mean pictures.

    Args:
        config: changed.
        registry: has the options of the calculators.
        read: what is read, and the stream that the decoder sends.
        out: what is written.
        skips: leave out pictures that cannot be read.
        named: the calculator that gets the names of pictures as its input NAME; "" for none.
    """
    path, stream = read
    if are_pictures(path):
        _read_pictures(config, registry, stream, skips=skips)
        for node in config.node:
            if named and node.calculator == named:
                node.input_stream.append(f"NAME:{_NAMES}")
    if out is not None and are_pictures_out(out):
        _write_pictures(config, registry, out, is_named=are_pictures(path))


def _existing_pictures(path: Path) -> str:
    """Return a path of pictures as text.

    Raises:
        FileMissing: it is no pattern, and there is no such file or folder.
    """
    if not path.is_dir() and not _is_pattern(path):
        existing_file(path, "picture")
    return str(path)


def _pictures_out(path: Path, read: Path | None) -> str:
    """Return a path to write pictures to as text; a folder ends with "/".

    Raises:
        WrongUsage: it is the folder of the pictures that are read.
    """
    if _is_folder(path):
        folder = read if read is None or read.is_dir() else read.parent
        if folder is not None and path.is_dir() and path.samefile(folder) and are_pictures(read):
            raise WrongUsage(
                f"{str(path)!r} is the folder of the pictures that are read; name another folder with -o"
            )
        return f"{path}/"
    return str(path)


def pictures_told(path: Path, count: int) -> str:
    """Return where pictures were written, as text."""
    return f"{path} ({plural(count, 'picture')})" if _is_folder(path) or _is_pattern(path) else str(path)


def _read_pictures(config: CalculatorGraphConfig, registry: Registry, stream: str, *, skips: bool) -> None:
    """Let pictures be read in place of a video.

    Args:
        config: changed.
        registry: has the options of the source.
        stream: what the decoder sends.
        skips: leave out pictures that cannot be read.
    """
    node = source_of(config, stream)
    side = next(name_in(one) for one in node.input_side_packet if one.startswith("INPUT_FILE_PATH:"))
    _replace(node, _SOURCE % (side, stream, _NAMES, "SKIP" if skips else "FAIL"), registry)
    for one in config.node:  # pictures have no sound
        _keep(one.input_side_packet, lambda entry: entry != f"AUDIO_FILE_PATH:{side}")


def _write_pictures(config: CalculatorGraphConfig, registry: Registry, out: Path, *, is_named: bool) -> None:
    """Let pictures be written in place of a video.

    Args:
        config: changed.
        registry: has the options of the sink.
        out: where to.
        is_named: whether pictures are read, which name the pictures of a folder.
    """
    for node in config.node:
        if node.calculator not in _ENCODERS:
            continue
        entries = [one for one in node.input_stream if one.startswith("VIDEO:")]
        entries += [f"NAME:{_NAMES}"] if is_named and _is_folder(out) else []
        sides = [one for one in node.input_side_packet if one.startswith("OUTPUT_FILE_PATH:")]
        lines = [f'input_stream: "{one}"' for one in entries]
        lines += [f'input_side_packet: "{one}"' for one in sides]
        _replace(node, f'node {{ calculator: "PictureSinkCalculator" {" ".join(lines)} }}', registry)


def _is_pattern(path: Path) -> bool:
    return bool(_NUMBER.search(path.name) or {"*", "?"} & set(path.name))


def _is_folder(path: Path) -> bool:
    return path.is_dir() or not path.suffix


def _replace(node: Any, text: str, registry: Registry) -> None:
    from penstock.config import read_graph  # imports protobuf

    node.CopyFrom(read_graph(text, registry).node[0])


def _keep(entries: Any, is_kept: Callable[[str], bool]) -> None:
    kept = list(filter(is_kept, entries))
    del entries[:]
    entries.extend(kept)

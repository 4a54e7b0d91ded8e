"""PictureSinkCalculator: frames as files of pictures."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.access import ACCESS
from penstock.errors import AlreadyExistsError, InvalidArgumentError
from penstock.log import get_logger, place
from penstock_formats import ImageFrame
from penstock_image.pictures.picture_encoding import Encoding, check_ending, check_frame, encoded, write_whole
from penstock_image.pictures.picture_paths import has_number, numbered

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_LOG: Final = get_logger("image")
_TABLE: Final = "TIMES_FILE_PATH"
#: Name of a picture in a folder that no input names.
_NAME: Final = "%06d"
_SEPARATORS: Final = ("/", "\\")


@attrs.frozen(kw_only=True)
class PictureSinkCalculatorOptions:
    """How pictures are written.

    Attributes:
        quality: of JPEG and WebP, 1 to 100.
        compression: of PNG, from 0 (fast) to 9 (small); the pixels stay exact.
        ending: of pictures in a folder, such as ".jpg"; "" keeps the ending of the input NAME, or is ".png".
        first_number: the number of the first picture of a pattern or folder.
    """

    quality: int = attrs.field(default=95, validator=[attrs.validators.ge(1), attrs.validators.le(100)])
    compression: int = attrs.field(default=3, validator=[attrs.validators.ge(0), attrs.validators.le(9)])
    ending: str = ""
    first_number: int = attrs.field(default=0, validator=attrs.validators.ge(0))


class PictureSinkCalculator(penstock.Calculator):
    """Write each frame as a picture: PNG, JPEG, TIFF, WebP, BMP or PNM, by the ending of its name.

    Inputs:
        VIDEO: ImageFrame, each of any size. PNG and TIFF hold GRAY8, GRAY16, SRGB, SRGBA, SRGB48 and
            SRGBA64 exactly; JPEG GRAY8 and SRGB; WebP SRGB and SRGBA; BMP GRAY8 and SRGB; PGM GRAY8 and
            GRAY16; PPM SRGB and SRGB48.
        NAME (optional): str, the name of each picture in a folder, as PictureSourceCalculator sends it.
    Input side packets:
        OUTPUT_FILE_PATH: str or Path: of a file, for one frame; a pattern with a number ("img_%04d.png");
            or a folder, which exists, or ends with "/" and is made. In a folder a picture has the name of
            NAME, or else its number ("000000.png").
        TIMES_FILE_PATH (optional): str or Path of a CSV file "name,time_us" that is written at the end, with
            which PictureSourceCalculator gives the pictures their timestamps again.

    Each picture grows under a hidden name beside its own and is renamed: it is complete or not there. A
    picture that exists is replaced, unless the graph's access forbids it: `penstock run` without --force, or
    `Access(overwrites=False)`. No run writes a picture twice.

    Options `PictureSinkCalculatorOptions`: `quality` of JPEG and WebP (95), `compression` of PNG (3),
    `ending` ("": that of NAME, or ".png"), `first_number` (0). Encoding runs without the GIL.

    Raises in `open`: InvalidArgumentError for an unknown ending, a folder that is missing or cannot be made,
    or NAME without a folder; AlreadyExistsError for a file that must not be replaced. In `process`: these for
    a frame that the kind of file cannot hold, a second frame for one file, and a name that is none;
    ResourceExhaustedError for a full disk, PenstockError where writing fails otherwise. Each names the file.

    Config::

        node {
          calculator: "PictureSinkCalculator"
          input_stream: "VIDEO:drawn"
          input_stream: "NAME:name"
          input_side_packet: "OUTPUT_FILE_PATH:drawn_shots"
          node_options {
            [type.googleapis.com/penstock_image.PictureSinkCalculatorOptions] { ending: ".jpg" quality: 90 }
          }
        }
    """

    Options = PictureSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare frames and a path in."""
        cc.inputs["VIDEO"].set(ImageFrame, "frames")
        cc.inputs["NAME"].set(str, "the name of each picture").optional()
        path, table = cc.input_side_packets["OUTPUT_FILE_PATH"], cc.input_side_packets[_TABLE]
        path.set_one_of(str, Path, description="a picture, a pattern or a folder")
        table.set_one_of(str, Path, description="CSV to write: name, time").optional()
        cc.options(PictureSinkCalculatorOptions)
        cc.declare(may_skip=False, stateless=False, cost="high", writes=[path, table])

    def open(self, cc: CalculatorContext) -> None:
        """Check the path, and make the folder."""
        options = self._options = cc.options(PictureSinkCalculatorOptions)
        self._access = cc.service(ACCESS)
        self._how = Encoding(options.quality, options.compression)
        self._number = options.first_number
        self._has_frames = False
        #: Path of each picture → its timestamp, where a name may come twice or a table is written.
        self._written: dict[Path, int] = {}
        self._table: Path | None = None
        if _TABLE in cc.input_side_packets:
            self._table = self._access.writing(str(cc.input_side_packets[_TABLE].payload))
            _check_folder(self._table)
        if options.ending:
            check_ending(Path(f"x{options.ending}"))
        text = str(cc.input_side_packets["OUTPUT_FILE_PATH"].payload)
        self._target = Path(text)
        self._is_folder = self._target.is_dir() or text.endswith(_SEPARATORS)
        self._is_pattern = not self._is_folder and has_number(self._target.name)
        #: Whether numbers are the names of the pictures, so that no name comes twice.
        self._is_counted = self._is_pattern or (self._is_folder and "NAME" not in cc.inputs)
        if self._is_folder:
            self._make_folder()
            return
        check_ending(self._target)
        _check_folder(self._target)
        if "NAME" in cc.inputs:
            raise InvalidArgumentError(
                f"picture {text!r}: NAME is connected, but names have a place in a folder only; let the path "
                "end with '/', or leave NAME out"
            )
        if not self._is_pattern:
            self._access.writing(self._target)

    def process(self, cc: CalculatorContext) -> None:
        """Write one picture.

        Raises:
            InvalidArgumentError: the kind of file cannot hold it, or its name is none.
            AlreadyExistsError: the file exists and must not be replaced, or this run has written it.
            PenstockError: the disk failed.
        """
        if cc.inputs["VIDEO"].is_empty():
            return
        self._has_frames = True
        frame: ImageFrame = cc.inputs["VIDEO"].payload
        target = self._access.writing(self._place(cc))
        if target in self._written:
            raise AlreadyExistsError(
                f"picture {str(target)!r} has the frame at {self._written[target]}, and the frame at "
                f"{cc.input_timestamp} would replace it; "
                + (
                    "give each picture a name of its own"
                    if self._is_folder
                    else "name a pattern such as 'img_%04d.png', or a folder"
                )
            )
        check_frame(frame, target)
        write_whole(target, encoded(frame, target.suffix.lower(), self._how), "picture")
        if not (self._is_counted and self._table is None):
            self._written[target] = cc.stamp
        self._number += 1

    def close(self, cc: CalculatorContext) -> None:
        """Write the table of times."""
        if not self._has_frames:
            _LOG.warning(
                "%r: no frame came, so no picture was written", str(self._target), extra=place(cc.node_name)
            )
        if self._table is not None:
            text = io.StringIO()
            rows = csv.writer(text, lineterminator="\n")
            rows.writerow(["name", "time_us"])
            rows.writerows((path.name, stamp) for path, stamp in self._written.items())
            write_whole(self._table, text.getvalue().encode(), "table")

    def _place(self, cc: CalculatorContext) -> Path:
        """Return the path of the next picture."""
        if not self._is_folder:
            name = self._target.name
            return self._target.with_name(numbered(name, self._number)) if self._is_pattern else self._target
        if "NAME" not in cc.inputs:
            return self._target / f"{numbered(_NAME, self._number)}{self._options.ending or '.png'}"
        name = cc.inputs["NAME"].payload or ""
        if not name or name.startswith(".") or any(one in name for one in (*_SEPARATORS, "\0")):
            raise InvalidArgumentError(
                f"the picture sink gets the name {name!r} at {cc.input_timestamp} on "
                f"{cc.inputs['NAME'].name!r}, but needs that of a file, without folder or leading dot"
            )
        path = self._target / name
        if self._options.ending:
            path = path.with_suffix(self._options.ending)
        check_ending(path)
        return path

    def _make_folder(self) -> None:
        if self._target.is_dir():
            return
        try:
            self._access.writing(self._target).mkdir()
        except OSError as error:
            raise InvalidArgumentError(
                f"the pictures' folder {str(self._target)!r} cannot be made: {error.strerror}; make it first"
            ) from error


def _check_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise InvalidArgumentError(
            f"picture {str(target)!r} cannot be written: there is no folder {str(target.parent)!r}; make it "
            "first"
        )

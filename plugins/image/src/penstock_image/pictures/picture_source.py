"""PictureSourceCalculator: pictures in files as a stream of frames."""

from __future__ import annotations

import logging
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.pictures.picture_decoding import converted, decoded, loses
from penstock_image.pictures.picture_paths import find_pictures
from penstock_image.pictures.picture_times import MICROSECONDS, by_exif, by_rate, by_table

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock.access import Access
    from penstock.lowlevel import Stop
    from penstock_image.pictures.picture_paths import Found, Picture

_LOG: Final = get_logger("image")
#: Why the ledger counts pictures as dropped.
_DAMAGED: Final = "picture cannot be read"
_NO_TIME: Final = "picture without a time of its own"
_TABLE: Final = "TIMES_FILE_PATH"


class PictureFormat(Enum):
    """What frames are made of."""

    #: As it is in the file: GRAY8, GRAY16, SRGB, SRGBA, SRGB48 or SRGBA64.
    KEEP = 0
    SRGB = 1
    SRGBA = 2
    GRAY8 = 3
    GRAY16 = 4
    SRGB48 = 7
    SRGBA64 = 8


class PictureTimes(Enum):
    """Where the times of pictures are from."""

    #: The option `fps`, or the table of the side packet TIMES_FILE_PATH where it is given.
    RATE = 0
    #: When they were taken, in microseconds since 1970.
    EXIF = 1


class BrokenPicture(Enum):
    """What becomes of a picture that cannot be read."""

    #: The run ends with an error that names the file.
    FAIL = 0
    #: It is left out; the log names the file, and the ledger counts it.
    SKIP = 1


@attrs.frozen(kw_only=True)
class PictureSourceCalculatorOptions:
    """Which frames pictures become, and when.

    Attributes:
        format: what each frame is made of: SRGB, SRGBA, GRAY8, GRAY16, SRGB48, SRGBA64, or KEEP for the
            file's own.
        fps: pictures per second of stream time, above 0; without effect where the times are from elsewhere.
        times: RATE for `fps`, EXIF for the times at which the pictures were taken.
        broken: of a picture that cannot be read: FAIL or SKIP.
        follows_exif: turn and mirror each picture as its EXIF data say.
        same_size: refuse a picture of another size than the first one.
    """

    format: PictureFormat = PictureFormat.SRGB
    fps: float = attrs.field(default=25.0, validator=[attrs.validators.ge(0.01), attrs.validators.le(1e6)])
    times: PictureTimes = PictureTimes.RATE
    broken: BrokenPicture = BrokenPicture.FAIL
    follows_exif: bool = True
    same_size: bool = False


class PictureSourceCalculator(penstock.Calculator):
    """Read pictures from files, one in each call: PNG, JPEG, TIFF, WebP, BMP, GIF, PNM, JPEG 2000.

    Input side packets:
        INPUT_FILE_PATH: str or Path of a picture; of a folder, whose pictures come in natural order
            ("9.png" before "10.png"); of a list (.txt, .lst) with a path in each line, "#" before comments;
            or a pattern with a number ("img_%04d.png", in the order of the numbers) or with `*` and `?`.
        TIMES_FILE_PATH (optional): str or Path of a CSV file with rows of name and time in seconds, or with a
            first row "name,time_us" in microseconds. Its pictures come in its order.
    Outputs:
        VIDEO: ImageFrame of the option `format`, of the file's own size. Its stream header is a VideoHeader
            with the size of the first picture.
        NAME (optional): str, the name of each picture's file, at the same timestamp.
        VIDEO_PRESTREAM (optional): the VideoHeader at PRESTREAM; closed at once.

    Timestamps, in microseconds: by default `fps` pictures a second, the first at 0; the times of the table;
    or with `times: EXIF` DateTimeOriginal with SubSecTimeOriginal and OffsetTimeOriginal, as time since 1970
    (UTC without an offset), pictures sorted by it.

    EXIF orientation is followed, mirrored ones too. Alpha and 16 bits stay where `format` has them. Else 16
    bits are divided by 257 and rounded, alpha is left out, and colours become grey by 0.299 R + 0.587 G +
    0.114 B; the log says once what is converted. It also says once that pictures have other sizes, and which
    numbers of a pattern are missing; later pictures follow without a gap. Of a GIF or TIFF with several
    pictures the first one is read.

    Options `PictureSourceCalculatorOptions`: `format` (SRGB), `fps` (25), `times` (RATE), `broken`: FAIL or
    SKIP (the time of the picture stays empty), `follows_exif` (true), `same_size` (false). OpenCV decodes
    without the GIL; Pillow reads EXIF data.

    Raises in `open`, where the first picture is decoded: InvalidArgumentError for a missing file, an empty
    folder or list, a list or table with a bad line, pictures without a time. In `process`: the same for a
    picture that is damaged or no picture, or with `same_size` of another size. Each names file and line.

    Config::

        node {
          calculator: "PictureSourceCalculator"
          input_side_packet: "INPUT_FILE_PATH:shots"
          output_stream: "VIDEO:frame"
          output_stream: "NAME:name"
          node_options {
            [type.googleapis.com/penstock_image.PictureSourceCalculatorOptions] { format: KEEP fps: 2 }
          }
        }
    """

    Options = PictureSourceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare paths in, frames out.

        Raises:
            InvalidArgumentError: times are to come of EXIF data and of a table.
        """
        path = cc.input_side_packets["INPUT_FILE_PATH"]
        path.set_one_of(str, Path, description="a picture, folder, list or pattern")
        table = cc.input_side_packets[_TABLE]
        table.set_one_of(str, Path, description="CSV: name, time").optional()
        cc.outputs["VIDEO"].set(ImageFrame, "frames")
        cc.outputs["NAME"].set(str, "the name of each picture's file").optional()
        cc.outputs["VIDEO_PRESTREAM"].set(VideoHeader, "the pictures' header, at PRESTREAM").optional()
        cc.declare(may_skip=False, stateless=False, cost="high", reads=[path, table])
        if cc.options(PictureSourceCalculatorOptions).times is PictureTimes.EXIF and _TABLE in (
            cc.input_side_packets.tags()
        ):
            raise InvalidArgumentError(
                f"the picture source has times: EXIF, but {_TABLE} is connected too; leave out one of them"
            )

    def open(self, cc: CalculatorContext) -> None:
        """Find the pictures, decode the first one, and send the header."""
        self._options = cc.options(PictureSourceCalculatorOptions)
        self._access = cc.service(ACCESS)
        self._node = cc.node_name
        #: What the log has said already.
        self._said: set[object] = set()
        self._size: tuple[int, int] | None = None
        found = find_pictures(str(cc.input_side_packets["INPUT_FILE_PATH"].payload), self._access)
        if found.missing:
            _LOG.warning("%s: missing are %s", found.what, found.missing, extra=place(self._node))
        if found.others:
            _LOG.info("%s: %d files are no pictures", found.what, found.others, extra=place(self._node))
        timed = self._timed(cc, found, self._access)
        if not timed:
            raise InvalidArgumentError(
                f"the picture source has no times for the {len(found.pictures)} pictures of {found.what}"
            )
        self._pictures = iter(timed)
        self._first = self._read(cc)
        if self._first is None:
            raise InvalidArgumentError(
                f"{found.what}: not one of {len(timed)} pictures can be read; the log names each"
            )
        _announce(cc, _header(self._first[2], timed, self._options))

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Send the next picture, or end the stream.

        Raises:
            InvalidArgumentError: it cannot be read, or has another size.
        """
        read, self._first = self._first or self._read(cc), None
        if read is None:
            return penstock.STOP
        picture, time, frame = read
        cc.outputs["VIDEO"].add(frame, time)
        if "NAME" in cc.outputs:
            cc.outputs["NAME"].add(picture.path.name, time)
        return None

    def _timed(self, cc: CalculatorContext, found: Found, access: Access) -> list[tuple[Picture, int]]:
        sides = cc.input_side_packets
        if _TABLE in sides:
            timed = by_table(found, Path(str(sides[_TABLE].payload)), access)
            if left := len(found.pictures) - len(timed):
                _LOG.warning(
                    "%s: %d pictures are not in the table", found.what, left, extra=place(self._node)
                )
            return timed
        if self._options.times is PictureTimes.RATE:
            return by_rate(found.pictures, self._options.fps)

        def skip(picture: Picture, why: str) -> None:
            self._skip(cc, picture, why, _NO_TIME)

        return by_exif(found, access, skip if self._options.broken is BrokenPicture.SKIP else None)

    def _read(self, cc: CalculatorContext) -> tuple[Picture, int, ImageFrame] | None:
        """Return the next picture that can be read, or None after the last."""
        for picture, time in self._pictures:
            try:
                pixels, kind = self._decoded(picture)
            except InvalidArgumentError as error:
                if self._options.broken is BrokenPicture.FAIL:
                    raise InvalidArgumentError(
                        f"{error}; replace or remove the picture, or leave it out: broken: SKIP, "
                        "--skip-broken"
                    ) from error
                self._skip(cc, picture, str(error), _DAMAGED)
                continue
            wanted = ImageFormat(self._options.format.value or kind)
            self._tell(picture, pixels, kind, wanted)
            return picture, time, ImageFrame(converted(pixels, kind, wanted), wanted)
        return None

    def _decoded(self, picture: Picture) -> tuple[NDArray[Any], ImageFormat]:
        name = f"picture {picture}"
        try:
            with self._access.open(picture.path) as file:
                data = file.read()
        except OSError as error:
            raise InvalidArgumentError(f"{name} cannot be read: {error.strerror or error}") from error
        return decoded(data, name, follows_exif=self._options.follows_exif)

    def _skip(self, cc: CalculatorContext, picture: Picture, why: str, reason: str) -> None:
        about = "" if str(picture) in why else f"picture {picture}: "
        _LOG.warning("left out: %s%s", about, why, extra=place(self._node))
        cc.outputs["VIDEO"].count_dropped(reason)

    def _tell(self, picture: Picture, pixels: NDArray[Any], kind: ImageFormat, wanted: ImageFormat) -> None:
        """Log once what is converted, and that sizes differ.

        Raises:
            InvalidArgumentError: the size differs, and must not.
        """
        if kind is not wanted and kind not in self._said:
            self._said.add(kind)
            lost = loses(kind, wanted)
            _LOG.log(
                logging.WARNING if lost else logging.INFO, "%s pictures, such as %s, become %s%s",
                kind.name, picture, wanted.name, f", without {lost}" if lost else "",
                extra=place(self._node),
            )  # fmt: skip
        size = (pixels.shape[1], pixels.shape[0])
        first = self._size = self._size or size
        if size == first:
            return
        said = f"picture {picture} is {size[0]}x{size[1]}, but the first one is {first[0]}x{first[1]}"
        if self._options.same_size:
            raise InvalidArgumentError(f"{said}; scale the picture, or leave same_size out")
        if "size" not in self._said:
            self._said.add("size")
            _LOG.info("%s; each frame has its own size", said, extra=place(self._node))


def _announce(cc: CalculatorContext, header: VideoHeader) -> None:
    cc.outputs["VIDEO"].set_header(penstock.Packet(header))
    if "VIDEO_PRESTREAM" in cc.outputs:
        cc.outputs["VIDEO_PRESTREAM"].add(header, penstock.Timestamp.PRESTREAM)
        cc.outputs["VIDEO_PRESTREAM"].close()


def _header(
    frame: ImageFrame, timed: list[tuple[Picture, int]], options: PictureSourceCalculatorOptions
) -> VideoHeader:
    """Return the header: its rate is `fps`, or that of the pictures' times in the mean."""
    rate, count = options.fps, len(timed)
    span = timed[-1][1] - timed[0][1]
    if span and round((count - 1) * MICROSECONDS / rate) != span:
        rate = (count - 1) * MICROSECONDS / span
    return VideoHeader(frame.format, frame.width, frame.height, rate, count / rate)

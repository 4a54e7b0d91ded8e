"""The header of a video stream, known before its first frame.

Source of the fields: MediaPipe `framework/formats/video_stream_header.h`.
"""

from __future__ import annotations

import attrs

from penstock_formats.image_format import ImageFormat


@attrs.frozen
class VideoHeader:
    """A description of the frames that follow. Nothing checks the frames against it."""

    #: The format of the frames' pixels.
    format: ImageFormat = ImageFormat.UNKNOWN
    #: `width`, `height`: of the frames, in pixels; 0 where unknown.
    width: int = 0
    height: int = 0
    #: Mean frames per second; 0.0 where unknown.
    frame_rate: float = 0.0
    #: Length in seconds; 0.0 where unknown, as for a camera.
    duration_s: float = 0.0

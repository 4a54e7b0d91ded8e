"""Sound that can be seen: a scrolling spectrogram beside the picture of a video, in step with it.

    python examples/spectrogram.py VIDEO [-o spectrogram.mp4] [--show]
    python examples/spectrogram.py --microphone [--device NAME] --show
    python examples/spectrogram.py

The right edge of the spectrogram is the time of the frame; three seconds before it are seen. One decoder
reads the pictures of a file and another one its sound; a node gets both in the order of time, and draws. The
file that is written has the sound of VIDEO, untouched. Without a video a test pattern whistles, and the
frequency that is loudest at each frame is printed. It needs the extra `audio` of Penstock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click
import cv2
import numpy as np

import penstock
from penstock_cli.failures import as_failure
from penstock_cli.runs.manner import Manner
from penstock_cli.runs.run import run_graph
from penstock_formats import ImageFormat, ImageFrame, Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

SECOND = 1_000_000
SPAN = 3 * SECOND  # what is seen, in microseconds
ROWS = 240  # frequencies, from the highest down
LOWEST, HIGHEST = 60.0, 12_000.0  # Hz
QUIETEST = -80.0  # dB; what is louder is brighter
TICKS = {100: "100 Hz", 300: "300", 1000: "1 kHz", 3000: "3", 10_000: "10"}
WINDOW, STEP = 0.046, 0.01  # seconds


@penstock.register_calculator
class SpectrogramBesideCalculator(penstock.Calculator):
    """Draws the spectra up to a frame's time beside the frame; without frames, 30 times in a second."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Take spectra and, if there are any, frames."""
        cc.inputs["SPECTRA"].set(Matrix, "decibels, as a SpectrogramCalculator sends them")
        cc.inputs["VIDEO"].set(ImageFrame, "frames (SRGB)").optional()
        cc.outputs["VIDEO"].set(ImageFrame, "frames and spectra beside each other")
        cc.outputs["LOUDEST"].set(float, "the loudest frequency at the frame's time, in Hz").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Find out which frequencies the rows are of."""
        header = cc.inputs["SPECTRA"].header.payload
        rate = header.audio_sample_rate
        top = min(HIGHEST, rate / 2)
        self.frequencies = np.geomspace(top, LOWEST, ROWS)
        self._bins = np.linspace(0, rate / 2, header.num_channels)
        self._step = SECOND / header.sample_rate
        # A full sine wave has 0 dB: a Hann window's sum is half its length, and half of that is the wave's.
        self._full = 20 * np.log10(WINDOW * rate / 4)
        self._columns: deque[tuple[float, NDArray[np.uint8]]] = deque()
        self._next = 0

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Keep what is heard, and draw it beside a frame."""
        if not cc.inputs["SPECTRA"].is_empty():
            self._keep(cc.inputs["SPECTRA"].payload.array, cc.stamp)
        if "VIDEO" not in cc.inputs:
            if cc.stamp >= self._next:
                self._next = cc.stamp + SECOND // 30
                self._draw(cc, np.zeros((480, 0, 3), np.uint8), 960)
        elif not cc.inputs["VIDEO"].is_empty():
            picture = cc.inputs["VIDEO"].payload.array
            picture = picture[: picture.shape[0] & ~1]  # encoders need even sides
            width = picture.shape[1] // 2
            self._draw(cc, picture, width + (picture.shape[1] + width) % 2)

    def _keep(self, decibels: NDArray[np.float32], stamp: int) -> None:
        """Keep spectra as columns of brightness, each with the time of the middle of its window."""
        for i, column in enumerate(decibels.T):
            levels = np.interp(self.frequencies, self._bins, np.maximum(column - self._full, QUIETEST))
            brightness = (255 * (1 - levels / QUIETEST)).clip(0, 255).astype(np.uint8)
            self._columns.append((stamp + i * self._step + WINDOW * SECOND / 2, brightness))

    def _draw(self, cc: penstock.CalculatorContext, picture: NDArray[np.uint8], width: int) -> None:
        """Send a picture with the spectra up to now beside it."""
        while self._columns and self._columns[0][0] < cc.stamp - SPAN - self._step:
            self._columns.popleft()
        heard = np.zeros((ROWS, width), np.uint8)
        if self._columns:
            times = np.array([time for time, _ in self._columns])
            columns = np.stack([column for _, column in self._columns], axis=1)
            wanted = cc.stamp - SPAN * np.arange(width - 1, -1, -1) / width
            nearest = np.searchsorted(times, wanted - self._step / 2).clip(0, len(times) - 1)
            is_there = np.abs(times[nearest] - wanted) <= self._step  # a pause stays dark
            heard[:, is_there] = columns[:, nearest[is_there]]
        if "LOUDEST" in cc.outputs and heard[:, -1].any():
            cc.outputs["LOUDEST"].add(float(self.frequencies[heard[:, -1].argmax()]), cc.stamp)
        joined = np.concatenate([picture, self._coloured(heard, picture.shape[0])], axis=1)
        cc.outputs["VIDEO"].add(ImageFrame(joined, ImageFormat.SRGB), cc.stamp)

    def _coloured(self, heard: NDArray[np.uint8], height: int) -> NDArray[np.uint8]:
        """Return brightness as colours, with some frequencies written beside them."""
        large = cv2.resize(heard, (heard.shape[1], height), interpolation=cv2.INTER_LINEAR)
        coloured = cv2.cvtColor(cv2.applyColorMap(large, cv2.COLORMAP_MAGMA), cv2.COLOR_BGR2RGB)
        for hertz, text in TICKS.items():
            if hertz < self.frequencies[0]:
                y = round((height - 1) * np.abs(self.frequencies - hertz).argmin() / (ROWS - 1))
                cv2.line(coloured, (0, y), (6, y), (255, 255, 255))
                cv2.putText(coloured, text, (9, y + 4), 0, 0.35, (255, 255, 255), 1, cv2.LINE_AA)
        return coloured


@penstock.register_calculator
@penstock.calculator
def whistle() -> Iterator[tuple[penstock.Timestamp, Matrix]]:
    """Whistle for two seconds, from 300 Hz up to 2700 Hz, at 16000 samples a second."""
    seconds = np.arange(32_000) / 16_000
    sound = 0.5 * np.sin(2 * np.pi * (300 + 600 * seconds) * seconds)
    for i, part in enumerate(np.split(sound.astype(np.float32), 100)):
        yield penstock.Timestamp(20_000 * i), Matrix(part[None])


PATTERN = """
node {
  calculator: "VideoDecoderCalculator"
  output_stream: "VIDEO:frame"
  node_options {
    [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] {
      test_pattern { width: 320 height: 180 frames: 50 }
    }
  }
}
"""
WHISTLE = """
node { calculator: "Whistle" output_stream: "OUT:samples" }
node {
  calculator: "AddAudioHeaderCalculator"
  input_stream: "samples"
  output_stream: "sound"
  node_options { [type.googleapis.com/penstock.AddAudioHeaderCalculatorOptions] { sample_rate: 16000 } }
}
"""
FILE = """
input_side_packet: "input_video"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
  output_stream: "VIDEO_PRESTREAM:header"
}
node {
  calculator: "AudioDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "AUDIO:sound"
  options { [penstock.AudioDecoderOptions.ext] { allowed_gap_seconds: 0.02 } }
}
"""
MICROPHONE = """
node {
  calculator: "MicrophoneSourceCalculator"
  output_stream: "AUDIO:sound"
  node_options { [type.googleapis.com/penstock_audio.MicrophoneSourceCalculatorOptions] { device: "%s" } }
}
"""
# One channel, spectra of it each hundredth of a second, and the drawing.
SPECTRA = f"""
node {{
  calculator: "AverageTimeSeriesAcrossChannelsCalculator"
  input_stream: "sound"
  output_stream: "mono"
}}
node {{
  calculator: "SpectrogramCalculator"
  input_stream: "mono"
  output_stream: "spectra"
  options {{
    [penstock.SpectrogramCalculatorOptions.ext] {{
      frame_duration_seconds: {WINDOW} frame_overlap_seconds: {WINDOW - STEP:.3f} output_type: DECIBELS
    }}
  }}
}}
"""
DRAWING = """
node {
  calculator: "SpectrogramBesideCalculator"
  input_stream: "SPECTRA:spectra"%s
  output_stream: "VIDEO:shown"
  output_stream: "LOUDEST:loudest"
}
"""
BESIDE_FRAMES = DRAWING % '\n  input_stream: "VIDEO:frame"'
ENCODER = """
input_side_packet: "output_video"
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:shown"
  input_stream: "VIDEO_PRESTREAM:header"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
  input_side_packet: "AUDIO_FILE_PATH:input_video"
  options { [penstock.OpenCvVideoEncoderCalculatorOptions.ext] { audio_optional: true } }
}
"""
LIMITS = "max_queue_size: 16\n"  # frames are large

GRAPH = LIMITS + PATTERN + WHISTLE + SPECTRA + BESIDE_FRAMES


def print_loudest() -> None:
    """Print the loudest frequency at each frame of the test pattern."""
    for row in penstock.CalculatorGraph(GRAPH).rows("shown", "loudest"):
        if row["shown"] is not None:
            said = "silence" if row["loudest"] is None else f"loudest at {row['loudest']:.0f} Hz"
            print(f"frame at {row.timestamp.seconds:.2f} s: {said}")


def run(text: str, sides: dict[str, object], *, show: bool, is_live: bool) -> int:
    """Run a graph to its end, or until Ctrl-C or the window is closed; return how many frames it drew."""
    with Manner().log_said(), ExitStack() as stack:
        window = None
        if show:
            from penstock_cli.runs.window import Window  # needs the extra: pip install "penstock-cli[show]"

            window = stack.enter_context(Window.opened("spectrogram"))
        graph = penstock.CalculatorGraph(text)
        wait = None
        if window is not None:
            from penstock_cli.runs.screen import Screen

            wait = Screen(graph, "shown", window, is_live=is_live).wait
        run_graph(graph, sides, Manner(summary=False), wait=wait)
        return next(stream.added for stream in graph.snapshot().streams if stream.name == "shown")


@click.command(help=__doc__.split("\n\n")[0], context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("video", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write.  [default: spectrogram.mp4; none with --show]",
)
@click.option("--show", is_flag=True, help="Show it in a window, at its pace; Esc closes it.")
@click.option("--microphone", is_flag=True, help="Listen to a microphone instead of a video; with --show.")
@click.option("--device", default="", help="Which microphone: its number, or a part of its name.")
def main(video: Path | None, out: Path | None, device: str, *, show: bool, microphone: bool) -> None:
    """Choose the graph, and run it."""
    if microphone and (video is not None or out is not None or not show):
        raise click.UsageError("--microphone goes with --show, and with neither a VIDEO nor -o")
    if not microphone and video is None and (show or out is not None):
        raise click.UsageError("there is nothing to show; name a VIDEO, or say --microphone")
    try:
        if microphone:
            from penstock_audio.microphone.sound_devices import check_microphone

            click.echo(
                f"listening to {check_microphone(device)}; Esc in the window or Ctrl-C ends it", err=True
            )
            text = MICROPHONE % device.replace("\\", "\\\\").replace('"', '\\"') + SPECTRA + DRAWING % ""
            run(text, {}, show=True, is_live=True)
        elif video is not None:
            write(video, out if out is not None or show else Path("spectrogram.mp4"), show=show)
        else:
            print_loudest()
    except penstock.PenstockError as error:
        raise as_failure(error) from error


def write(video: Path, out: Path | None, *, show: bool) -> None:
    """Draw the sound of a video beside it, into a file or a window or both."""
    if out is not None and out.exists() and out.samefile(video):
        raise click.UsageError(f"{str(out)!r} is the video that is read; name another file with -o")
    text = LIMITS + FILE + SPECTRA + BESIDE_FRAMES
    sides: dict[str, object] = {"input_video": str(video)}
    if out is not None:
        text, sides["output_video"] = text + ENCODER, str(out)
    frames = run(text, sides, show=show, is_live=False)
    click.echo(f"{frames} frames{f', written to {out} with the sound of {video}' if out else ' shown'}")


if __name__ == "__main__":
    main()

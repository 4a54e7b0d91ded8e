"""Words by which people look for pages, and which the pages lack: `resize` for a calculator that scales."""

from __future__ import annotations

import functools
import re
from typing import Final

import snowballstemmer

#: Words with one meaning to somebody who looks for a calculator: first words of our pages, then words that
#: lead to these pages.
_GROUPS: Final = tuple(
    tuple(side.split() for side in line.split("|"))
    for line in """
    scale resize transformation | resize rescale shrink enlarge downscale upscale thumbnail scale
    crop cropping cut | crop cut trim roi region slice
    smooth smoothing bilateral | blur denoise smooth soften filter
    mask segmentation | mask segmentation matting cutout background silhouette
    colour color recolor | color colour tint hue palette
    grey luminance | gray grey grayscale greyscale monochrome
    edges edge canny sobel | edge contour outline gradient
    video decoder | mp4 webcam camera movie read load open capture
    encoder write sink | save write export store output file record
    network rtsp live | rtsp ip camera stream webcam surveillance cctv
    detection detections detector | object box bounding detector yolo ssd find
    classification classes | class classifier label category recognise recognize
    track tracker tracks follows | track follow id identity bytetrack sort mot
    zones cross | count counting counter line crossing zone area dwell people
    overlay draw annotator annotation | draw annotate paint visualise visualize overlay plot show
    landmarks landmark | keypoint keypoints pose skeleton joint
    hand hands palm | hand finger gesture
    face faces | face facial mesh selfie
    sound audio | audio sound wav microphone speech mp3
    spectrum spectrogram spectra mel | fft frequency spectrum mel mfcc
    sample series resample | resample downsample upsample rate hz timeseries
    limiter drop drops thinner frequency | throttle drop skip frames fps limit rate backpressure decimate
    join joins inner synchronized | join synchronise synchronize sync align merge zip
    merge concatenate | merge concatenate combine append collect
    split demux | split divide separate fork branch
    mux switch gate | switch select choose conditional if enable disable toggle
    loop item | loop foreach each map iterate batch
    clone cloner repeats latest previous | hold last latest repeat previous delay state
    tensor tensors inference model | model network neural tensor inference tflite onnx ml ai
    anchors nms suppression overlapping | nms duplicate overlapping suppress
    rect rects rectangle | box rectangle bounding roi region
    ros bag mcap | rosbag ros bag mcap robot
    mqtt kafka webhook | message broker publish subscribe queue http post
    text string | text string word caption
    matrix array | numpy array matrix
    latency profile clock | latency timing profile measure benchmark
    gpu gl shader | gpu opengl shader texture
    optical flow motion box | motion movement optical flow stabilise
    jpeg png picture pictures encoded | jpeg jpg png photo picture snapshot image
    depth | depth distance range lidar
    imu inertial | imu gyroscope accelerometer orientation
    """.strip().splitlines()
)
#: Page → words by which people look for it, beside the words of its title.
PAGES: Final = {
    name: words.split()
    for name, _, words in (
        line.strip().partition(" ")
        for line in """
    install setup pip uv git clone wheels extras docker environment requirements
    first-ten-minutes/opencv cv2 VideoCapture loop imshow webcam
    first-ten-minutes/ros topics rosbag approximate time synchronizer message filters
    first-ten-minutes/mediapipe holistic hands pose solutions
    first-ten-minutes/data kafka flink watermark window late events
    tutorial start begin hello example introduction
    gallery example demo blur face faces anonymize anonymise pixelate hide privacy ocr text spectrogram motion
    how-to/read-what-comes-out output result callback poll observe
    how-to/use-an-event-loop asyncio async await coroutine fastapi aiohttp
    how-to/use-arrays-as-images numpy array torch pillow tensor bgr rgb
    how-to/bring-your-own-detector yolo onnx tflite model ultralytics inference detect track
    how-to/count-and-measure count people cars vehicles counter footfall line crossing zone dwell occupancy \
      speed heat map
    how-to/feed-live-data push sensor thread callback input
    how-to/depth-and-imu realsense lidar gyroscope fusion sensor
    how-to/read-a-network-camera rtsp ip camera lost reconnect disconnect onvif cctv webcam timeout stream
    how-to/bags-mqtt-and-rerun rosbag mcap broker foxglove robot viewer
    how-to/keep-up-with-a-camera drop skip frames lag slow latency backpressure throttle limit realtime fps
    how-to/show-and-publish-a-stream serve mjpeg hls rtmp rtsp webrtc broadcast http
    how-to/a-folder-of-videos batch files directory many parallel
    how-to/pictures images png jpg jpeg tiff photos save read
    how-to/a-graph-as-a-service deploy docker systemd container production daemon kubernetes restart
    how-to/programs-that-travel deploy bundle executable exe standalone freeze pyinstaller zip
    how-to/use-several-processes multiprocessing workers gil parallel cores crash
    how-to/use-a-cluster ray distributed machines kubernetes scale shards hosts
    how-to/survive-failures retry error exception skip restart fallback crash robust
    how-to/change-a-running-graph reload hot swap update parameter threshold reconfigure
    how-to/try-a-candidate shadow canary ab compare model
    how-to/use-the-gpu cuda opengl shader nvidia
    how-to/graphs-from-strangers security untrusted sandbox limits
    how-to/compile-the-engine mypyc faster speed performance
    how-to/write-graphs-in-python builder api code
    how-to/use-opencv cv2 draw putText rectangle
    how-to/edit-graph-files vscode editor autocomplete language server lsp vim neovim pbtxt
    how-to/give-a-calculator-options parameter settings configuration config argument
    how-to/write-a-subgraph reuse compose include nested module
    how-to/share-a-service singleton model once resource
    how-to/write-an-input-policy synchronize sync join
    how-to/write-an-executor thread pool
    how-to/test-a-calculator unit pytest mock
    how-to/write-a-pack plugin package distribute publish extension
    how-to/record-and-replay save log rosbag mcap debug reproduce playback
    how-to/lint-graphs check validate warnings mistakes
    how-to/find-out-why-it-hangs deadlock stuck freeze blocked stall debug waits
    how-to/see-what-happens bottleneck slow profile profiler performance trace perfetto draw visualize diagram
    how-to/watch-a-running-graph serve live view dashboard monitor bottleneck slow node browser prometheus \
      grafana notebook jupyter metrics
    how-to/log logging logger print debug
    how-to/write-a-tracer tracing hook instrument
    concepts/policies synchronize sync join align
    concepts/flow-control backpressure queue full drop frames throttle
    concepts/timestamps sync time clock
    concepts/errors exception failure
    reference/live serve live view dashboard browser page token
    reference/views draw diagram graphviz svg mermaid
    """.strip().splitlines()
    )
}
_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


@functools.cache
def stem(word: str) -> str:
    """Return what the search makes of a word: `resizes` and `resizing` become one."""
    return str(snowballstemmer.stemmer("english").stemWord(word.lower()))


def words_of(text: str) -> set[str]:
    """Return the words of a text and of its names in camel case, as the search compares them."""
    return {stem(word) for word in _WORD.findall(text)}


def keywords_of(name: str, summary: str) -> list[str]:
    """Return the words by which a calculator is found and which its page may lack, in alphabetical order."""
    ours = words_of(f"{name} {summary}")
    found: set[str] = set()
    for known, others in _GROUPS:
        if ours & {stem(word) for word in known}:
            found.update(others)
    return sorted(word for word in found if stem(word) not in ours)

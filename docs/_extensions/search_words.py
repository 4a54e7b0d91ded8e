"""Words by which people look for calculators, and which the pages lack: `resize` for one that scales."""

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
    zones cross lines | count counting counter line crossing zone area dwell people
    overlay draw annotator annotation | draw annotate paint visualise visualize overlay plot show
    landmarks landmark | keypoint keypoints pose skeleton joint
    hand hands palm | hand finger gesture
    face faces | face facial mesh selfie
    sound audio | audio sound wav microphone speech mp3
    spectrum spectrogram spectra mel | fft frequency spectrum mel mfcc
    sample series resample | resample downsample upsample rate hz timeseries
    flow limiter drop drops thinner frequency | throttle drop skip fps limit rate backpressure decimate
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

"""The keys of the parts of a media sequence. Names: MediaPipe util/sequence/media_sequence.h."""

from __future__ import annotations

from typing import Final

# --- the context: the clip as a whole
EXAMPLE_ID: Final = "example/id"
CLIP_MEDIA_ID: Final = "clip/media_id"
CLIP_DATA_PATH: Final = "clip/data_path"
#: Microseconds.
CLIP_START: Final = "clip/start/timestamp"
CLIP_END: Final = "clip/end/timestamp"
CLIP_MEDIA: Final = "clip/encoded_media_bytes"
CLIP_MEDIA_START: Final = "clip/encoded_media_start_timestamp"
CLIP_LABEL_INDEX: Final = "clip/label/index"
CLIP_LABEL_STRING: Final = "clip/label/string"
CLIP_LABEL_CONFIDENCE: Final = "clip/label/confidence"

# --- the context: spans of time within it
SEGMENT_START: Final = "segment/start/timestamp"
SEGMENT_END: Final = "segment/end/timestamp"
#: Numbers of images.
SEGMENT_START_INDEX: Final = "segment/start/index"
SEGMENT_END_INDEX: Final = "segment/end/index"

# --- images: context
IMAGE_FORMAT: Final = "image/format"
IMAGE_CHANNELS: Final = "image/channels"
IMAGE_HEIGHT: Final = "image/height"
IMAGE_WIDTH: Final = "image/width"
#: A second.
IMAGE_FRAME_RATE: Final = "image/frame_rate"
IMAGE_CLASS_LABEL_STRING: Final = "image/class/label/string"

# --- images: steps
IMAGE_ENCODED: Final = "image/encoded"
IMAGE_TIMESTAMP: Final = "image/timestamp"
IMAGE_LABEL_INDEX: Final = "image/label/index"
IMAGE_LABEL_STRING: Final = "image/label/string"
IMAGE_LABEL_CONFIDENCE: Final = "image/label/confidence"
#: A prefix of images.
FORWARD_FLOW: Final = "FORWARD_FLOW"
#: A prefix of images.
CLASS_SEGMENTATION: Final = "CLASS_SEGMENTATION"

# --- regions, such as boxes: steps
REGION: Final = "region/"
REGION_YMIN: Final = "region/bbox/ymin"
REGION_XMIN: Final = "region/bbox/xmin"
REGION_YMAX: Final = "region/bbox/ymax"
REGION_XMAX: Final = "region/bbox/xmax"
REGION_POINT_X: Final = "region/point/x"
REGION_POINT_Y: Final = "region/point/y"
REGION_3D_POINT_X: Final = "region/3d_point/x"
REGION_NUM_REGIONS: Final = "region/num_regions"
#: 1 where people have looked for regions, 0 where they have not.
REGION_IS_ANNOTATED: Final = "region/is_annotated"
REGION_LABEL_INDEX: Final = "region/label/index"
REGION_LABEL_STRING: Final = "region/label/string"
REGION_LABEL_CONFIDENCE: Final = "region/label/confidence"
REGION_TIMESTAMP: Final = "region/timestamp"
#: Where the region was before it was moved to an image.
REGION_UNMODIFIED_TIMESTAMP: Final = "region/unmodified_timestamp"
#: What is removed with a list of boxes or points, besides the coordinates.
REGION_PARTS: Final = (
    REGION_TIMESTAMP,
    REGION_IS_ANNOTATED,
    REGION_NUM_REGIONS,
    REGION_LABEL_STRING,
    REGION_LABEL_INDEX,
    REGION_LABEL_CONFIDENCE,
    "region/class/string",
    "region/class/index",
    "region/track/string",
    "region/track/index",
    REGION_UNMODIFIED_TIMESTAMP,
)

# --- features
FEATURE_DIMENSIONS: Final = "feature/dimensions"
#: A second.
FEATURE_RATE: Final = "feature/rate"
CONTEXT_FEATURE_FLOATS: Final = "context_feature/floats"
CONTEXT_FEATURE_BYTES: Final = "context_feature/bytes"
CONTEXT_FEATURE_INTS: Final = "context_feature/ints"
FEATURE_FLOATS: Final = "feature/floats"
FEATURE_BYTES: Final = "feature/bytes"
FEATURE_INTS: Final = "feature/ints"
FEATURE_TIMESTAMP: Final = "feature/timestamp"

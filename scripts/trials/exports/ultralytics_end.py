"""The other end of ultralytics_exports.py: exports models of Ultralytics, and lets its `predict` use them.

It runs in an environment that has ultralytics, and imports nothing of Penstock:

    PYTHON ultralytics_end.py FOLDER SEED MODEL,MODEL,... PICTURE ...

MODEL is the name of one of its YAML files, perhaps with `+dynamic`, `+nms`, `+end2end`, `+half`, `+simplify`,
or `+litert` for a .tflite file, behind it. In the folder of its name in FOLDER it leaves the file of the
model, and for each picture NUMBER.npz with the results of `predict`.
A line for each model begins with `RESULT ` and goes on with JSON: the model, the path of its file and the
version of ultralytics, or "fault".

The weights are random. So that such a model finds some things, and not thousands, batch normalisation learns
the statistics of the pictures, and the scores are shifted until some places of each scale are above 0.25.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import torch
import ultralytics
from torch import nn
from ultralytics import RTDETR, YOLO

_SIDE: Final = 640
#: Of the pictures that the random weights are fitted to: smaller, which takes a quarter of the time.
_FITTED_SIDE: Final = 320
_CLASSIFIER_SIDE: Final = 224
_SCORE: Final = 0.25
_WANTED: Final = 6
#: How the exporter is asked for a variant: in this version `nms=False` exports the heads without overlaps.
_VARIANTS: Final = {
    "dynamic": ("dynamic", True), "nms": ("nms", True), "end2end": ("nms", False), "half": ("quantize", 16),
    "simplify": ("simplify", True), "litert": ("format", "litert"),
}  # fmt: skip
#: What the logits of scores, and the numbers of boxes, vary by.
_SCORE_SPREAD: Final = 1.5
_BOX_SPREAD: Final = 3.0
#: Of a classifier: a few of its thousand classes are probable then.
_CLASS_SPREAD: Final = 3.0


def built(name: str, pictures: list[Any], seed: int) -> Any:
    """Return a model of a YAML file with random weights, fitted to pictures."""
    torch.manual_seed(seed)
    model = (RTDETR if name.startswith("rtdetr") else YOLO)(f"{name}.yaml")
    side = _CLASSIFIER_SIDE if name.endswith("-cls") else _FITTED_SIDE
    small = [cv2.resize(one, (side, side))[..., ::-1].transpose(2, 0, 1).copy() for one in pictures]
    batch = torch.from_numpy(np.stack([one for each in small for one in (each, each[..., ::-1])])) / 255
    net = model.model
    with torch.no_grad():
        _learn_statistics(net, batch)
        if name.endswith("-cls"):
            linear = net.model[-1].linear
            linear.weight *= _CLASS_SPREAD / _output_of(linear, net, batch).std()
        else:
            _spread(net, batch)
    net.eval()
    return model


def _learn_statistics(net: Any, batch: Any) -> None:
    layers = [one for one in net.modules() if isinstance(one, nn.BatchNorm2d)]
    for one in layers:
        one.reset_running_stats()
        one.momentum = None  # the mean of all batches
    net.train()
    net(batch)
    net.eval()
    for one in layers:
        one.momentum = 0.03


def _spread(net: Any, batch: Any) -> None:
    """Scale and shift the last layers of boxes, then of scores."""
    head = net.model[-1]
    for layer in _last_layers(head, ("cv2", "one2one_cv2")):
        layer.weight *= _BOX_SPREAD / _output_of(layer, net, batch).std()
    scores = _last_layers(head, ("cv3", "one2one_cv3", "enc_score_head", "dec_score_head"))
    for layer in scores:
        layer.weight *= _SCORE_SPREAD / _output_of(layer, net, batch).std()
        logits = _output_of(layer, net, batch)
        classes = 1 if logits.ndim == 4 else -1  # noqa: PLR2004  # maps have channels in front
        best = logits.amax(dim=classes)[:1].flatten().sort(descending=True).values
        layer.bias += np.log(_SCORE / (1 - _SCORE)) - float(best[min(_WANTED, len(best) - 1)])


def _last_layers(head: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the last layer of each branch of some names."""
    found = []
    for name in names:
        part = getattr(head, name, None)
        if part is None:
            continue
        for branch in part if isinstance(part, nn.ModuleList) else [part]:
            layers = [one for one in branch.modules() if isinstance(one, (nn.Conv2d, nn.Linear))]
            if layers[-1].bias is not None:
                found.append(layers[-1])
    return found


def _output_of(layer: Any, net: Any, batch: Any) -> Any:
    """Return what a layer makes of a batch, in a run of the whole model."""
    seen: list[Any] = []
    hook = layer.register_forward_hook(lambda _layer, _given, made: seen.append(made.detach().clone()))
    net(batch)
    hook.remove()
    return seen[-1] if seen else torch.ones(1, *layer.weight.shape[:1], 1, 1)


def found_in(results: Any) -> dict[str, Any]:
    """Return the arrays of one `Results`."""
    if results.probs is not None:
        return {"classes": results.probs.data.cpu().numpy()}
    made = {"boxes": results.boxes.data.cpu().numpy()}  # left, top, right, bottom, score, class
    if results.masks is not None:
        made["masks"] = results.masks.data.cpu().numpy() > 0
    if results.keypoints is not None:
        made["points"] = results.keypoints.data.cpu().numpy()
    return made


def tried(text: str, folder: Path, seed: int, pictures: list[Any]) -> Path:
    """Export one model and let it predict; return the path of the file."""
    name, *variants = text.split("+")
    folder.mkdir(exist_ok=True)
    model = built(name, pictures, seed)
    weights = folder / f"{text}.pt"
    model.ckpt_path = str(weights)
    model.model.pt_path = str(weights)
    side = _CLASSIFIER_SIDE if name.endswith("-cls") else _SIDE
    usual = {} if "litert" in variants else {"format": "onnx", "simplify": False}
    file = model.export(imgsz=side, **usual | {_VARIANTS[one][0]: _VARIANTS[one][1] for one in variants})
    if not name.endswith("-obb"):
        exported = (RTDETR if name.startswith("rtdetr") else YOLO)(file, **_task(model, name))
        for number, picture in enumerate(pictures):
            (results,) = exported.predict(picture, imgsz=side, conf=_SCORE, rect=False, verbose=False)
            np.savez(folder / f"{number}.npz", **found_in(results))
    return Path(file)


def main() -> int:
    """Export and predict."""
    folder, seed, models, *paths = sys.argv[1:]
    pictures = [cv2.imread(path) for path in paths]
    for text in models.split(","):
        told = {"model": text, "version": ultralytics.__version__}
        try:
            told["file"] = str(tried(text, Path(folder) / text, int(seed), pictures))
        except Exception as error:  # noqa: BLE001  # goes into the table; the next model is tried
            traceback.print_exc()
            told["fault"] = f"no export: {type(error).__name__}: {error}"
        print(f"\nRESULT {json.dumps(told)}", flush=True)
    return 0


def _task(model: Any, name: str) -> dict[str, Any]:
    return {} if name.startswith("rtdetr") else {"task": model.task}


if __name__ == "__main__":
    sys.exit(main())

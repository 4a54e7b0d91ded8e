"""Decoders in plain Python, a loop for each: the decoders of the pack are compared with them."""

from __future__ import annotations

import math

from detector_models import CLASSES, HEIGHT, POINTS, WIDTH


def found(number, score, box, points=(), row=None):
    return {"class": number, "score": score, "box": tuple(box), "points": list(points), "row": row}


def centred(x, y, w, h):
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def relative(box):
    left, top, right, bottom = box
    return left / WIDTH, top / HEIGHT, right / WIDTH, bottom / HEIGHT


def points_of(numbers):
    return [(numbers[3 * i] / WIDTH, numbers[3 * i + 1] / HEIGHT, numbers[3 * i + 2]) for i in range(POINTS)]


def rows_v8(arrays, least, further=0, has_points=False):
    table = arrays[0][0].tolist()
    for place in range(len(table[0])):
        column = [line[place] for line in table]
        scores = column[4 : 4 + CLASSES]
        best = max(range(CLASSES), key=lambda i: scores[i])
        if scores[best] >= least:
            points = points_of(column[4 + CLASSES :]) if has_points else ()
            yield found(best, scores[best], relative(centred(*column[:4])), points, place)


def rows_v5(arrays, least):
    for place, row in enumerate(arrays[0][0].tolist()):
        scores = [row[4] * one for one in row[5 : 5 + CLASSES]]
        best = max(range(CLASSES), key=lambda i: scores[i])
        if scores[best] >= least:
            yield found(best, scores[best], relative(centred(*row[:4])), (), place)


def end_to_end(arrays, least, has_points=False):
    for place, row in enumerate(arrays[0][0].tolist()):
        if row[4] >= least:
            points = points_of(row[6:]) if has_points else ()
            yield found(int(row[5]), row[4], relative(row[:4]), points, place)


def yolox(arrays, least):
    rows = iter(arrays[0][0].tolist())
    for stride in (8, 16, 32):
        for y in range(HEIGHT // stride):
            for x in range(WIDTH // stride):
                row = next(rows)
                scores = [row[4] * one for one in row[5:]]
                best = max(range(CLASSES), key=lambda i: scores[i])
                if scores[best] >= least:
                    sizes = math.exp(row[2]) * stride, math.exp(row[3]) * stride
                    centre = (row[0] + x) * stride, (row[1] + y) * stride
                    yield found(best, scores[best], relative(centred(*centre, *sizes)))
    assert next(rows, None) is None


def ssd(arrays, least):
    boxes, classes, scores, count = arrays
    for i in range(int(count[0])):
        if scores[0][i] >= least:
            top, left, bottom, right = map(float, boxes[0][i])
            yield found(int(classes[0][i]), float(scores[0][i]), (left, top, right, bottom))


def detr(arrays, least):
    logits, boxes = arrays
    all_of_them = []
    for i, row in enumerate(logits[0].tolist()):
        for number, logit in enumerate(row):
            score = 1 / (1 + math.exp(-logit))
            if score >= least:
                all_of_them.append(found(number, score, centred(*map(float, boxes[0][i]))))
    all_of_them.sort(key=lambda one: -one["score"])
    yield from all_of_them[: logits.shape[1]]


def detr_rows(arrays, least):
    for place, row in enumerate(arrays[0][0].tolist()):
        best = max(range(CLASSES), key=lambda i: row[4 + i])
        if row[4 + best] >= least:
            yield found(best, row[4 + best], centred(*row[:4]), (), place)


def detr_end_to_end(arrays, least):
    for place, (x, y, width, height, score, number) in enumerate(arrays[0][0].tolist()):
        if score >= least:
            yield found(int(number), score, centred(x, y, width, height), (), place)


def labels_boxes_scores(arrays, least):
    labels, boxes, scores = arrays
    for label, box, score in zip(labels[0], boxes[0], scores[0], strict=True):
        if score >= least:
            yield found(int(label), float(score), relative(map(float, box)))


def rtmdet(arrays, least):
    dets, labels = arrays
    for label, row in zip(labels[0], dets[0].tolist(), strict=True):
        if row[4] >= least:
            yield found(int(label), row[4], relative(row[:4]))


def centernet(arrays, least):
    heat, sizes, offsets = (one[0].tolist() for one in arrays)
    for number in range(CLASSES):
        for y in range(HEIGHT // 4):
            for x in range(WIDTH // 4):
                around = [
                    heat[number][b][a]
                    for b in range(max(y - 1, 0), min(y + 2, HEIGHT // 4))
                    for a in range(max(x - 1, 0), min(x + 2, WIDTH // 4))
                ]
                score = heat[number][y][x]
                if score >= least and score == max(around):
                    centre = x + offsets[0][y][x], y + offsets[1][y][x]
                    box = centred(*centre, sizes[0][y][x], sizes[1][y][x])
                    yield found(number, score, relative([4 * one for one in box]))


def centerface(arrays, least):
    heat, sizes, offsets, points = (one[0].tolist() for one in arrays)
    for y in range(HEIGHT // 4):
        for x in range(WIDTH // 4):
            if heat[0][y][x] >= least:
                h, w = (4 * math.exp(sizes[i][y][x]) for i in (0, 1))
                centre = (x + offsets[1][y][x] + 0.5) * 4, (y + offsets[0][y][x] + 0.5) * 4
                left, top, right, bottom = centred(*centre, w, h)
                five = [
                    (
                        (points[2 * i + 1][y][x] * w + left) / WIDTH,
                        (points[2 * i][y][x] * h + top) / HEIGHT,
                    )
                    for i in range(5)
                ]
                yield found(0, heat[0][y][x], relative((left, top, right, bottom)), five)


DECODERS = {
    "YOLO_V5": rows_v5,
    "YOLO_V5_SEGMENT": rows_v5,
    "YOLO_V8": rows_v8,
    "YOLO_V8_SEGMENT": rows_v8,
    "YOLO_V8_POSE": lambda arrays, least: rows_v8(arrays, least, has_points=True),
    "YOLO_END_TO_END": end_to_end,
    "YOLO_END_TO_END_SEGMENT": end_to_end,
    "YOLO_END_TO_END_POSE": lambda arrays, least: end_to_end(arrays, least, has_points=True),
    "YOLOX": yolox,
    "SSD": ssd,
    "DETR": detr,
    "DETR_ROWS": detr_rows,
    "DETR_END_TO_END": detr_end_to_end,
    "LABELS_BOXES_SCORES": labels_boxes_scores,
    "RTMDET": rtmdet,
    "CENTERNET": centernet,
    "CENTERFACE": centerface,
}
#: Layouts of which boxes overlap.
OVERLAPPING = {
    "YOLO_V5", "YOLO_V5_SEGMENT", "YOLO_V8", "YOLO_V8_SEGMENT", "YOLO_V8_POSE", "YOLOX", "CENTERFACE",
}  # fmt: skip


def unpadded(detection, padding):
    """Return a detection in fractions of the image."""
    left, top, right, bottom = padding

    def moved(x, y):
        return (x - left) / (1 - left - right), (y - top) / (1 - top - bottom)

    box = detection["box"]
    return {
        **detection,
        "box": (*moved(*box[:2]), *moved(*box[2:])),
        "points": [(*moved(*one[:2]), *one[2:]) for one in detection["points"]],
    }


def best_of(detections, most):
    """Return the ones that no better one of their class overlaps too much, the best first."""
    kept = []
    for one in sorted(detections, key=lambda one: -one["score"]):
        if all(one["class"] != other["class"] or shared(one["box"], other["box"]) <= most for other in kept):
            kept.append(one)
    return kept


def shared(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    inner = max(width, 0) * max(height, 0)
    areas = [(one[2] - one[0]) * (one[3] - one[1]) for one in (a, b)]
    return inner / (sum(areas) - inner)

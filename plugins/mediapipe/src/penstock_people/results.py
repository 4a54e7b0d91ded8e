"""PeopleResultsCalculator: what was found in each frame, as plain Python numbers for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, LandmarkList, NormalizedLandmarkList

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Tag of landmarks → type, whether it is one list instead of a list of them, the key in a result, what it is.
_LANDMARKS: Final[dict[str, tuple[type[Any], bool, str, str]]] = {
    "LANDMARKS": (NormalizedLandmarkList, False, "landmarks", "landmarks of each, in shares of the frame"),
    "SINGLE_LANDMARKS": (NormalizedLandmarkList, True, "landmarks", "landmarks, in shares of the frame"),
    "WORLD_LANDMARKS": (LandmarkList, False, "world_landmarks", "landmarks of each, in metres"),
    "SINGLE_WORLD_LANDMARKS": (LandmarkList, True, "world_landmarks", "landmarks, in metres"),
}
_CLASSES: Final = "CLASSIFICATIONS"
#: Digits behind the point: a thousandth of a pixel of the largest frame, a hundredth of a millimetre.
_DIGITS: Final = 6


class PictureResults(list[dict[str, Any]]):
    """The results of a picture, with the name of its file."""

    def __init__(self, results: list[dict[str, Any]], picture: str) -> None:
        super().__init__(results)
        #: The name of the picture's file.
        self.picture = picture

    def __reduce__(self) -> tuple[Any, ...]:
        return PictureResults, (list(self), self.picture)


class PeopleResultsCalculator(penstock.Calculator):
    """Collect what was found in each frame, as numbers and texts that JSON has.

    Inputs: FRAME (any), and any of LANDMARKS (list[NormalizedLandmarkList]), SINGLE_LANDMARKS
    (NormalizedLandmarkList), WORLD_LANDMARKS (list[LandmarkList]), SINGLE_WORLD_LANDMARKS (LandmarkList),
    CLASSIFICATIONS (list[ClassificationList]), NAME (str, the name of a picture's file). Output: RESULTS
    (list[dict]) for each packet of FRAME: a dict for each hand, face or person, with `label` and `score` of
    its first classification, `landmarks` and `world_landmarks` as lists of [x, y, z], rounded to six digits;
    a landmark that has a visibility is [x, y, z, visibility]. Keys without an input are left out. The list is
    empty where nothing was found. With NAME it is a PictureResults, a list with the attribute `picture`.
    Timestamp offset 0.

    Raises in `process`: InvalidArgumentError if two inputs have another number of elements.

    Config::

        node {
          calculator: "PeopleResultsCalculator"
          input_stream: "FRAME:frame"
          input_stream: "LANDMARKS:hands"
          input_stream: "CLASSIFICATIONS:handedness"
          output_stream: "RESULTS:results"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frame, and what is found in it."""
        cc.inputs["FRAME"].set_any("what is looked at; only its timestamp counts")
        for tag, (kind, is_single, _, what) in _LANDMARKS.items():
            cc.inputs[tag].set(kind if is_single else list[kind], what).optional()  # type: ignore[valid-type]
        cc.inputs[_CLASSES].set(list[ClassificationList], "what each is").optional()
        cc.inputs["NAME"].set(str, "the name of each picture's file").optional()
        cc.outputs["RESULTS"].set(list[dict[str, Any]], "what was found in the frame")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Note which inputs there are."""
        self._tags = [tag for tag in (_CLASSES, *_LANDMARKS) if tag in cc.inputs]

    def process(self, cc: CalculatorContext) -> None:
        """Collect the results of one frame.

        Raises:
            InvalidArgumentError: two inputs have another number of elements.
        """
        if cc.inputs["FRAME"].is_empty():
            return
        given = {tag: cc.inputs[tag].payload for tag in self._tags if not cc.inputs[tag].is_empty()}
        columns = {
            tag: [payload] if tag in _LANDMARKS and _LANDMARKS[tag][1] else payload
            for tag, payload in given.items()
        }
        sizes = {tag: len(column) for tag, column in columns.items()}
        if len(set(sizes.values())) > 1:
            found = ", ".join(f"{tag} {size}" for tag, size in sizes.items())
            raise InvalidArgumentError(
                f"at timestamp {cc.stamp} the numbers of results are {found}, but must be equal; connect "
                "streams of the same hands or faces"
            )
        results: list[dict[str, Any]] = [{} for _ in range(max(sizes.values(), default=0))]
        for tag, column in columns.items():
            for result, one in zip(results, column, strict=True):
                if tag == _CLASSES:
                    _add_class(result, one)
                else:
                    result[_LANDMARKS[tag][2]] = [_numbers(point) for point in one.landmark]
        if "NAME" in cc.inputs and not cc.inputs["NAME"].is_empty():
            results = PictureResults(results, cc.inputs["NAME"].payload)
        cc.outputs["RESULTS"].add(results, cc.stamp)


def _add_class(result: dict[str, Any], found: ClassificationList) -> None:
    if found.classification:
        first = found.classification[0]
        result["label"], result["score"] = first.label, round(first.score, _DIGITS)


def _numbers(point: Any) -> list[float]:
    numbers = [round(point.x, _DIGITS), round(point.y, _DIGITS), round(point.z, _DIGITS)]
    if point.HasField("visibility"):
        numbers.append(round(point.visibility, _DIGITS))
    return numbers

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.config.places import Places
from penstock.config.reading.scan import own_name, scan_text, snake_case


def place_of(text, *path, root=None):
    return Places("f", text, root or scan_text(text).root).position_of(path)


def test_each_field_has_the_line_and_column_of_its_name():
    text = 'input_stream: "a"\nnode {\n  calculator: "X"  # }\n  options { [penstock.Y.ext] { size: 1 } }\n}'

    assert place_of(text, ("input_stream", 0)) == (1, 1)
    assert place_of(text, ("node", 0)) == (2, 1)
    assert place_of(text, ("node", 0), ("calculator", 0)) == (3, 3)
    assert place_of(text, ("node", 0), ("options", 0), ("[penstock.Y.ext]", 0), ("size", 0)) == (4, 32)


def test_a_field_that_is_not_there_has_the_place_of_what_could_hold_it():
    text = 'node {}\nnode { calculator: "X" }'

    assert place_of(text, ("node", 1), ("executor", 0)) == (2, 1)
    assert place_of(text, ("node", 2)) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        'node { input_stream: ["a",\n"b" "c",\n"d"] }',
        'node: < input_stream: ["a",\n"b" \'c\',\n"d"]; >',
        'node: { input_stream: "a"\ninput_stream: "b"\n"c",\ninput_stream: "d" }',
    ],
)
def test_elements_of_lists_have_places_of_their_own(text):
    found = [place_of(text, ("node", 0), ("input_stream", i))[0] for i in range(3)]

    assert found in ([1, 2, 3], [1, 2, 4])


def test_lists_of_messages_have_the_fields_inside():
    text = "node: [{ name: 'a' },\n { name: 'b' }]"

    assert place_of(text, ("node", 1), ("name", 0)) == (2, 4)


def test_names_of_the_reference_package_are_ours_and_columns_stay():
    text = "[mediapipe.A.ext] { a: 1 } [ mediapipe.B.ext]: {} [type.googleapis.com/mediapipe.C] {}"

    scanned = scan_text(text)

    assert scanned.text == (
        "[ penstock.A.ext] { a: 1 } [  penstock.B.ext]: {} [type.googleapis.com/ penstock.C] {}"
    )
    assert [named.name for named in scanned.named] == ["penstock.A.ext", "penstock.B.ext", "penstock.C"]
    assert [named.is_any for named in scanned.named] == [False, False, True]
    assert scanned.named[0].written == "mediapipe.A.ext"


@pytest.mark.parametrize(
    "text",
    [
        'name: "[mediapipe.A.ext]"',
        "name: '[mediapipe.A.ext]'",
        'name: "\\"[mediapipe.A.ext]"',
        "# [mediapipe.A.ext]",
        "mediapipe.A",
        "[mediapipes.A]",
        "[my.mediapipe.A]",
        "[mediapipe]",
    ],
)
def test_strings_comments_and_other_names_stay_as_they_are(text):
    assert scan_text(text).text == text


def test_a_bracket_that_nothing_closes_is_found():
    assert scan_text("node { options {\n}").unclosed == 5
    assert scan_text("node { }").unclosed is None


@given(st.text(alphabet="an_:[]{}<>\"'#/.,;\\\n -1mediapipe"))
def test_any_text_can_be_scanned_and_keeps_its_length(text):
    assert len(scan_text(text).text) == len(text)


def test_names_are_turned_into_ours():
    assert own_name("mediapipe.X") == "penstock.X"
    assert own_name("mediapipex.X") == "mediapipex.X"
    assert snake_case("inputStreamInfo") == "input_stream_info"
    assert snake_case("input_stream") == "input_stream"


def test_without_a_tree_places_are_in_the_order_of_asking_and_have_no_lines():
    places = Places("g.binarypb")

    first, second = places.at(None), places.at(None)

    assert first < second
    assert places.where(second) == "g.binarypb: "
    assert Places().where(1) == ""

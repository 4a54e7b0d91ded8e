from __future__ import annotations

import json

import attrs
import pytest

import penstock


def shown(invoke, *arguments):
    done = invoke("show", *arguments)
    assert done.exit_code == 0, done.output
    return done.output


def paragraph(output, heading):
    """Return the stripped lines below a heading, up to the next empty one."""
    _, _, rest = output.partition(f"\n{heading}\n")
    return [line.strip() for line in rest.partition("\n\n")[0].splitlines()]


def test_a_calculator_is_shown_with_ports_options_and_example(invoke):
    output = shown(invoke, "ImageOverlayCalculator")

    assert output.startswith("ImageOverlayCalculator  calculator of penstock-image 0.")
    assert [line.split()[:2] for line in paragraph(output, "input streams")] == [
        ["MASK", "penstock_formats.ImageFrame"],
        ["VIDEO", "penstock_formats.ImageFrame"],
    ]
    assert any("DefaultInputStreamHandler (the default;" in line for line in paragraph(output, "behaviour"))
    assert "options penstock.ImageOverlayCalculatorOptions" in output
    assert "alpha = 2" in output
    assert 'calculator: "ImageOverlayCalculator"' in "\n".join(paragraph(output, "example"))


def test_optional_ports_are_marked_also_where_the_example_leaves_them_out(invoke):
    ports = paragraph(shown(invoke, "VideoDecoderCalculator"), "output streams")

    assert [(line.split()[0], line.endswith("(optional)")) for line in ports] == [
        ("VIDEO", False),
        ("VIDEO_PRESTREAM", True),
    ]


def test_the_output_is_plain_text_where_it_goes_into_a_file(command):
    done = command("show", "CannyEdgeCalculator")

    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_json_has_all_of_it(invoke):
    found = json.loads(shown(invoke, "CannyEdgeCalculator", "--json"))

    assert (found["kind"], found["name"], found["distribution"]) == (
        "calculator",
        "CannyEdgeCalculator",
        "penstock-image",
    )
    assert [port["tag"] for port in found["inputs"]] == ["VIDEO"]
    assert found["timestamp_offset"] == 0
    assert found["version"].startswith("0.")
    low = found["options"][0]["fields"][0]
    assert (low["name"], low["number"], low["default"]) == ("low_threshold", 1, "100.0")


@pytest.mark.parametrize(
    ("name", "words", "options"),
    [
        (
            "FixedSizeInputStreamHandler",
            "input stream handler of penstock-stream",
            "trigger_queue_size",
        ),
        ("ThreadPoolExecutor", "executor of penstock-executors", "num_threads"),
    ],
)
def test_handlers_and_executors_are_shown_with_their_options(invoke, name, words, options):
    output = shown(invoke, name)

    assert output.startswith(f"{name}  {words}")
    assert f" {options} = 1" in output
    assert "input streams" not in output


def test_a_calculator_of_this_process_is_shown_with_its_docstring(invoke):
    output = shown(invoke, "CliNumbers")

    assert output.startswith("CliNumbers  calculator of this process (")
    assert "Sends 1, 2, ... up to the side packet COUNT." in output
    assert paragraph(output, "input side packets") == ["COUNT  int"]


def test_options_of_a_class_are_shown_with_defaults_and_what_is_required(invoke):
    @attrs.frozen(kw_only=True)
    class CliSizedOptions:
        """How large.

        Attributes:
            size: in pixels.
        """

        size: int
        limit: float = 0.5
        names: tuple[str, ...] = ("a", "b")
        others: tuple[str, ...] = ()

    class CliSized(penstock.Calculator):
        Options = CliSizedOptions

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(int)

    penstock.register_calculator(CliSized)
    output = shown(invoke, "CliSized")

    heading = next(line for line in output.splitlines() if line.startswith("options "))
    assert heading.endswith(".CliSizedOptions")
    lines = paragraph(output, heading)
    assert lines[0] == "How large."
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "size = 1 int64 required in pixels.",
        "limit = 2 double default 0.5",
        'names = 3 repeated string default ["a", "b"]',
        "others = 4 repeated string",
    ]


def test_an_unknown_name_is_wrong_usage_and_similar_names_are_suggested(invoke):
    done = invoke("show", "CanyEdgeCalculator")

    assert done.exit_code == 2
    assert "no component 'CanyEdgeCalculator' is registered (did you mean 'Canny" in done.output


@pytest.mark.parametrize("name", ["Gate", "gate"])
def test_a_name_that_contains_what_was_typed_is_suggested_and_a_far_one_is_not(invoke, name):
    done = invoke("show", name)

    assert (
        f"no component '{name}' is registered (did you mean 'GateCalculator'?); penstock list {name} shows"
    ) in done.output


def test_for_a_part_of_a_name_the_message_says_how_to_list_the_names_with_it(invoke):
    done = invoke("show", "canny")

    assert done.exit_code == 2
    assert done.output.endswith("; penstock list canny shows 1 name with it\n")


def test_a_pack_that_is_blocked_is_named_as_the_reason(command):
    done = command("show", "CannyEdgeCalculator", PENSTOCK_BLOCK_PLUGINS="image")

    assert done.returncode == 2
    assert "plugins that are not loaded: image (blocked by name" in done.stderr

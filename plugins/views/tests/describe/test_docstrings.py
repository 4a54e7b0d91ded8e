from __future__ import annotations

from penstock_views.describe.docstrings import Docstring, docstring_parts

WHOLE = """Does one thing,
    and does it well.

    More words::

        in  1 2
        out 2 4

    Example config::

        node {
          calculator: "Thing"

          input_stream: "in"
        }

    Source: somewhere.
    """


def test_a_docstring_comes_apart_into_summary_body_and_example():
    parts = docstring_parts(WHOLE)

    assert parts.summary == "Does one thing, and does it well."
    assert parts.body == "More words::\n\n    in  1 2\n    out 2 4\n\nSource: somewhere."
    assert parts.example == 'node {\n  calculator: "Thing"\n\n  input_stream: "in"\n}'


def test_shorter_headings_of_examples_are_known_too():
    assert (
        docstring_parts('It.\n\n    Config::\n\n        node { calculator: "A" }').example
        == 'node { calculator: "A" }'
    )
    assert (
        docstring_parts('It.\n\n    Example:\n        node { calculator: "A" }').example
        == 'node { calculator: "A" }'
    )


def test_without_a_docstring_every_part_is_empty():
    assert docstring_parts(None) == Docstring() == docstring_parts("")


def test_a_block_that_is_no_example_stays_in_the_body():
    assert docstring_parts("It.\n\nTimes::\n\n    1 2 3").example == ""

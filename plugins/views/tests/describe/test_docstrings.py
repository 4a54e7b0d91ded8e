from __future__ import annotations

from penstock_views.describe.docstrings import Docstring, take_apart

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
    parts = take_apart(WHOLE)

    assert parts.summary == "Does one thing, and does it well."
    assert parts.body == "More words::\n\n    in  1 2\n    out 2 4\n\nSource: somewhere."
    assert parts.example == 'node {\n  calculator: "Thing"\n\n  input_stream: "in"\n}'


def test_shorter_headings_of_examples_are_known_too():
    assert (
        take_apart('It.\n\n    Config::\n\n        node { calculator: "A" }').example
        == 'node { calculator: "A" }'
    )
    assert (
        take_apart('It.\n\n    Example:\n        node { calculator: "A" }').example
        == 'node { calculator: "A" }'
    )


def test_without_a_docstring_every_part_is_empty():
    assert take_apart(None) == Docstring() == take_apart("")


def test_a_block_that_is_no_example_stays_in_the_body():
    assert take_apart("It.\n\nTimes::\n\n    1 2 3").example == ""

"""Where the members of JSON text stand."""

import json

from hypothesis import given
from hypothesis import strategies as st

from penstock.readers import Places
from penstock_json_graphs.json_text import tree_of


def test_members_of_json_are_named_as_in_text():
    text = '{"node": [{"inputStream": ["a",\n"b"]},\n{"options": {"[mediapipe.X.ext]": {"size": 1}}}]}'
    position_of = Places("f", text, tree_of(text)).position_of

    assert position_of((("node", 0), ("input_stream", 1))) == (2, 1)
    assert position_of((("node", 1), ("options", 0), ("[penstock.X.ext]", 0))) == (3, 14)


@given(st.recursive(st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)))
def test_any_json_can_be_scanned(value):
    assert tree_of(json.dumps(value)).offset == 0

from __future__ import annotations

import pytest

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.port_collection import Ports
from penstock.port_tags import TagMap, port_id, port_name


@pytest.fixture
def ports() -> Ports[str]:
    return Ports("input", [("", 0), ("", 1), ("A", 0), ("B", 0), ("B", 1)], ["x", "y", "a", "b0", "b1"])


def test_a_port_is_found_by_index_by_tag_and_by_both(ports) -> None:
    assert [ports[0], ports[1], ports["A"], ports["B"], ports["B", 1], ports["", 1]] == [
        "x",
        "y",
        "a",
        "b0",
        "b1",
        "y",
    ]


def test_ports_come_in_the_order_of_their_ids(ports) -> None:
    assert list(ports) == ["x", "y", "a", "b0", "b1"]
    assert len(ports) == 5
    assert ports.ids()[2] == ("A", 0)
    assert ports.tags() == ("", "A", "B")
    assert (ports.count(), ports.count("B"), ports.count("C")) == (2, 2, 0)


@pytest.mark.parametrize(
    ("key", "is_there"), [(0, True), (2, False), ("B", True), (("B", 2), False), ("", True)]
)
def test_in_says_whether_a_port_is_connected(ports, key, is_there) -> None:
    assert (key in ports) is is_there


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (7, "there is no input 7; connected are: 0, 1, 'A', 'B', 'B:1'"),
        ("C", "there is no input 'C'; connected are"),
        (("B", 2), "there is no input 'B:2'; connected are"),
        (-1, "there is no input -1"),
    ],
)
def test_a_port_that_is_not_there_is_named_with_those_that_are(ports, key, message) -> None:
    with pytest.raises(NotFoundError, match=message):
        ports[key]


def test_a_missing_port_is_a_lookup_error() -> None:
    with pytest.raises(LookupError, match="there is no output 0; connected are: none"):
        Ports("output", [], [])[0]


@pytest.mark.parametrize("key", [None, 1.5, ("A",), ("A", "0"), [0]])
def test_a_key_that_names_no_port_is_refused(ports, key) -> None:
    with pytest.raises(InvalidArgumentError, match="is no port tag or index: use an index, a 'TAG'"):
        ports[key]


def test_a_key_is_a_tag_and_an_index() -> None:
    assert port_id(2) == ("", 2)
    assert port_id("TAG") == ("TAG", 0)
    assert port_id(("TAG", 3)) == ("TAG", 3)


def test_a_port_is_written_as_a_user_would_ask_for_it() -> None:
    assert (port_name("", 2), port_name("TAG", 0), port_name("TAG", 1)) == ("2", "'TAG'", "'TAG:1'")


@pytest.mark.parametrize(
    ("entries", "values"),
    [
        pytest.param(
            ["name_1", "name_0", "name_2"],
            {0: 100, 1: 101, 2: 102},
            marks=pytest.mark.reference("framework/collection_test.cc", "CollectionTest.BasicByIndex"),
        ),
        pytest.param(
            ["TAG_1:name_1", "TAG_0:name_0", "TAG_2:name_2"],
            {"TAG_0": 100, "TAG_1": 101, "TAG_2": 102},
            marks=pytest.mark.reference("framework/collection_test.cc", "CollectionTest.BasicByTag"),
        ),
        pytest.param(
            ["TAG_A:a", "TAG_B:1:b", "TAG_A:2:c", "TAG_B:d", "TAG_C:0:e", "TAG_A:1:f"],
            {
                ("TAG_A", 0): 100,
                ("TAG_A", 1): 101,
                ("TAG_A", 2): 102,
                ("TAG_B", 0): 103,
                ("TAG_B", 1): 104,
                ("TAG_C", 0): 105,
            },
            marks=pytest.mark.reference(
                "framework/collection_test.cc", "CollectionTest.MixedTagAndIndexUsage"
            ),
        ),
        pytest.param(
            [],
            {},
            marks=pytest.mark.reference(
                "framework/collection_test.cc", "CollectionTest.StaticEmptyCollectionHeapCheck"
            ),
        ),
        (["TAG:name"], {"TAG": 100}),
    ],
)
def test_ports_come_by_tag_and_by_index_whatever_the_order_of_the_entries(entries, values) -> None:
    by_id = {port_id(key): value for key, value in values.items()}
    ids = TagMap(entries).ids()
    ports = Ports("input", ids, [by_id[one] for one in ids])

    assert list(ports) == [100 + i for i in range(len(entries))]
    assert {key: ports[key] for key in values} == values
    by_tag = [(tag, i) for tag in ports.tags() for i in range(ports.count(tag))]
    assert by_tag == list(ids)
    assert ports.count("TAG_D") == 0

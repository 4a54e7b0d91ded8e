from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from penstock.port_tags import TagMap, is_name, parse_tag_index, parse_tag_index_name

tags = st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A:1:b", ("A", 1, "b")),
        ("A:b", ("A", 0, "b")),
        ("b", ("", -1, "b")),
        ("_:0:_", ("_", 0, "_")),
        ("A:10000:b", ("A", 10_000, "b")),
    ],
)
def test_a_port_is_split_into_tag_index_and_name(text, parts) -> None:
    assert parse_tag_index_name(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "a:b",
        "A:01:b",
        "A:-1:b",
        "A::b",
        ":0:b",
        "0:b",
        "A:1:b:c",
        "A:1.0:b",
        "A:1:",
        "b\n",
        " b",
        "é",
    ],
)
def test_what_follows_no_grammar_is_quoted_and_corrected(text) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"is no port: write 'name', 'TAG:name' or 'TAG:index:name'"
    ):
        parse_tag_index_name(text)


def test_an_index_above_ten_thousand_is_refused() -> None:
    with pytest.raises(
        ResourceExhaustedError, match="'A:10001:b': the index of a port is 10001, more than the"
    ):
        parse_tag_index_name("A:10001:b")


@pytest.mark.parametrize("parse", [parse_tag_index, parse_tag_index_name])
def test_an_index_of_more_digits_than_python_reads_is_refused(parse) -> None:
    with pytest.raises(ResourceExhaustedError, match=r"the index of a port is 1{18}, more than"):
        parse(f"A:{'1' * 5000}" + (":b" if parse is parse_tag_index_name else ""))


@pytest.mark.parametrize(
    ("text", "parts"), [("TAG", ("TAG", 0)), ("TAG:1", ("TAG", 1)), (":2", ("", 2)), ("", ("", 0))]
)
def test_a_tag_and_index_is_split(text, parts) -> None:
    assert parse_tag_index(text) == parts


@pytest.mark.parametrize("text", ["TAG:", ":", "1", "tag", "TAG:01", "TAG:1:x"])
def test_what_is_no_tag_and_index_is_refused(text) -> None:
    with pytest.raises(InvalidArgumentError, match=r"is no port: write 'TAG', 'TAG:index' or ':index'"):
        parse_tag_index(text)


@pytest.mark.parametrize(
    ("text", "answer"), [("a", True), ("_1", True), ("A", False), ("1a", False), ("", False)]
)
def test_a_name_is_lower_case_and_begins_with_no_digit(text, answer) -> None:
    assert is_name(text) is answer


def test_ports_are_numbered_by_tag_in_byte_order_and_by_index() -> None:
    ports = TagMap(["B:1:b1", "x", "A:a", "B:0:b0", "y"])

    assert ports.names() == ("x", "y", "a", "b0", "b1")
    assert ports.ids() == (("", 0), ("", 1), ("A", 0), ("B", 0), ("B", 1))
    assert [port.entry for port in ports] == [1, 4, 2, 3, 0]


def test_an_index_given_twice_is_refused_with_the_cure() -> None:
    with pytest.raises(
        FailedPreconditionError, match=r"tag 'A' index 0 already has the name 'a' but.*'b' too; number"
    ):
        TagMap(["A:a", "A:b"])


@pytest.mark.parametrize(("entries", "missing"), [(["A:1:a"], 0), (["A:0:a", "A:3:b", "A:1:c"], 2)])
def test_a_hole_in_the_indexes_is_refused(entries, missing) -> None:
    with pytest.raises(FailedPreconditionError, match=f"tag 'A' has no entry for index {missing}"):
        TagMap(entries)


def test_a_stream_may_feed_two_ports() -> None:
    assert TagMap(["A:x", "B:x", "x"]).names() == ("x", "x", "x")


@given(tags, st.integers(0, 10_000), names)
def test_what_is_written_by_the_grammar_reads_back(tag, index, name) -> None:
    assert parse_tag_index_name(f"{tag}:{index}:{name}") == (tag, index, name)
    assert parse_tag_index(f"{tag}:{index}") == (tag, index)


@given(st.dictionaries(tags, st.integers(1, 4), max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_the_entries_does_not_matter_to_tagged_ports(counts, order) -> None:
    entries = [f"{tag}:{i}:s{i}" for tag, count in counts.items() for i in range(count)]
    shuffled = order.sample(entries, len(entries))

    assert TagMap(shuffled).ids() == TagMap(entries).ids()


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------

SIX = ["A:2:a2", "B:1:b1", "C:c0", "A:0:a0", "B:b0", "A:1:a1"]
TEN = ["w", "A:2:a2", "x", "B:1:b1", "C:c0", "y", "A:0:a0", "B:b0", "z", "A:1:a1"]
#: No colon: it is what stands between parts.
BAD_CHARACTERS = "!@#$%^&*(){}[]/=?+\\|-;'\",<.>"


def refuses(parse, text) -> bool:
    try:
        parse(text)
    except (InvalidArgumentError, FailedPreconditionError, ResourceExhaustedError):
        return True
    return False


@pytest.mark.reference("framework/tool/tag_map_test.cc", "TagMapTest.Create")
@pytest.mark.parametrize(
    "entries",
    [
        [],
        ["BLAH:name0"],
        ["BLAH1:name0", "BLAH2:name1"],
        ["blah"],
        ["blah1", "blah2"],
        ["BLAH:blah"],
        ["BLAH1:blah1", "BLAH2:blah2"],
        ["BLAH:0:blah1", "BLAH:1:blah2"],
        ["BLAH:blah1", "BLAH:1:blah2"],
        SIX,
        TEN,
        [TEN[1], TEN[0], *TEN[2:]],
        ["a", "A:a"],
        ["a", "a"],
        ["C:c", "a", "a"],
        ["A:a", "B:a"],
        ["name0", "name1", "name2"],
        ["BLAH1:blah1", "BLAH2:blah2", "BLAH3:blah3"],
    ],
)
def test_ports_that_a_node_may_have(entries) -> None:
    assert len(TagMap(entries)) == len(entries)


@pytest.mark.reference("framework/tool/tag_map_test.cc", "TagMapTest.Create")
@pytest.mark.parametrize(
    "entries",
    [
        ["blah1:name0", "BLAH2:name1"],
        ["BLAH:blah1", "BLAH:blah2"],
        ["0:blah1", "1:blah2"],
        ["BLAH:1:blah1", "BLAH:2:blah2"],
        ["BLAH:blah1", "BLAH:0:blah2"],
        ["blah0", "BLAH:1:blah1", "BLAH:2:blah2"],
    ],
)
def test_ports_that_no_node_may_have(entries) -> None:
    assert refuses(TagMap, entries)


@pytest.mark.reference("framework/tool/tag_map_test.cc", "TagMapTest.AccessFunctions")
@pytest.mark.parametrize(
    ("entries", "tags", "names"),
    [
        ([], [], []),
        (["BLAH:name0"], ["BLAH"], ["name0"]),
        (["BLAH1:name0", "BLAH2:name1"], ["BLAH1", "BLAH2"], ["name0", "name1"]),
        (["blah"], [""], ["blah"]),
        (["blah1", "blah2"], [""], ["blah1", "blah2"]),
        (["BLAH:blah"], ["BLAH"], ["blah"]),
        (["BLAH1:blah1", "BLAH2:blah2"], ["BLAH1", "BLAH2"], ["blah1", "blah2"]),
        (["BLAH2:blah2", "BLAH1:blah1"], ["BLAH1", "BLAH2"], ["blah1", "blah2"]),
        (["BLAH:0:blah1", "BLAH:1:blah2"], ["BLAH"], ["blah1", "blah2"]),
        (["BLAH:blah1", "BLAH:1:blah2"], ["BLAH"], ["blah1", "blah2"]),
        (["BLAH:1:blah2", "BLAH:blah1"], ["BLAH"], ["blah1", "blah2"]),
        (["BLAH:1:blah2", "BLAH:0:blah1"], ["BLAH"], ["blah1", "blah2"]),
        (SIX, ["A", "B", "C"], ["a0", "a1", "a2", "b0", "b1", "c0"]),
        (TEN, ["", "A", "B", "C"], ["w", "x", "y", "z", "a0", "a1", "a2", "b0", "b1", "c0"]),
        (
            [TEN[1], TEN[0], *TEN[2:]],
            ["", "A", "B", "C"],
            ["w", "x", "y", "z", "a0", "a1", "a2", "b0", "b1", "c0"],
        ),
    ],
)
def test_names_and_tags_come_in_the_order_of_ports(entries, tags, names) -> None:
    ports = TagMap(entries)

    assert (sorted({port.tag for port in ports}), list(ports.names())) == (tags, names)


#: Lists of entries that make the same ports, whatever the names.
SAME_PORTS = [
    [[]],
    [["BLAH:name0"], ["BLAH:blah"], ["BLAH:different"]],
    [
        ["BLAH1:name0", "BLAH2:name1"],
        ["BLAH1:blah1", "BLAH2:blah2"],
        ["BLAH1:a", "BLAH2:b"],
        ["BLAH2:a", "BLAH1:b"],
    ],
    [["BLAH2:name0", "BLAH3:name1"], ["BLAH2:blah1", "BLAH3:blah2"], ["BLAH3:a", "BLAH2:b"]],
    [["A:name0", "B:name1", "C:name2"], ["B:blah1", "A:blah3", "C:blah2"], ["C:a", "A:b", "B:c"]],
    [["a", "b"], ["c", "d"], ["a", "d"], ["d", "a"]],
    [
        ["a", "b", "c"],
        ["c", "b", "a"],
        ["d", "e", "f"],
        ["a", "b", "f"],
        ["f", "e", "d"],
        ["f", "c", "d"],
    ],
    [
        ["BLAH:0:blah1", "BLAH:1:blah2"],
        ["BLAH:blah1", "BLAH:1:blah2"],
        ["BLAH:1:blah1", "BLAH:0:blah2"],
        ["BLAH:1:blah1", "BLAH:blah2"],
        ["BLAH:1:a", "BLAH:b"],
    ],
    [
        SIX,
        ["A:0:a0", "A:2:a2", "A:1:a1", "B:1:b1", "C:c0", "B:b0"],
        ["A:0:a", "A:2:b", "A:1:c", "B:1:d", "C:e", "B:f"],
        ["A:a", "A:2:b", "A:1:c", "B:1:d", "C:0:e", "B:0:f"],
    ],
    [
        TEN,
        ["C:c0", "A:1:a1", "y", "A:0:a0", "w", "A:2:a2", "x", "B:1:b1", "B:b0", "z"],
        ["C:a", "A:1:b", "c", "A:2:d", "e", "B:1:f", "g", "A:0:h", "B:i", "j"],
        ["C:0:a", "A:1:b", "c", "A:2:d", "e", "B:1:f", "g", "A:h", "B:0:i", "j"],
    ],
]


@pytest.mark.reference("framework/tool/tag_map_test.cc", "TagMapTest.SameAs")
def test_ports_are_the_same_where_tags_and_indexes_are() -> None:
    ports = [(group, TagMap(entries).ids()) for group, lists in enumerate(SAME_PORTS) for entries in lists]

    for group, ids in ports:
        for other, ids_of_other in ports:
            assert (ids == ids_of_other) is (group == other)


GOOD_NAMES = ["humphrey", "humphrey_bogart", "humphrey_bogart_1899", "aa", "b1", "_1"]
BAD_NAMES = ["humphreyBogart", *(f"humphrey{one}bogart" for one in " -/.:")]
NUMBERS = ["", "1ST", "7_ELEVEN", "401K", "0", "1", "11", "92091"]


@pytest.mark.reference("framework/tool/validate_name_test.cc", "ValidateNameTest.ValidateName")
def test_what_a_stream_can_be_called() -> None:
    assert all(is_name(name) for name in GOOD_NAMES)
    assert not any(
        is_name(name) for name in [*BAD_NAMES, *NUMBERS, "1st", "7_eleven", "401k", "\0Contains\t"]
    )


@pytest.mark.reference("framework/tool/validate_name_test.cc", "ValidateNameTest.ValidateTag")
def test_what_a_tag_can_be() -> None:
    for tag in ("MALE", "MALE_ACTOR", "ACTOR_1899", "AA", "B1", "_1"):
        assert parse_tag_index(f"{tag}:0") == (tag, 0)
        assert parse_tag_index_name(f"{tag}:name") == (tag, 0, "name")
    for tag in ("MALEaCTOR", *(f"MALE{one}ACTOR" for one in " -/.:"), *NUMBERS[1:], "\0ContainsEscapes\t"):
        assert refuses(parse_tag_index, f"{tag}:0")
    for tag in ("", "MALEaCTOR", *(f"MALE{one}ACTOR" for one in " -/.:"), *NUMBERS[1:]):
        assert refuses(parse_tag_index_name, f"{tag}:name")


@pytest.mark.reference(
    "framework/tool/validate_name_test.cc",
    "ValidateNameTest.ParseTagAndName",
    "ValidateNameTest.ParseTagIndexName",
)
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("MALE:humphrey", ("MALE", 0, "humphrey")),
        ("ACTOR:humphrey", ("ACTOR", 0, "humphrey")),
        ("ACTOR:humphrey_bogart", ("ACTOR", 0, "humphrey_bogart")),
        ("ACTOR_1899:humphrey_1899", ("ACTOR_1899", 0, "humphrey_1899")),
        ("humphrey_bogart", ("", -1, "humphrey_bogart")),
        ("ACTRESS:3:mieko_harada", ("ACTRESS", 3, "mieko_harada")),
        ("ACTRESS:0:mieko_harada", ("ACTRESS", 0, "mieko_harada")),
        ("A1:100:mieko1", ("A1", 100, "mieko1")),
        ("A1:10000:mieko1", ("A1", 10_000, "mieko1")),
    ],
)
def test_a_port_of_an_actor_is_split(text, parts) -> None:
    assert parse_tag_index_name(text) == parts


@pytest.mark.reference("framework/tool/validate_name_test.cc", "ValidateNameTest.ParseTagAndName")
@pytest.mark.parametrize(
    "text",
    [
        *(":humphrey", "humphrey bogart", "actor:humphrey", "ACTOR:HUMPHREY", "MALE:ACTOR:humphrey"),
        *(f"MALE{one}ACTOR:humphrey" for one in " -/.:"),
        *(f"ACTOR:humphrey{one}bogart" for one in " -/.:"),
    ],
)
def test_a_port_of_an_actor_that_is_none_is_refused(text) -> None:
    assert refuses(parse_tag_index_name, text)


@pytest.mark.reference("framework/tool/validate_name_test.cc", "ValidateNameTest.ParseTagIndexName")
def test_names_with_anything_wrong_are_refused() -> None:
    wrong = ["", "A", "Aa", "aA", "1a", "1", ":name", "A:", "a:name", "Aa:name", "aA:name", "1A:name"]
    wrong += ["1:name", ":1:name", "A:1:", "A::name", "a:1:name", "Aa:1:name", "aA:1:name", "1A:1:name"]
    wrong += ["1:1:name", "A:1:N", "A:1:nN", "A:1:Nn", "A:1:1name", "A:1:1", "A:-0:name", "A:-1:name"]
    wrong += ["A:01:name", "A:00:name", "A:10001:a", "A:1:a:", ":A:1:a", "A:1:a:a", "A:1:a:A", "A:1:a:1"]
    forms = [
        "{}",
        "{}a",
        "a{}",
        "{}:a",
        "A{}:a",
        "{}A:a",
        "A:{}:a",
        "A:{}1:a",
        "A:1{}:a",
        "A:1:a{}",
        "{}A:1:a",
    ]
    wrong += [form.format(one) for one in f"{BAD_CHARACTERS}:" for form in forms]

    assert [text for text in wrong if not refuses(parse_tag_index_name, text)] == []


@pytest.mark.reference("framework/tool/validate_name_test.cc", "ValidateNameTest.ParseTagIndex")
def test_tags_with_anything_wrong_are_refused() -> None:
    right = {"": ("", 0), "VIDEO:0": ("VIDEO", 0), "VIDEO:1": ("VIDEO", 1), "AUDIO:2": ("AUDIO", 2)}
    right |= {":0": ("", 0), ":1": ("", 1), ":100": ("", 100)}
    wrong = [
        "a",
        "Aa",
        "aA",
        "1A",
        "1",
        ":",
        ":a",
        ":A",
        ":-0",
        ":-1",
        ":01",
        ":00",
        "A:",
        "A:a",
        "A:A",
        "A:-0",
    ]
    wrong += ["A:-1", "A:01", "A:00", "A:1:", ":A:1", "A:1:2", "A:A:1"]
    forms = ["{}", "{}A", "A{}", "{}:1", "A{}:1", "{}A:1", "A:1{}", "A:{}1"]
    wrong += [form.format(one) for one in f"{BAD_CHARACTERS}:" for form in forms]

    assert {text: parse_tag_index(text) for text in right} == right
    assert [text for text in wrong if not refuses(parse_tag_index, text)] == []

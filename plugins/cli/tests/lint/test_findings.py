"""Comments that silence, places, `--fix`, formats, settings, and rules of packs."""

from __future__ import annotations

import json
import logging
import time
import types
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

import penstock
from penstock.config import build_plan, read_graph, to_binary, to_json
from penstock.errors import GraphConfigError, InvalidArgumentError
from penstock.packs import default_registry
from penstock_cli.main import penstock_command
from penstock_lint import RULES, Edit, Measured, Rule, RuleMatch, lint_graph, read_measured
from penstock_lint.edit import edited, removal
from penstock_lint.files import mend
from penstock_lint.formats import FORMATS
from penstock_lint.lint import all_rules, chosen
from penstock_lint.rule import examples
from penstock_lint.settings import Settings, settings_at

FORWARD = 'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }\n'
IN = 'input_stream: "in"\n'
ENDS = f'{IN}output_stream: "out"\n'
UNUSED = IN + FORWARD


def codes(text, **more):
    return [one.code for one in lint_graph(text, **more)]


# --- comments --------------------------------------------------------------------------------------


def test_a_comment_above_silences_a_rule_with_its_reason():
    assert codes(UNUSED) == ["PS401"]
    assert codes(f"{IN}# penstock: ignore[PS401] a test looks at it\n\n# more\n{FORWARD}") == []


def test_a_comment_behind_silences_its_line():
    assert codes(f"{IN}{FORWARD.strip()}  # penstock: ignore[PS401] a test looks at it\n") == []


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("ignore[PS401]", "gives no reason"),
        ("ignore[PS401, PS403] why", "PS403 is not found here"),
        ("ignore[] why", "names no rule"),
    ],
)
def test_a_needless_comment_is_a_finding(comment, words):
    (found,) = [one for one in lint_graph(f"{IN}# penstock: {comment}\n{FORWARD}") if one.code == "PS001"]
    assert words in found.what
    assert (found.line, found.column) == (2, 1)


def test_a_comment_for_what_only_a_trace_shows_is_needless_with_a_trace_alone():
    text = f"{ENDS}# penstock: ignore[PS208] the burst is wanted\n{FORWARD}"
    assert codes(text) == []
    assert codes(text, measured=Measured()) == ["PS001"]


def test_with_some_rules_only_a_comment_may_be_for_another():
    text = f"{ENDS}# penstock: ignore[PS403] why\n{FORWARD}"
    assert codes(text, rules=[RULES["PS401"]]) == []


# --- places ----------------------------------------------------------------------------------------


def test_a_finding_in_a_subgraph_has_the_place_of_the_node_that_uses_it(registry):
    class Inner(penstock.Subgraph):
        @classmethod
        def get_config(cls, sc):
            return examples(RULES["PS303"])[0]

    registry.add("subgraph", "Inner", Inner)
    text = 'input_stream: "in"\noutput_stream: "out"\n'
    text += 'node { calculator: "Inner" input_stream: "in" output_stream: "out" }'
    found = lint_graph(text, registry=registry)
    assert [(one.code, one.line, one.column) for one in found] == [("PS303", 3, 1)]
    assert found[0].node == "inner__CountCalculator"


def test_binary_and_json_graphs_are_linted_and_not_edited(tmp_path):
    config = read_graph(f'input_stream: "more" {UNUSED} output_stream: "out"', default_registry())
    binary, as_json = tmp_path / "g.binarypb", tmp_path / "g.json"
    binary.write_bytes(to_binary(config))
    as_json.write_text(to_json(config), encoding="utf-8")
    for file, has_lines in ((binary, False), (as_json, True)):
        (found,) = lint_graph(file)
        assert (found.code, found.line > 0, found.edit) == ("PS403", has_lines, None)


def test_a_graph_that_cannot_be_loaded_raises():
    with pytest.raises(GraphConfigError, match="no producer"):
        lint_graph('node { calculator: "PassThroughCalculator" input_stream: "in" }')


@pytest.mark.timing
def test_five_thousand_nodes_take_less_than_a_second_more_than_loading_them():
    nodes = (
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}\n'
        for i in range(5000)
    )
    source = 'input_stream: "s0"\noutput_stream: "s5000"\n' + "".join(nodes)
    start = time.process_time()
    build_plan(source, default_registry())
    loaded = time.process_time()
    assert lint_graph(source) == []
    assert (time.process_time() - loaded) - (loaded - start) < 1


def test_a_limiter_behind_a_camera_is_no_trap():
    camera = """node { calculator: "VideoDecoderCalculator" output_stream: "VIDEO:in"
        node_options { [type.googleapis.com/penstock.VideoDecoderCalculatorOptions] { camera_index: 0 } } }"""
    text = examples(RULES["PS205"])[0].replace("ModelCalculator", "PassThroughCalculator")
    start = text.index("node {")
    end = text.index("node {", start + 1)
    assert codes(text) == ["PS205"]
    assert codes(text[:start].replace('input_side_packet: "path"', "") + camera + text[end:]) == []


# --- edits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at", "left"),
    [
        ("a: 1\nb: 2\nc: 3\n", "b", "a: 1\nc: 3\n"),
        ("a: 1 b: 2 c: 3", "b", "a: 1 c: 3"),
        ("a: 1\nb { x: 'y}' # }\n  z: 1 }\nc: 3\n", "b", "a: 1\nc: 3\n"),
        ("a: 1\nb: 2  # says why\nc: 3\n", "b", "a: 1\n# says why\nc: 3\n"),
        ("a: 1; b: 2; c: 3;", "b", "a: 1; c: 3;"),
        ("a: 1\nb: 2", "b", "a: 1\n"),
    ],
)
def test_a_field_is_taken_away_with_its_line_where_nothing_else_is_there(text, at, left):
    assert edited(text, [removal(text, text.index(at))]) == left


def test_edits_of_the_same_piece_are_made_once():
    assert edited("abcdef", [Edit(1, 3, ""), Edit(1, 3, ""), Edit(2, 4, "X"), Edit(5, 6, "Y")]) == "adeY"


@pytest.mark.parametrize("code", ["PS102", "PS301", "PS402", "PS403", "PS404", "PS405"])
def test_fix_makes_of_the_bad_graph_one_without_findings(command, tmp_path, code):
    file = tmp_path / "g.pbtxt"
    text = examples(RULES[code])[0].replace("JoinCalculator", "PacketInnerJoinCalculator")
    if code == "PS102":  # one output for each input
        text = text.replace('output_stream: "rows"', 'output_stream: "rows"\n  output_stream: "more"', 2)
    file.write_text(f"# kept\n{text}", encoding="utf-8")
    file.chmod(0o640)

    done = command("lint", "--fix", file)

    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing found, 1 mended" in done.stderr
    assert file.read_text(encoding="utf-8").startswith("# kept\n")
    assert file.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["g.pbtxt"]


def test_fix_leaves_alone_what_a_person_has_to_decide(command, tmp_path):
    file = tmp_path / "g.pbtxt"
    file.write_text(UNUSED, encoding="utf-8")
    assert command("lint", "--fix", file).returncode == 1
    assert file.read_text(encoding="utf-8") == UNUSED


def test_a_graph_that_would_not_load_any_more_stays_as_it_was(tmp_path):
    file = tmp_path / "g.pbtxt"
    file.write_text(ENDS + FORWARD, encoding="utf-8")

    def breaks(graph):
        yield RuleMatch(0, "wrong", edit=graph.removal(("input_stream", 0)))

    with pytest.raises(GraphConfigError, match="no producer"):
        mend(file, [Rule("HA001", "breaks", "", "", breaks)], None)
    assert file.read_text(encoding="utf-8") == ENDS + FORWARD


def test_fix_leaves_the_inputs_of_a_graph_that_others_use(command, tmp_path):
    file = tmp_path / "g.pbtxt"
    text = f'type: "Part"\ninput_stream: "more"\noutput_stream: "out"\n{UNUSED}'
    file.write_text(text, encoding="utf-8")
    assert command("lint", "--fix", file).returncode == 1
    assert file.read_text(encoding="utf-8") == text


# --- the command -----------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return a function that runs `penstock` with arguments, in this process."""

    def command(*arguments, cwd=tmp_path):
        monkeypatch.chdir(cwd)
        done = CliRunner().invoke(penstock_command, [str(each) for each in arguments])
        return types.SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    return command


@pytest.fixture
def graph(tmp_path):
    file = tmp_path / "g.pbtxt"
    file.write_text(UNUSED, encoding="utf-8")
    return file


def test_a_finding_is_a_line_with_place_code_what_and_cure(command, graph):
    done = command("lint", "g.pbtxt")
    assert done.returncode == 1
    assert done.stdout == (
        "g.pbtxt:2:1: PS401 output-unused: nobody reads 'out', which node 'PassThroughCalculator' writes; "
        "make one an output_stream of the graph, or take the node away\n"
    )
    assert done.stderr == "1 file, 1 finding\n"


def test_nothing_found_is_said_and_exits_with_0(command, graph):
    done = command("lint", graph, "--ignore", "PS4")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 file, nothing found\n")


def test_a_graph_that_cannot_be_loaded_exits_with_3_and_the_others_are_linted(command, graph, tmp_path):
    wrong = tmp_path / "wrong.pbtxt"
    wrong.write_text("node {", encoding="utf-8")
    done = command("lint", wrong, graph)
    assert done.returncode == 3
    assert "wrong.pbtxt:1:" in done.stderr
    assert "PS401" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nosuch.pbtxt"], 4, "graph file 'nosuch.pbtxt' does not exist"),
        (["g.pbtxt", "--select", "PS9"], 2, "no lint rule is called 'PS9'"),
        (["g.pbtxt", "--measured", "none.json"], 4, "trace 'none.json' does not exist"),
        (["g.pbtxt", "--measured", "g.pbtxt"], 2, "g.pbtxt is no trace of `penstock run --trace FILE`"),
        (["--explain", "PS999"], 2, "no lint rule is called 'PS999'; see --list"),
        ([], 2, "Missing argument 'GRAPH...'"),
    ],
)
def test_wrong_usage_says_what_is_wrong(command, graph, arguments, code, words):
    done = command("lint", *arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", RULES)
def test_explain_shows_both_graphs(command, code):
    if code not in ("PS101", "PS407"):
        bad, good = examples(RULES[code])
        assert bad != good
        return
    done = command("lint", "--explain", code.lower())
    assert done.returncode == 0
    assert RULES[code].summary in done.stdout
    assert [part.split("\n")[0] for part in done.stdout.split("With")[1:]] == [" it:", "out it:"]


def test_list_has_a_line_for_each_rule(command):
    lines = command("lint", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)


def test_json_github_and_sarif_have_what_the_text_has(command, graph):
    as_json = json.loads(command("lint", "g.pbtxt", "--format", "json").stdout)["findings"]
    assert [(one["code"], one["line"], one["column"]) for one in as_json] == [("PS401", 2, 1)]
    assert "edit" not in as_json[0]
    github = command("lint", "g.pbtxt", "--format", "github").stdout
    assert github.startswith("::warning file=g.pbtxt,line=2,col=1,title=PS401 output-unused::nobody reads")
    sarif = json.loads(command("lint", "g.pbtxt", "--format", "sarif").stdout)
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["PS401"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "g.pbtxt"
    assert place["region"] == {"startLine": 2, "startColumn": 1}


def test_the_formats_of_the_command_are_all_that_there_are():
    from penstock_lint.commands import lint_command

    (form,) = [one for one in lint_command.params if one.name == "form"]
    assert list(form.type.choices) == list(FORMATS)


def test_a_message_for_github_stays_on_one_line():
    (found,) = lint_graph(UNUSED)
    text = FORMATS["github"]([attrs.evolve(found, what="50 %\nof it")])
    assert "50 %25%0Aof it" in text
    assert "\n" not in text


# --- settings --------------------------------------------------------------------------------------


def test_settings_are_those_of_the_first_pyproject_with_the_table(command, graph, tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.penstock.lint]\nignore = ["PS4"]\n', encoding="utf-8")
    (inner / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    assert settings_at(inner) == Settings(ignore=("PS4",))
    assert command("lint", graph, cwd=inner).returncode == 0
    assert command("lint", graph, cwd=tmp_path.parent).returncode == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[tool.penstock]\nlint = 3", "must be a table"),
        ("[tool.penstock.lint]\nignores = []", "have no key 'ignores' (did you mean 'ignore'?)"),
        (
            "[tool.penstock.lint]\nselect = 'PS4'",
            "select of the settings [tool.penstock.lint] must be a list of codes",
        ),
        (
            "[tool.penstock.lint]\nformat = 'xml'",
            "format of the settings [tool.penstock.lint] must be one of text, json",
        ),
        ("[tool.penstock.lint", "pyproject.toml: the settings of lint cannot be read: "),
    ],
)
def test_wrong_settings_are_wrong_usage(command, graph, tmp_path, table, words):
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    done = command("lint", graph)
    assert done.returncode == 2
    assert words in done.stderr


def test_rules_are_chosen_by_the_beginnings_of_their_codes():
    assert [rule.code for rule in chosen(RULES, ["PS40"], ["PS401", "PS407"])] == [
        f"PS40{i}" for i in range(2, 7)
    ]
    with pytest.raises(InvalidArgumentError, match="no lint rule is called 'XX'"):
        chosen(RULES, ignore=["XX"])


# --- traces and packs ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[]", "{", '{"traceEvents": [{}]}', '{"traceEvents": 3}', '{"x": []}'])
def test_what_is_no_trace_is_refused(tmp_path, text):
    file = tmp_path / "t.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgumentError, match="is no trace of `penstock run --trace FILE`"):
        read_measured(file)


def test_a_node_is_slow_from_a_millisecond_in_the_mean(tmp_path):
    file = tmp_path / "t.json"
    calls = [("Quick", 100), ("Quick", 1800), ("Slow", 900), ("Slow", 1200)]
    events = [{"ph": "X", "cat": "process", "name": name, "dur": us, "args": {}} for name, us in calls]
    file.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    assert read_measured(file).slow == {"Slow"}


def test_a_measured_node_is_slow(registry):
    text = examples(RULES["PS207"])[0].replace("ModelCalculator", "PassThroughCalculator")
    assert codes(text, registry=registry) == []
    slow = Measured(slow=frozenset({"PassThroughCalculator"}))
    assert codes(text, registry=registry, measured=slow) == ["PS207"]


def test_packs_bring_rules_and_mistakes_of_theirs_take_no_other_rule_down(penstock_plugins, caplog):
    def short_names(graph):
        for node in graph.nodes:
            if len(node.name) < 3:
                yield RuleMatch(node.id, f"node {node.name!r} has a short name")

    own = Rule("HA001", "short-name", "Short names say little.", "write a longer one", short_names)
    twice = Rule("PS101", "mine", "", "", short_names)
    reserved = Rule("PS001", "mine", "", "", short_names)

    house, broken = types.ModuleType("house"), types.ModuleType("broken")

    @penstock.hookimpl
    def penstock_lint():
        return [own, twice, reserved, "no rule"]

    house.penstock_lint = penstock_lint

    @penstock.hookimpl
    def penstock_lint():
        raise ArithmeticError("not today")

    broken.penstock_lint = penstock_lint
    assert penstock_plugins("house", house).state == "loaded"
    assert penstock_plugins("broken", broken).state == "loaded"

    with caplog.at_level(logging.ERROR):
        assert list(all_rules()) == [*RULES, "HA001"]
        found = lint_graph(ENDS + FORWARD.replace("{", '{ name: "n"'))

    assert [(one.code, one.node) for one in found] == [("HA001", "n")]
    assert examples(own) == ("", "")
    assert "plugin 'house': the rule PS101 is there already" in caplog.text
    assert "plugin 'house': penstock_lint returned 'no rule', no Rule" in caplog.text
    assert "plugin 'broken': its hook penstock_lint failed" in caplog.text


def test_the_graphs_of_this_repository_have_no_findings():
    root = Path(__file__).parents[4]
    files = [
        file for folder in ("examples", "subgraphs", "plugins") for file in (root / folder).rglob("*.pbtxt")
    ]
    files = [
        file
        for file in files
        if "penstock_lint" not in file.parts and not {".venv", ".tox"} & set(file.parts)
    ]
    found, loaded = [], 0
    for file in files:
        try:
            found += lint_graph(file)
            loaded += 1
        except penstock.PenstockError:  # the packs that it needs are not installed here
            continue
    assert [str(one) for one in found] == []
    assert loaded or not files

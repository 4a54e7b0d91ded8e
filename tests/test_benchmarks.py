"""The benchmarks: they compare what they say, wrong work is found out, and each of them runs."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from penstock_image.plugin import penstock_components

pytestmark = pytest.mark.heavy

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
#: The figures of these workloads.
CHAIN = {"us a packet", "us a node step", "CPU us a packet"}
LATENCY = {"median us", "p99 us"}
JOIN = {"us a pair", "CPU us a pair"}


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports files of benchmarks/, which is no package; forgotten afterwards."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name, module in list(sys.modules.items()):
        if BENCHMARKS in Path(getattr(module, "__file__", None) or "/").parents or name == "peers":
            del sys.modules[name]


@pytest.fixture
def side_by_side(load):
    return load("side_by_side")


@pytest.fixture
def contestants(tmp_path, monkeypatch, side_by_side):
    """Return a function that makes a contestant from a function body, for a process of its own."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(name, *body, **settings):
        module = f"contestant_{name}"
        lines = ["def go(**settings):", *(f"    {line}" for line in body)]
        (tmp_path / f"{module}.py").write_text("\n".join(lines), encoding="utf-8")
        return side_by_side.Contestant(f"penstock {name}", f"{module}:go", **settings)

    return make


def comparison(side_by_side, *contestants, bars=(), **cases):
    return side_by_side.Benchmark(
        claim="It is fast.",
        figure="ms",
        base=contestants[0].name,
        cases=[side_by_side.Case(name, settings) for name, settings in (cases or {"only": {}}).items()],
        contestants=contestants,
        bars=bars,
    )


def given(side_by_side, *arguments):
    return side_by_side.parser("").parse_args(arguments)


# --- taking turns -------------------------------------------------------------------------------------


def test_contestants_take_turns_in_every_round_each_in_a_new_process(side_by_side, contestants, tmp_path):
    log = tmp_path / "log"
    body = (
        "import os",
        f"with open({str(log)!r}, 'a') as log:",
        "    print(settings['who'], settings['size'], os.getpid(), file=log)",
        "return {'ms': 1}",
    )
    both = [contestants(name, *body, settings={"who": name}) for name in "AB"]

    side_by_side.run(comparison(side_by_side, *both, small={"size": 1}, large={"size": 2}), 2)

    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    once = [["A", "1"], ["B", "1"], ["A", "2"], ["B", "2"]]
    assert [line[:2] for line in lines] == once * 2
    assert len({line[2] for line in lines}) == len(lines)


def test_a_ratio_is_the_median_of_the_ratios_within_each_round(side_by_side):
    measured = side_by_side.Measurements()
    for ours, theirs in [(1, 2), (30, 10), (40, 100)]:
        measured.add("case", "ours", {"ms": ours})
        measured.add("case", "theirs", {"ms": theirs})

    assert measured.ratio("case", "ours", "theirs", "ms") == 0.5
    assert measured.median("case", "theirs", "ms") == 10
    assert measured.ratio("case", "ours", "absent", "ms") is None


def test_a_report_has_median_spread_and_every_round(side_by_side, contestants, tmp_path):
    count = tmp_path / "count"
    count.write_text("", encoding="utf-8")
    body = (
        f"with open({str(count)!r}, 'a+') as file:",
        "    file.write('x')",
        "    file.seek(0)",
        "    return {'ms': [0, 5, 1, 3][len(file.read())]}",
    )

    report = side_by_side.run(comparison(side_by_side, contestants("a", *body)), 3)

    assert report["cases"][0]["results"]["penstock a"]["ms"] == {
        "median": 3,
        "from": 1,
        "to": 5,
        "rounds": [5, 1, 3],
    }
    assert report["versions"]["penstock a"]["python"].startswith("CPython 3.")
    side_by_side.check_report(json.loads(json.dumps(report)))


# --- contestants that are missing, and contestants that are wrong ------------------------------------


def test_a_peer_that_is_not_installed_is_skipped_with_the_reason(side_by_side, contestants):
    ours = contestants("a", "return {'ms': 2}")
    peer = side_by_side.Contestant("peer", "no_such_module_at_all:go", optional=True)
    elsewhere = side_by_side.Contestant("else", "x:go", python=None, optional=True, option="--else PYTHON")

    report = side_by_side.run(comparison(side_by_side, ours, peer, elsewhere), 2)

    assert report["skipped"] == {
        "peer": "No module named 'no_such_module_at_all'",
        "else": "--else PYTHON was not given",
    }
    text = side_by_side.table(report)
    assert "skipped: peer: No module named 'no_such_module_at_all'" in text
    assert "skipped: else: --else PYTHON was not given" in text


def test_a_contestant_that_must_be_there_and_is_not_ends_the_benchmark(side_by_side):
    ours = side_by_side.Contestant("penstock", "no_such_module_at_all:go")

    with pytest.raises(
        side_by_side.BenchmarkError, match=r"'penstock' in case 'only': cannot be imported: No mod"
    ):
        side_by_side.run(comparison(side_by_side, ours), 1)


def test_an_interpreter_that_is_not_there_ends_the_benchmark_with_its_name(side_by_side):
    peer = side_by_side.Contestant("peer", "x:go", python="/no/such/python", optional=True)

    with pytest.raises(
        side_by_side.BenchmarkError, match="'/no/such/python' cannot be started: No such file"
    ):
        side_by_side.run(comparison(side_by_side, peer), 1)


def test_a_wrong_result_ends_the_benchmark_and_leaves_no_report(side_by_side, contestants, tmp_path, capsys):
    wrong = contestants("a", "from expected import expect", "expect(9, 10, 'packets that came out')")
    target = tmp_path / "report.json"

    status = side_by_side.main(
        comparison(side_by_side, wrong), given(side_by_side, "--short", "--json", str(target))
    )

    assert status == 2
    assert "WrongResultError: packets that came out: 9, expected 10" in capsys.readouterr().err
    assert not target.exists()


def test_a_contestant_that_exits_with_a_fault_after_its_figures_ends_the_benchmark(side_by_side, contestants):
    body = ("import os", 'print(\'{"figures": {"ms": 1}}\', flush=True)', "os._exit(3)")

    with pytest.raises(side_by_side.BenchmarkError, match=r"'penstock a' in case 'only': exited with 3:\n"):
        side_by_side.run(comparison(side_by_side, contestants("a", *body)), 1)


@pytest.mark.timeout(20)
def test_a_contestant_that_hangs_is_ended_and_named(side_by_side, contestants, monkeypatch):
    monkeypatch.setattr(side_by_side, "TIMEOUT_S", 0.3)
    hanging = contestants("a", "import threading", "threading.Event().wait()")

    with pytest.raises(
        side_by_side.BenchmarkError, match=r"'penstock a' in case 'only': not done after 0.3 s"
    ):
        side_by_side.run(comparison(side_by_side, hanging), 1)


def test_contestants_are_chosen_by_what_their_names_have_in_them(side_by_side, contestants, tmp_path, capsys):
    a, b = contestants("a", "return {'ms': 2}"), contestants("b", "return {'ms': 3}")
    target = tmp_path / "report.json"
    options = ["--short", "--json", str(target), "--only"]

    assert side_by_side.main(comparison(side_by_side, a, b), given(side_by_side, *options, "stock b")) == 0

    report = json.loads(target.read_text(encoding="utf-8"))
    assert list(report["cases"][0]["results"]) == ["penstock b"]
    assert side_by_side.main(comparison(side_by_side, a, b), given(side_by_side, *options, "z", "y")) == 2
    assert capsys.readouterr().err == (
        "error: --only z y: no contestant has that in its name; there are 'penstock a', 'penstock b'\n"
    )


def test_a_case_in_which_no_chosen_contestant_takes_part_is_left_out(side_by_side, contestants):
    a, b = contestants("a", "return {'ms': 2}"), contestants("b", "return {'ms': 3}")
    cases = [
        side_by_side.Case("of all", {}),
        side_by_side.Case("of a", {}, ("penstock a",)),
        side_by_side.Case("of both", {}, ("penstock a", "penstock b")),
    ]
    benchmark = side_by_side.Benchmark("It is fast.", "ms", "penstock a", cases, [a, b])

    assert [case.name for case in side_by_side.narrowed(benchmark, ["b"]).cases] == ["of all", "of both"]


# --- bars ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sense", "value", "met"),
    [
        ("at most", 1.2, True),
        ("at most", 1.21, False),
        ("at least", 1.2, True),
        ("at least", 1.19, False),
        ("at most", None, None),
    ],
)
def test_a_bar_is_met_up_to_its_limit_and_undecided_where_nothing_was_measured(
    side_by_side, sense, value, met
):
    bar = side_by_side.Bar("it is fast", sense, 1.2, lambda _: value)

    assert bar.report(side_by_side.Measurements())["met"] is met


@pytest.fixture
def run_two(side_by_side, contestants, capsys):
    """Return a function that runs a benchmark that measures 2; it returns status and last line."""

    def go(limit, options):
        bar = side_by_side.Bar(
            "it is fast", "at most", limit, lambda found: found.median("only", "penstock a", "ms")
        )
        benchmark = comparison(side_by_side, contestants("a", "return {'ms': 2}"), bars=[bar])
        status = side_by_side.main(benchmark, given(side_by_side, *options))
        return status, capsys.readouterr().out.splitlines()[-1]

    return go


@pytest.mark.parametrize(
    ("options", "limit", "status", "verdict"),
    [
        (["--rounds", "1"], 1, 0, "MISSED"),
        (["--rounds", "1", "--check"], 1, 1, "MISSED"),
        (["--rounds", "1", "--check"], 2, 0, "met"),
        (["--short"], 1, 0, "a short run decides nothing"),
    ],
)
def test_a_missed_bar_is_said_and_fails_only_where_that_was_asked_for(
    run_two, options, limit, status, verdict
):
    said = f"bar, it is fast: at most {limit}: 2.000, {verdict}"

    assert run_two(limit, options) == (status, said)


def test_the_gain_of_two_threads_is_compared_with_that_of_bare_threads_round_by_round(load):
    parallel = load("parallel")
    measured = load("side_by_side").Measurements()
    for who, rounds in {"bare": [(4, 2), (4, 4), (9, 3)], "penstock": [(4, 4), (4, 4), (4, 2)]}.items():
        for one, two in rounds:
            measured.add("case", f"{who}, 1 thread", {"ms a call": one})
            measured.add("case", f"{who}, 2 threads", {"ms a call": two})

    assert parallel.gain_beside_bare(measured, "case") == pytest.approx(2 / 3)  # of 1/2, 1 and 2/3
    assert parallel.gain_beside_bare(measured, "of others") is None


def test_calls_are_made_as_long_as_they_are_called_whatever_else_the_machine_does(load, monkeypatch):
    parallel = load("parallel")
    worked = iter(itertools.chain([9.0, 1e-5, 3e-5], itertools.repeat(2e-3)))
    monkeypatch.setattr(parallel, "_worked_s", lambda _work, _size: next(worked))

    # At size 100 the first of three was disturbed and does not count; 200 takes 2 ms.
    assert parallel.size_for("pure", 4e-3) == 400


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="other systems report it in another way")
def test_the_peak_memory_of_a_contestant_is_its_own_not_that_of_the_parent_process():
    held = b"x" * (400 << 20)
    code = "from process_memory import peak_mb; print(peak_mb())"

    peak = float(subprocess.check_output([sys.executable, "-c", code], cwd=BENCHMARKS, text=True))

    assert 1 < peak < 200, len(held)


def test_the_graph_is_compared_with_the_faster_of_the_pipelines_by_hand(load):
    edge = load("edge_overlay")
    measured = load("side_by_side").Measurements()
    for name, value in zip((*edge.BY_HAND, edge.OURS), (8, 4, 5, 6), strict=True):
        measured.add(edge.ENCODED, name, {"ms a frame": value})

    assert edge.beside_the_best(measured) == 1.5
    assert edge.beside_the_best(load("side_by_side").Measurements()) is None


def test_each_image_calculator_gives_what_its_opencv_calls_give_by_hand(load):
    image, found = load("image"), {}
    for case in image.works(96, 56):
        found[case] = image.in_turns(case, 96, 56, 1)

    assert all(
        set(figures) == {image.FIGURE, image.BARE, image.RATIO, image.ADDED} for figures in found.values()
    )
    assert all(figures[image.FIGURE] > 0 for figures in found.values())


def test_each_calculator_of_the_image_pack_that_is_opencv_s_work_is_measured(load):
    nodes = "\n".join(work.node for work in load("image").works(96, 56).values())
    calculators = set(penstock_components().calculators)

    missing = {name for name in calculators if f'"{name}"' not in nodes}
    # records, and files, which OpenCV does not read or write, or which take longer than the calls around them
    missing -= {name for name in missing if "Sequence" in name or name.startswith("Picture")}
    # a handle; EXIF data; one line of text
    assert missing == {"ImageCloneCalculator", "ImageFilePropertiesCalculator", "OpenCvPutTextCalculator"}


def test_an_image_calculator_with_another_result_ends_the_benchmark(load, monkeypatch):
    image, wrong = load("image"), load("expected").WrongResultError
    works = image.works(96, 56)
    other = {"Canny": dataclasses.replace(works["Canny"], bare=works["Sobel edges"].bare)}
    monkeypatch.setattr(image, "works", lambda width, height: other)

    with pytest.raises(
        wrong, match=r"the last result of Canny, beside that by hand: 'values differ by up to"
    ):
        image.in_turns("Canny", 96, 56, 1)


# --- reports ------------------------------------------------------------------------------------------


def good_report(side_by_side, contestants):
    report = side_by_side.run(comparison(side_by_side, contestants("a", "return {'ms': 2}")), 1)
    side_by_side.check_report(report)
    return report


def test_a_report_that_lacks_a_field_is_refused_by_its_name(side_by_side, contestants):
    report = good_report(side_by_side, contestants)

    for name in ("claim", "machine", "load", "versions", "skipped", "cases", "bars"):
        with pytest.raises(side_by_side.BenchmarkError, match=f"report field '{name}' is None, expected a "):
            side_by_side.check_report({**report, name: None})
    with pytest.raises(side_by_side.BenchmarkError, match="report field 'cases' is empty"):
        side_by_side.check_report({**report, "cases": []})


def test_a_report_that_lacks_rounds_or_penstock_is_refused(side_by_side, contestants):
    report = good_report(side_by_side, contestants)

    with pytest.raises(side_by_side.BenchmarkError, match="'penstock a', 'ms': 1 rounds, expected 2"):
        side_by_side.check_report({**report, "rounds": 2})
    report["cases"][0]["results"] = {"reference": {}}
    with pytest.raises(
        side_by_side.BenchmarkError, match=r"case 'only' has no results of Penstock: \['refer"
    ):
        side_by_side.check_report(report)


# --- the work -----------------------------------------------------------------------------------------


class Lossy:
    """Lets every packet through but one."""

    def __init__(self, lost):
        self.seen = []
        self._lost = lost

    def feed(self, number):
        if number != self._lost:
            self.seen.append(number)

    ask = feed

    def end(self):
        """Nothing is under way."""


def test_a_lost_packet_is_no_speed(load):
    streams, wrong = load("streams"), load("expected").WrongResultError

    assert all(spent > 0 for spent in streams.throughput(lambda: Lossy(None), 300))
    with pytest.raises(wrong, match=r"packets that came out: \[0, 1, 2"):
        streams.throughput(lambda: Lossy(299), 300)
    assert set(streams.latencies(lambda: Lossy(None), 100)) == LATENCY
    with pytest.raises(wrong, match="packets that came out so far: 250, expected 251"):
        streams.latencies(lambda: Lossy(250), 100)


def variants(module):
    return [{"kind": kind} for kind in ("Queue", "SimpleQueue")] if module == "threads" else [{}]


@pytest.mark.parametrize(
    "module", ["plain_loop", "threads", "asyncio_queues", "with_streamz", "with_reactivex"]
)
def test_a_peer_does_the_work_of_all_three_workloads(load, module):
    if module.startswith("with_"):
        pytest.importorskip(module.removeprefix("with_"))
    peer = load(f"peers.{module}")

    for variant in variants(module):
        assert set(peer.chain(3, 250, **variant)) == CHAIN
        assert set(peer.latency(3, 20, **variant)) == LATENCY
        assert set(peer.join(250, "", **variant)) == JOIN


def test_the_bare_hand_over_passes_each_number_to_another_thread_and_back(load):
    assert set(load("peers.hand_over").latency(10, 20)) == LATENCY


def test_penstock_does_the_work_of_all_three_workloads_wherever_its_nodes_run(load):
    chain, latency, join = load("chain"), load("latency"), load("join")

    for head in load("penstock_flow").HEADS.values():
        assert set(chain.penstock(3, 250, head)) == CHAIN
        assert set(latency.penstock(3, 20, head)) == LATENCY
        assert set(join.penstock(250, "", head)) == JOIN
        assert set(join.penstock(250, "ImmediateInputStreamHandler", head, apart=True)) == JOIN
    assert set(latency.penstock(3, 20, "", by_observer=True)) == LATENCY


def test_the_edge_overlay_contestants_paint_the_same_frames_as_the_example(load, tmp_path):
    edge = load("edge_overlay")
    video = tmp_path / "in.mp4"
    edge.write_pattern(video, (160, 96), 8)
    job = edge.Job(str(video), None, (1, 1))
    edge.run_loop(job)
    job.end()
    work = {
        "video": str(video),
        "warm_up": str(video),
        "frames": 8,
        "checksum": edge.checksum_of(job.last),
        "threads": (1, 1),
    }

    for encodes in (True, False):
        for way in edge.WAYS:
            edge.by_hand(way, encodes=encodes, **work)
        edge.penstock(encodes=encodes, **work)
    with pytest.raises(load("expected").WrongResultError, match="checksum of the last painted frame: "):
        edge.penstock(encodes=False, **{**work, "checksum": 1})
    with pytest.raises(load("expected").WrongResultError, match="painted frames: 8, expected 9"):
        edge.penstock(encodes=False, **{**work, "frames": 9})


# --- all of them --------------------------------------------------------------------------------------


def files():
    """Return the names of the files that are benchmarks: those that make a `Benchmark`."""
    texts = {path.stem: path.read_text("utf-8") for path in BENCHMARKS.glob("*.py")}
    makes = ("return Benchmark(", "= looking.benchmark(")
    return {name for name, text in texts.items() if "__main__" in text and any(one in text for one in makes)}


def test_every_benchmark_is_run_with_the_others_and_named_in_the_readme(load):
    listed = load("run_all").BENCHMARKS + load("run_all").APART
    readme = (BENCHMARKS / "README.md").read_text(encoding="utf-8")

    assert set(listed) == files()
    assert [name for name in listed if f"`{name}.py`" not in readme] == []


def test_what_runs_in_the_environments_of_peers_imports_nothing_of_penstock():
    shared = ["expected", "measure", "process_memory", "streams", "side_by_side", "contestants", "run_all"]
    paths = [*(BENCHMARKS / f"{name}.py" for name in shared), *sorted((BENCHMARKS / "peers").glob("*.py"))]

    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = itertools.chain.from_iterable(
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
        )
        assert [name for name in names if name.startswith("penstock")] == [], path.name


def run_all(*arguments):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "run_all.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_running_one_benchmark_of_all_writes_its_report(load, tmp_path):
    code, out, err = run_all("large_graphs", "--folder", str(tmp_path), "--", "--short", "--nodes", "4")

    assert (code, err) == (0, "")
    assert "skipped: reference, default threads: --reference PYTHON was not given" in out
    report = json.loads((tmp_path / "large_graphs.json").read_text(encoding="utf-8"))
    load("side_by_side").check_report(report)
    assert report["benchmark"] == "large_graphs"
    assert report["short"] is True
    assert report["versions"]["penstock"]["penstock-core"]
    assert report["cases"][0]["results"]["penstock"]["us a node"]["median"] > 0


def test_a_benchmark_that_fails_makes_all_fail_and_is_named(tmp_path):
    code, _, err = run_all("large_graphs", "--folder", str(tmp_path), "--", "--short", "--rounds", "0")

    assert code == 1
    assert "--rounds: 0: must be 1 or more" in err
    assert "large_graphs exited with 2 and wrote no report" in err


def test_a_benchmark_that_is_not_there_is_refused_with_those_that_are():
    code, _, err = run_all("chian")

    assert code == 2
    assert "no benchmark chian, expected some of chain, latency, " in err


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_benchmark_runs_in_its_short_form(tmp_path):
    code, out, err = run_all("--folder", str(tmp_path), "--", "--short")

    assert (code, err) == (0, "")
    assert {path.stem for path in tmp_path.iterdir()} == files()
    assert out.count("a short run decides nothing") > 0

"""The JavaScript of the notebook's widgets, in a real browser, on the state that the Python side sends."""

from __future__ import annotations

import attrs
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import penstock
from penstock_monitor import CulpritReading, StallReading

pytest.importorskip("anywidget", reason="penstock-monitor[jupyter] is not installed")
from penstock_live.drawing import noted
from penstock_live.jupyter.cards import card, module, style
from penstock_views import draw

pytestmark = pytest.mark.heavy

#: A model as anywidget gives it to `render`: of the state that is passed, and it notes what it gets.
START = """
const [code, state, done] = arguments;
class Model {
  constructor(state) { this.state = state; this.calls = new Map(); this.sent = []; this.saved = 0; }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; }
  save_changes() { this.saved += 1; }
  send(content) { this.sent.push(content); }
  on(event, call) { this.calls.set(event, [...(this.calls.get(event) ?? []), call]); }
  off(event, call) { this.calls.set(event, this.calls.get(event).filter((one) => one !== call)); }
  tell(changes) {
    Object.assign(this.state, changes);
    for (const name of Object.keys(changes)) {
      for (const call of this.calls.get(`change:${name}`) ?? []) call();
    }
  }
}
const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
import(url).then(({ default: widget }) => {
  window.model = new Model(state);
  window.cell = document.createElement("div");
  document.body.replaceChildren(cell);
  window.leave = widget.render({ model, el: cell });
  window.root = cell.firstElementChild.shadowRoot;
  done("");
}).catch((error) => done(String(error)));
"""
INPUTS = """
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" name: "first" input_stream: "in" output_stream: "between" }
node { calculator: "PassThroughCalculator" name: "second" input_stream: "between" output_stream: "out" }
"""


@pytest.fixture
def reading(hand):
    return hand.READING


@pytest.fixture
def cell(page):
    """Return a function that draws a widget of some state in an empty page."""

    def draw_cell(**state):
        page.open("about:blank")
        said = page.driver.execute_async_script(START, module(), {"css": style(), **state})
        assert said == ""
        return page

    return draw_cell


def texts(page, selector):
    return page.script(
        "return [...root.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
    )


def state_of(reading, **others):
    config = penstock.CalculatorGraph(INPUTS).binary_config
    return {
        "kind": "graph",
        "names": ["in", "between", "out"],
        "streams": ["out"],
        "reading": attrs.asdict(reading),
        "picture": draw.svg(noted(config, None), marked=True),
        "picture_words": "",
        "status": "live",
        "cards": {"out": card(penstock.Packet(7, 30))},
        **others,
    }


def test_a_cell_shows_picture_numbers_and_packets_and_follows_the_model(cell, reading) -> None:
    page = cell(**state_of(reading))
    notes = texts(page, "[data-node='first'] .pk-note")
    cells = texts(page, "tbody td")
    rows = [cells[start : start + 6] for start in range(0, len(cells), 6)]

    assert notes == ["29.9 steps/s, 45 % busy", ""]
    assert texts(page, "[data-node='second'] .pk-note") == ["29.9 steps/s", "worker 1 (pid 4711)"]
    drops = "10 at second: late; 2 at second: queue full"
    assert rows[1] == ["between", "29.9/s", "100", "3 of 100", drops, "–"]
    assert rows[2][-1] == "5.00 ms"
    assert texts(page, ".state") == ["running, 3.3 s"]
    assert texts(page, ".card .value") == ["7"]
    assert page.script("return model.sent") == [{"views": 1}]

    stall = StallReading(2.5, "node 'second' waits", (CulpritReading("second", "", "it has not returned"),))
    page.script(
        "model.tell(arguments[0])",
        {"reading": attrs.asdict(attrs.evolve(reading, stall=stall)), "status": "closed"},
    )
    assert texts(page, ".state") == ["nothing has moved for 2.5 s, 3.3 s (closed)"]
    assert texts(page, ".stall") == ["node 'second' waits"]
    assert page.script("return [...root.querySelectorAll('.is-culprit')].map((one) => one.dataset.node)") == [
        "second"
    ]

    page.script("leave(); model.tell({ reading: null })")
    assert page.script("return model.sent") == [{"views": 1}, {"views": -1}]


def test_a_stream_is_chosen_in_the_cell(cell, reading) -> None:
    page = cell(**state_of(reading))
    choice = Select(page.script("return root.querySelector('select')"))
    assert [one.text for one in choice.options] == [
        "packets of a stream …",
        "show in",
        "show between",
        "hide out",
    ]
    choice.select_by_value("in")

    assert page.script("return [model.get('streams'), model.saved]") == [["out", "in"], 1]
    page.script("model.tell({ streams: ['out', 'in'] })")
    choice = Select(page.script("return root.querySelector('select')"))
    choice.select_by_value("out")
    assert page.script("return model.get('streams')") == ["in"]


def test_without_a_picture_the_cell_says_why_and_names_are_text(cell, reading) -> None:
    first = attrs.evolve(reading.streams[0], name="<img src=x onerror=alert(1)>")
    page = cell(
        **state_of(
            attrs.evolve(reading, streams=(first,)),
            picture="",
            picture_words="There is no picture: <b>no</b> library.",
            cards={"<i>odd</i>": card(penstock.Packet("<b>bold</b>", 1)), "none": card(None)},
        )
    )

    assert texts(page, ".picture") == ["There is no picture: <b>no</b> library."]
    assert texts(page, "tbody td:first-child") == ["<img src=x onerror=alert(1)>"]
    assert page.script("return root.querySelectorAll('img, b, i').length") == 0
    assert texts(page, ".card strong") == ["<i>odd</i>", "none"]
    assert texts(page, "[data-card='none'] .hint") == ["no packet"]


def test_the_slider_of_a_recording_asks_for_its_row(cell) -> None:
    page = cell(
        kind="recording",
        title="run.mcap",
        count=10,
        row=0,
        timestamp="0",
        cards={"out": card(penstock.Packet(1.5, 0))},
    )
    assert texts(page, "output") == ["row 1 of 10, at 0"]
    page.script("const s = root.querySelector('input'); s.value = 6; s.dispatchEvent(new Event('input'))")
    assert page.script("return [model.get('row'), model.saved]") == [6, 1]
    page.script(
        "model.tell(arguments[0])",
        {"row": 6, "timestamp": "60", "cards": {"out": card(penstock.Packet(2.5, 60))}},
    )

    assert texts(page, "output") == ["row 7 of 10, at 60"]
    assert texts(page, ".card .value") == ["2.5"]
    assert page.script("return root.querySelector('input').max") == "9"


#: What JupyterLab does with keys: it takes those that mean something to it from every element that is not
#: inside one with this attribute (@lumino/commands, `targetDistance`).
TAKES_KEYS = """
window.taken = [];
document.addEventListener("keydown", (event) => {
  if (event.target.closest("[data-lm-suppress-shortcuts]")) return;
  event.preventDefault();
  event.stopPropagation();
  taken.push(event.key);
}, true);
"""


def test_the_keys_of_a_slider_are_its_own_but_those_with_control_are_the_notebooks(cell) -> None:
    page = cell(kind="recording", title="run.mcap", count=10, row=3, timestamp="3", cards={})
    page.script(TAKES_KEYS)
    slider = page.script("return root.querySelector('input')")
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.script("return [model.get('row'), taken]") == [5, []]
    slider.send_keys(Keys.CONTROL, "s")
    assert page.script("return taken") == ["s"]
    slider.send_keys(Keys.ARROW_RIGHT)
    assert page.script("return [model.get('row'), taken]") == [6, ["s"]]

"""Pages of the built documentation as a visitor sees them, on a desk and on a phone."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.heavy

SIZES = {"desk": (1280, 800), "phone": (390, 844)}


@pytest.fixture
def look(driver, address):
    """Return a function that opens a page on a screen, and returns one that runs code there."""

    def open_page(page, screen="desk"):
        width, height = SIZES[screen]
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen == "phone"},
        )
        driver.get_log("browser")
        driver.get(f"{address}/{page}")
        return driver.execute_script

    yield open_page
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


#: For each row of the tables of ports and options: its last cell's room in the box that would scroll.
LAST_CELLS = """
return [...document.querySelectorAll("article table.docutils tbody tr")].map((row) => {
  const cell = row.lastElementChild.getBoundingClientRect();
  const box = row.closest(".table-wrapper").getBoundingClientRect();
  return { width: cell.width, over: cell.right - box.right };
});"""


@pytest.mark.parametrize("screen", SIZES)
@pytest.mark.parametrize(
    "name", ["FlowLimiterCalculator", "ScaleImageCalculator", "BeginLoopDetectionCalculator"]
)
def test_what_a_port_or_option_is_can_be_read_without_scrolling(look, name, screen):
    cells = look(f"reference/calculators/{name}.html", screen)(LAST_CELLS)

    assert cells
    assert [cell for cell in cells if cell["over"] > 1 or cell["width"] < 70] == []


def test_on_a_phone_the_list_of_calculators_has_room_for_what_they_do(look):
    cells = look("reference/calculators/", "phone")(LAST_CELLS)

    assert len(cells) > 300
    assert min(cell["width"] for cell in cells) > 130
    assert max(cell["over"] for cell in cells) <= 1


def test_a_type_is_shown_without_its_modules(site):
    page = (site / "reference" / "calculators" / "FlowLimiterCalculator.html").read_text(encoding="utf-8")

    assert "flow_limiter_pb2" not in page
    assert "FlowLimiterCalculatorOptions" in page


def test_the_gallery_begins_with_pictures_that_lead_to_folded_programs(look):
    run = look("gallery.html")
    pictures, sections = run(
        "return [[...document.querySelectorAll('ul.thumbnails a')].map((one) => one.getAttribute('href')),"
        " [...document.querySelectorAll('section > section')].filter((one) => one.querySelector('img'))"
        ".map((one) => '#' + one.id)]"
    )
    programs, opened = run(
        "const found = [...document.querySelectorAll('details.program')];"
        "return [found.filter((one) => one.querySelector('pre')), found.filter((one) => one.open)]"
        ".map((some) => some.length)"
    )

    assert pictures == sections
    assert (programs, opened) == (len(pictures), 0)
    assert run("return [...document.querySelectorAll('ul.thumbnails img')].every((one) => one.src)")
    assert run("return document.querySelector('ul.thumbnails').getBoundingClientRect().bottom") < 800
    assert run("return document.documentElement.scrollHeight") < 16_000


@pytest.mark.parametrize("screen", SIZES)
def test_the_front_page_begins_with_the_commands_to_try_it(look, screen):
    run = look("index.html", screen)

    assert run("return document.querySelector('article pre').textContent") == (
        "$ pip install uv && uv run penstock demo\n$ uv run penstock demo --frames 0 --serve\n"
    )
    assert run("return document.querySelector('article pre').getBoundingClientRect().bottom") < 800


def test_pages_for_users_come_first_in_the_navigation_and_those_about_the_project_last(look):
    entries = look("index.html")(
        "return [...document.querySelectorAll('.sidebar-tree > ul > li > a, .sidebar-tree > .caption')]"
        ".map((one) => one.textContent.trim())"
    )
    about = entries.index("About the project")

    assert entries[0] == "Install"
    assert {"How to", "Reference", "Packs", "Glossary"} <= set(entries[:about])
    assert {"Mutants", "Design", "Decisions"} <= set(entries[about:])


def test_a_page_asks_for_nothing_that_is_not_there(look, driver):
    look("index.html")

    assert [entry["message"] for entry in driver.get_log("browser")] == []


def test_a_page_that_names_a_pack_says_where_it_is_installed_from(site):
    page = (site / "how-to" / "edit-graph-files.html").read_text(encoding="utf-8")

    assert page.count("Penstock is on no package index yet") == 1
    assert "Penstock is on no package index yet" not in (site / "install.html").read_text(encoding="utf-8")


def test_a_file_called_in_is_no_word_of_the_shell(site):
    page = (site / "first-ten-minutes" / "opencv.html").read_text(encoding="utf-8")

    assert '<span class="k">in</span>.mp4' not in page
    assert "in.mp4" in page

"""The search of the built documentation lists first what people look for, in a real browser."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.heavy

PATIENCE_S = 60


@pytest.fixture(scope="module")
def found(driver, address):
    """Return a function that returns the pages that a query finds, each once, the first first."""
    driver.get(f"{address}/search.html?q=penstock")
    wait = WebDriverWait(driver, PATIENCE_S)
    wait.until(lambda page: page.execute_script("return typeof Search === 'object' && Search.hasIndex()"))

    def search(query):
        # The page's own functions, without the list that they draw.
        results = driver.execute_script(
            """
            history.replaceState(null, "", "?q=" + arguments[1]);
            const results = Search._performSearch(...Search._parseQuery(arguments[0]));
            return results.reverse().map((one) => one[0]);
            """,
            query,
            quote(query),
        )
        return list(dict.fromkeys(results))

    return search


@pytest.mark.parametrize(
    ("query", "page", "most"),
    [
        ("count people", "how-to/count-and-measure", 1),
        ("count people", "reference/calculators/ZonesCalculator", 4),
        ("count cars", "how-to/count-and-measure", 1),
        ("drop frames", "how-to/keep-up-with-a-camera", 1),
        ("drop frames", "reference/calculators/FlowLimiterCalculator", 5),
        ("skip frames", "how-to/keep-up-with-a-camera", 1),
        ("blur faces", "gallery", 1),
        ("blur", "gallery", 2),
        ("blur", "reference/calculators/BilateralFilterCalculator", 3),
        ("bottleneck", "how-to/see-what-happens", 2),
        ("bottleneck", "how-to/watch-a-running-graph", 2),
        ("slow node", "how-to/watch-a-running-graph", 2),
        ("serve", "how-to/watch-a-running-graph", 2),
        ("live view", "reference/live", 1),
        ("dashboard", "how-to/watch-a-running-graph", 2),
        ("camera lost", "how-to/read-a-network-camera", 1),
        ("rtsp", "how-to/read-a-network-camera", 2),
        ("resize image", "reference/calculators/ScaleImageCalculator", 8),
        ("docker", "how-to/a-graph-as-a-service", 2),
        ("notebook", "how-to/watch-a-running-graph", 2),
        ("retry", "how-to/survive-failures", 1),
        ("deadlock", "how-to/find-out-why-it-hangs", 1),
        ("yolo", "how-to/bring-your-own-detector", 1),
        ("multiprocessing", "how-to/use-several-processes", 1),
        ("install", "install", 1),
        ("FlowLimiterCalculator", "reference/calculators/FlowLimiterCalculator", 1),
        ("CalculatorGraph", "reference/api/penstock", 1),
    ],
)
def test_what_is_looked_for_is_among_the_first(found, query, page, most):
    first = found(query)[:most]

    assert page in first


def test_pages_about_the_project_come_last(found):
    pages = found("graph")
    decisions = [place for place, page in enumerate(pages) if page.startswith("decisions/")]
    how_tos = [place for place, page in enumerate(pages) if page.startswith("how-to/")]

    assert decisions
    assert how_tos
    assert max(how_tos) < min(decisions)


def test_the_page_of_the_search_shows_them_in_this_order(driver, address):
    driver.get(f"{address}/search.html?q=count+people")
    wait = WebDriverWait(driver, PATIENCE_S)
    first = wait.until(
        lambda page: page.execute_script("return document.querySelector('#search-results li a')?.textContent")
    )

    assert first == "Count and measure"

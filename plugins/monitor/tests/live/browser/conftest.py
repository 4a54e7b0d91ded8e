"""A real browser, without a window: Debian's packages chromium and chromium-driver.

Without them these tests are skipped with the reason; with PENSTOCK_REQUIRE_BROWSER=1, as in CI, they fail.
"""

from __future__ import annotations

import os
import shutil
import time

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains

PATIENCE_S = 40.0


def _started():
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if missing := " and no ".join(name for name, path in programs.items() if path is None):
        return (
            None,
            f"there is no {missing}; Debian's packages chromium and chromium-driver have them",
        )
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for argument in (
        "--headless=new",
        "--no-sandbox",  # containers run as root
        "--disable-dev-shm-usage",  # theirs is small
        "--disable-background-networking",
        "--window-size=1280,1000",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        return webdriver.Chrome(options, webdriver.ChromeService(programs["chromedriver"])), ""
    except WebDriverException as error:
        return None, f"chromium does not start: {error.msg}"


@pytest.fixture(scope="session")
def driver():
    started, why_not = _started()
    if started is None:
        if os.environ.get("PENSTOCK_REQUIRE_BROWSER"):
            pytest.fail(f"PENSTOCK_REQUIRE_BROWSER is set, and {why_not}")
        pytest.skip(f"no browser: {why_not}")
    yield started
    started.quit()


class Page:
    """One tab with a page of the server."""

    def __init__(self, driver):
        self.driver = driver
        #: What the browser may say of itself: a part of each line that is no fault.
        self.expected = []

    def open(self, server):
        url = getattr(server, "url", server)
        self.driver.get(url)
        return self

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def texts(self, selector):
        return self.script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
        )

    def text(self, selector):
        return (self.texts(selector) or [""])[0]

    def until(self, condition, patience_s=PATIENCE_S):
        """Ask again until there is an answer, and return it."""
        end = time.monotonic() + patience_s
        while True:
            if found := condition():
                return found
            if time.monotonic() > end:
                seen = " ".join(f"{self.text('header')} {self.text('main')}".split())
                hidden = self.script("return document.hidden")
                raise AssertionError(f"not within {patience_s} s, hidden {hidden}: {seen[:1000]}")

    def until_text(self, selector, part, patience_s=PATIENCE_S):
        return self.until(lambda: part in self.text(selector) and self.text(selector), patience_s)

    def notes(self, kind, name):
        """Return the lines at a node or a stream of the picture."""
        return self.texts(f'[data-{kind}="{name}"] .pk-note')

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self):
        return self.script(
            "const one = document.activeElement; return one.dataset.node ?? one.dataset.stream ?? one.id"
        )

    def faults(self):
        """Return what the browser has found wrong: errors of scripts, refused by the policy, not found."""
        lines = [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]
        return [line for line in lines if not any(part in line for part in self.expected)]


@pytest.fixture
def page(driver, server, stack):  # closed before the servers
    """Return a fresh tab. At the end the browser must have found nothing wrong."""
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get_log("browser")
    made = Page(driver)
    yield made
    faults = made.faults()
    for handle in driver.window_handles:
        if handle != first:
            driver.switch_to.window(handle)
            driver.close()
    driver.switch_to.window(first)
    assert not faults

"""The built documentation: `PENSTOCK_SITE=docs/_build/html pytest tests/site`, which `tox run -e docs` does.

Without PENSTOCK_SITE these tests are skipped: a build takes minutes. Tests in Chromium (Debian's packages
chromium and chromium-driver) skip without it, unless PENSTOCK_REQUIRE_BROWSER is set.
"""

from __future__ import annotations

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException


@pytest.fixture(scope="session")
def site():
    """The folder of the built pages."""
    folder = os.environ.get("PENSTOCK_SITE")
    if not folder:
        pytest.skip("PENSTOCK_SITE does not name the built documentation")
    found = Path(folder).resolve()
    assert (found / "searchindex.js").is_file(), f"{found} has no documentation; build it first"
    return found


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Where the pages are served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def driver(site):
    """A browser without a window."""
    options = webdriver.ChromeOptions()
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in programs.items() if path is None]
    why_not = f"there is no {' and no '.join(missing)}"
    if not missing:
        options.binary_location = programs["chromium"]
        # Containers run as root, and theirs is a small /dev/shm.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            started = webdriver.Chrome(options, webdriver.ChromeService(programs["chromedriver"]))
        except WebDriverException as error:
            why_not = f"chromium does not start: {error.msg}"
        else:
            yield started
            started.quit()
            return
    if os.environ.get("PENSTOCK_REQUIRE_BROWSER"):
        pytest.fail(f"PENSTOCK_REQUIRE_BROWSER is set, and {why_not}")
    pytest.skip(f"no browser: {why_not}")

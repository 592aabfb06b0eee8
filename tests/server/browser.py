"""A headless Chromium for tests of the page, that notes every request and every complaint."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
#: Where screenshots go when PARAGLOSS_SCREENSHOTS is set; tests leave the tree alone otherwise.
SCREENSHOTS = Path(__file__).parents[2] / "docs" / "images" if os.environ.get("PARAGLOSS_SCREENSHOTS") else None


@contextmanager
def launch_chromium() -> Iterator:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser: paragloss[dev]")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class WatchedWindow:
    """A page whose requests and complaints are remembered."""

    def __init__(self, context, address: str, *, filters: bool = True) -> None:
        """Open a page; with `filters`, those are open, as the page remembers for who has opened them once."""
        if filters:
            context.add_init_script("localStorage.getItem('filters') ?? localStorage.setItem('filters', 'yes')")
        self.address = address
        self.may_complain = False  # a test that provokes errors says so
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)  # machines that build many things at once are slow
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._record_complaint)

    def open(self, path: str = "/"):
        self.page.goto(self.address + path)
        self.wait_until("document.querySelector('#holds').textContent")
        return self.page

    def open_results(self, path: str):
        """Open the page with a query in its address, and wait until its results are there."""
        page = self.open(path)
        self.wait_for_results()
        return page

    def search(self, text: str) -> None:
        self.page.fill("#q", text)
        self.page.keyboard.press("Enter")
        self.wait_for_results()

    def wait_for_results(self) -> None:
        """Until results, counts and glosses are there."""
        self.wait_until("document.querySelector('#results').ariaBusy === 'false' && document.querySelector('.result')")

    def wait_until(self, expression: str) -> None:
        """Wait until something is so. The page's policy forbids the evaluating that the library's own waiting does."""
        deadline = time.monotonic() + 60
        while not self.page.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"never came true: {expression}"
            self.page.wait_for_timeout(50)

    def change_answers(self, path: str, change: Callable[[dict], object]) -> None:
        """Let a function change the server's answers of a path before the page gets them."""

        def pass_on(route) -> None:
            answer = route.fetch().json()
            change(answer)
            route.fulfill(json=answer)

        self.page.route(f"**/api/{path}*", pass_on)

    def take_screenshot(self, name: str) -> None:
        if SCREENSHOTS:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def assert_no_complaints(self) -> None:
        """Nothing left this machine, and nobody complained."""
        assert self.complaints == []
        assert all(url.startswith((self.address, "data:", "blob:")) for url in self.requests)

    def _record_complaint(self, message) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

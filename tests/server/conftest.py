"""A server over the demonstration corpus: real models, a real store; in this process, or in one of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from collection_copies import copy_collection
from serving_process import ServerProcess

from paragloss import demo
from paragloss.collection import Collection, train
from paragloss.lab.methods import cr5, table
from paragloss.server.application import build_application
from paragloss.server.library import Library


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What runs asynchronous tests."""
    return "asyncio"


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("models")
    train(cr5.fit, demo.concepts(), dim=50).save(folder / "cr5")
    train(table.fit, demo.concepts(), source="en").save(folder / "table")
    return [str(folder / "cr5"), str(folder / "table")]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """A running Chromium, which fixtures that start servers for the page ask for first: without it none is started."""
    from browser import launch_chromium

    with launch_chromium() as running:
        yield running


@pytest.fixture
def open_window(browser) -> Iterator:
    """Opens a window on an address, as large as a laptop's unless something else is asked for.

    At the end all are closed, and none of those that may not has complained or asked for anything elsewhere.
    """
    from browser import WatchedWindow

    windows = []

    def open_context(address, **options):
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 860}, **options})
        windows.append(WatchedWindow(context, address))
        return windows[-1]

    yield open_context
    for window in windows:
        window.page.context.close()
    for window in windows:
        if not window.may_complain:
            window.assert_no_complaints()


@pytest.fixture
def open_page(open_window, address):
    """Opens a window on the server of the test's module, whose address its fixture `address` returns."""
    return partial(open_window, address)


@pytest.fixture
def open_results(open_page):
    """Opens a window with a query in its address; returns the window and the page when its results are there."""

    def open_with_query(path, **options):
        window = open_page(**options)
        return window, window.open_results(path)

    return open_with_query


@pytest.fixture(scope="session")
def indexed_demo(models, tmp_path_factory) -> str:
    """Indexed once; nobody opens it but to copy it."""
    path = str(tmp_path_factory.mktemp("indexed") / "library")
    with Collection.create(path, models=models) as new_collection:
        new_collection.index(demo.documents())
    return path


@pytest.fixture
def collection(indexed_demo, tmp_path) -> str:
    """A copy that a test may change."""
    return copy_collection(indexed_demo, tmp_path / "library")


@pytest.fixture
def serve(collection) -> Iterator:
    """A client of an application over the collection, with whatever is asked for; closed at the end."""
    from starlette.testclient import TestClient

    open_clients = []

    def start(*, host="localhost", limits=None, **options):
        library = Library.open([collection], *([limits] if limits else []))
        client = TestClient(build_application(library, **options), base_url=f"http://{host}")
        client.__enter__()
        open_clients.append(client)
        return client

    yield start
    for client in open_clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(serve):
    """A client of an application with the usual settings."""
    return serve()


@pytest.fixture
def process(collection) -> Iterator[ServerProcess]:
    with ServerProcess(collection) as running:
        yield running

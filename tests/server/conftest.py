"""A server over the demonstration corpus: real models, a real store; in this process, or in one of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from collection_copies import copy_collection
from serving_process import ServerProcess

from paragloss import demo
from paragloss.collection import Collection, train
from paragloss.lab.methods import cr5, table
from paragloss.server.application import build_application
from paragloss.server.library import Library


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
    """Opens a window on an address, as large as a laptop's unless something else is asked for; closed at the end."""
    from browser import WatchedWindow

    contexts = []

    def open_context(address, **options):
        contexts.append(browser.new_context(**{"viewport": {"width": 1100, "height": 860}, **options}))
        return WatchedWindow(contexts[-1], address)

    yield open_context
    for context in contexts:
        context.close()


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
def process(collection) -> Iterator[ServerProcess]:
    running = ServerProcess(collection).wait()
    yield running
    if running.process.poll() is None:
        running.stop()

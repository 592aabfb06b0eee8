"""The server's description of itself, held against what it does: schemathesis asks what the description allows."""

import pytest
from collection_copies import copy_collection
from hypothesis import HealthCheck, Phase, given, settings
from serving_process import ServerProcess

#: Seconds in which every request is answered, whatever it asks for; the server gives a search ten.
DEADLINE = 15

OPERATIONS = [
    ("GET", "/api/search"), ("GET", "/api/counts"), ("GET", "/api/why"), ("GET", "/api/gloss"), ("POST", "/api/gloss"),
    ("GET", "/api/documents/{id}"), ("PUT", "/api/documents/{id}"), ("PATCH", "/api/documents/{id}"),
    ("DELETE", "/api/documents/{id}"), ("POST", "/api/documents"), ("POST", "/api/bulk"), ("POST", "/api/files"),
    ("GET", "/api/health"), ("GET", "/api/ready"), ("GET", "/metrics"), ("GET", "/api/collections"),
    ("GET", "/api/models"), ("GET", "/api/glossary"), ("PUT", "/api/glossary"), ("PATCH", "/api/glossary"),
    ("GET", "/api/reading"), ("POST", "/api/hosts"), ("GET", "/api/feed"), ("GET", "/api/original"),
    ("POST", "/api/translate"), ("GET", "/api/term"),
]  # fmt: skip
SETTINGS = settings(
    max_examples=10,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def schema(indexed_demo, tmp_path_factory):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis reads the description: paragloss[dev]")
    with ServerProcess(copy_collection(indexed_demo, tmp_path_factory.mktemp("described") / "library")) as server:
        yield schemathesis.openapi.from_url(f"{server.address}/api/openapi.json")


def test_every_route_is_described_with_examples_and_errors(schema):
    paths = schema.raw_schema["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == set(OPERATIONS)
    search = paths["/api/search"]["get"]
    assert {"200", "400", "401", "404", "422", "503", "504"} <= set(search["responses"])
    assert next(p for p in search["parameters"] if p["name"] == "q")["schema"]["examples"]


@pytest.mark.slow
# A stream of lines is no type that schemathesis can make: test_api asks for it.
@pytest.mark.parametrize(
    ("method", "path"), [operation for operation in OPERATIONS if operation != ("POST", "/api/bulk")]
)
def test_what_the_description_allows_is_answered_as_described(schema, method, path):
    from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

    # On loopback without keys everybody may ask; a text may be refused for what it says, such as an unknown language.
    excluded_checks = [ignored_auth, positive_data_acceptance]

    @SETTINGS
    @given(case=schema[path][method].as_strategy())
    def check_case(case):
        case.call_and_validate(timeout=DEADLINE, excluded_checks=excluded_checks)

    check_case()

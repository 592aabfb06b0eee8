"""The drawing of a search in ARCHITECTURE.md is what a search does."""

import re
import sys
from pathlib import Path

from paragloss import Collection
from paragloss.types import Document
from tests.test_floors import FLOORS, ROOT, find_room, module_name

#: Rooms below this floor say what a word and a number are; a search is understood without them.
LOWEST_FLOOR_DRAWN = 3
DOCUMENTS = [
    Document("a", "Bienen machen Honig aus Nektar.", "de", "Bienen"),
    Document("b", "Der Vulkan speit Lava.", "de", "Vulkan"),
    Document("c", "Les abeilles font du miel.", "fr", "Abeilles"),
]


def trace_files(function) -> list[Path]:
    """List the files of the package whose functions run during a call, in the order they are first entered."""
    files: dict[str, None] = {}

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            files.setdefault(frame.f_code.co_filename)

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(previous)
    return [Path(file) for file in files if Path(file).is_relative_to(ROOT)]


def is_drawn(path: Path) -> bool:
    """Say whether a file belongs into the drawing."""
    is_inside_store = path.parent.name == "stores" and path.name.startswith("_")
    return FLOORS[find_room(module_name(path))] >= LOWEST_FLOOR_DRAWN and not is_inside_store


def test_the_drawing_of_a_search_names_the_files_it_enters(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        collection.index(DOCUMENTS)
        collection.search("lava")  # opens what is opened once
        # No other test asks for these words: translations of words are cached.
        entered = trace_files(lambda: collection.search("wax from hornets"))
    text = (ROOT.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = text.partition("## How one query goes")[2].split("```")[1]
    drawn = [file for file in re.findall(r"^ *([\w/]+\.py)", drawing, re.M) if not file.startswith("cli/")]
    assert set(drawn) == {str(path.relative_to(ROOT)) for path in entered if is_drawn(path)}

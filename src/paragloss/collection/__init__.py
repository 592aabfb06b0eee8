"""The collection that the command line and the server hold, and the models it is searched with."""

from paragloss.collection.arguments import CollectionKeywords, SearchKeywords, SearchOptions
from paragloss.collection.collection import Answer, Collection, IndexReport, describe
from paragloss.collection.deadline import Deadline
from paragloss.collection.display import Result
from paragloss.collection.models import add_language, load, train, translator

__all__ = [
    "Answer",
    "Collection",
    "CollectionKeywords",
    "Deadline",
    "IndexReport",
    "Result",
    "SearchKeywords",
    "SearchOptions",
    "add_language",
    "describe",
    "load",
    "train",
    "translator",
]

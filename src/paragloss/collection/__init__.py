"""The collection that the command line and the server hold, and the models it is searched with."""

from paragloss.collection.collection import Answer, Collection, describe
from paragloss.collection.display import Result
from paragloss.collection.models import add_language, load, train, translator
from paragloss.search.deadline import Deadline

__all__ = ["Answer", "Collection", "Deadline", "Result", "add_language", "describe", "load", "train", "translator"]

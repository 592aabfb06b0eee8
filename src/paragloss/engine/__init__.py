"""The collection that the command line and the server hold, and the models it is searched with."""

from paragloss.engine.collection import Answer, Engine, describe
from paragloss.engine.loading import add_language, load, train, translator
from paragloss.engine.showing import Result
from paragloss.search.deadline import Deadline

__all__ = ["Answer", "Deadline", "Engine", "Result", "add_language", "describe", "load", "train", "translator"]

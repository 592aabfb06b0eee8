"""The collections of `papers.corpora`, for the scripts beside this file."""

from papers.corpora import Split
from papers.corpora import data_folder as folder
from papers.corpora import make_known_item_task as known_item
from papers.corpora import split_collection as split
from papers.corpora import split_sentences as sentences

__all__ = ["Split", "folder", "known_item", "sentences", "split"]

"""The collections of `paragloss.lab.recipes.sets`, for the scripts beside this file."""

from paragloss.lab.recipes.sets import Split, folder, known_item, sentences, split

__all__ = ["Split", "folder", "known_item", "sentences", "split"]

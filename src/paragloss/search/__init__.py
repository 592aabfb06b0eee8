"""How documents are found: two searchers that ask the store, and wrappers around searchers."""

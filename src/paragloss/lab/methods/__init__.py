"""How text becomes a vector, or a pair of texts a score: one file per method, each with a `fit`."""

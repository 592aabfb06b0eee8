"""One file per format: `read_*` are iterators, `write_*` write; `documents.read` and `aligned.read_aligned` choose."""

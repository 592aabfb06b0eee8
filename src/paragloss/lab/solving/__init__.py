"""Linear algebra that solves and factorises. Knows nothing of text; torch, where it is used, only holds arrays."""

"""Matchings of translated queries from the papers; pipelines name them by their entry points: `table:psq`."""

"""A file for each table or figure."""

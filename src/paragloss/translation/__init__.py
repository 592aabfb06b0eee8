"""What the terms of a query may be in another language: one file per way of knowing. See docs/do/translation.md."""

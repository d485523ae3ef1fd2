"""Parts of pages, built of the summaries in docs/data/ and of the package; docs/generate.py names them."""

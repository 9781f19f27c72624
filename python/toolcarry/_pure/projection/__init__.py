"""The projection of a request: which results are replaced, what is mended, and how it is put together again."""

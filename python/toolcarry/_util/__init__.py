"""Tools of no field: waiting after failures, caches, watched files, counted nouns."""

"""General tools: a circuit breaker, a TTL cache, a file watcher, counted nouns."""

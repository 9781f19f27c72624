"""Turn bytes and objects into the messages that both backends read, and decode JSON."""

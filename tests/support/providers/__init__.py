"""The other side of a request: fake providers, the judge of what each accepts, SDKs' turns, and summarizers."""

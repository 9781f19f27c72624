"""``search_tool_results``: find the results of a conversation that have all words of a query, wherever they were
put."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Final

from toolcarry.errors import InputError
from toolcarry.tract.commit_codec import StoredParts
from toolcarry.tract.result_index import ResultIndex
from toolcarry.tract.store.database import SearchIndex
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.search import words_of
from toolcarry.tract.store.types import CommitInfo, Kind, ToolMatch
from toolcarry.tract.view import is_backfill

__all__ = ["ToolSearch"]

KINDS: Final = (Kind.RESULT, Kind.EDIT)
BATCH: Final = 200
"""The number of results that are indexed in one transaction."""
AROUND: Final = 160
"""The characters of a snippet on each side of what was found."""
REFERENCE: Final = 16
"""The number of hash digits in a reference to a commit."""


class ToolSearch:
    """Searches the results of one log. It may be used by several threads."""

    def __init__(self, log: Log, results: ResultIndex) -> None:
        self._log = log
        self._results = results
        self._index: SearchIndex | None = None
        self._number: int | None = None
        self._lock = threading.Lock()

    def find(self, query: str, limit: int) -> list[ToolMatch]:
        """Return the results with all words of the query, the best first. Raises ``InputError`` without a word."""
        phrases = [phrase for phrase in map(words_of, query.split()) if phrase]
        if not phrases:
            raise InputError(f"query: {query!r:.80} is not allowed; allowed: at least one word")
        with self._lock:
            index = self._current()
            found = [] if index is None else index.find(phrases, limit)
        results = self._results.read()
        roots = [root for commits in results.by_id.values() for root in commits]
        by_sequence = {
            each.sequence: root for root in roots for each in (root, results.whole(root))
        }
        matches = {
            by_sequence[each].sequence: by_sequence[each] for each in found if each in by_sequence
        }
        whole = [results.whole(each) for each in matches.values()]
        contents = self._log.contents_of(whole)
        parts = StoredParts()
        return [
            match_of(root, parts.text(each, content), phrases[0])
            for root, each, content in zip(matches.values(), whole, contents, strict=True)
        ]

    def _current(self) -> SearchIndex | None:
        """Return the index with all results of the log; ``None`` if there is no conversation."""
        last, _ = self._log.head()
        number = self._log.number()
        if number is None or not last:
            self._index = self._number = None
            return None
        if self._index is None or number != self._number or last < self._index.end():
            self._index, self._number = self._log.database.search_index(number), number
        new = self._texts(self._index.end())
        while some := list(islice(new, BATCH)):
            self._index.add(some)
        return self._index

    def _texts(self, after: int) -> Iterator[tuple[int, str]]:
        parts = StoredParts()
        for commit, content in self._log.contents(KINDS, after=after):
            if commit.kind is Kind.RESULT or is_backfill(commit):
                yield commit.sequence, parts.text(commit, content)


def match_of(result: CommitInfo, text: str, phrase: str) -> ToolMatch:
    """Return a match with the part of the text around the phrase."""
    words = r"[\W_]+".join(map(re.escape, phrase.split()))
    found = re.search(words, text, re.IGNORECASE)
    at = 0 if found is None else found.start()
    start, end = max(at - AROUND, 0), at + AROUND
    snippet = f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
    return ToolMatch(result, result.commit_hash[:REFERENCE], snippet)

"""Shadow mode: the request with hydration, compared after the answer with the request that was forwarded.

The comparison of each request is stored as a record of the conversation ``NAME#shadow`` in the history, and
``shadow_report`` adds them up. Only numbers are stored, no text. A client may have a conversation of such a name, so a
comparison is known by its metadata, which no client sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from toolcarry._input.json import dump, loads
from toolcarry.api.inspection import inspect
from toolcarry.errors import InputError
from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.projections import Forwarded, Projections
from toolcarry.tract.canonical import record_draft
from toolcarry.tract.store.database import Database
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.verify import all_conversations
from toolcarry.tract.view import RECORDS
from toolcarry.types.policy import ProjectPolicy

__all__ = ["Restored", "Shadow", "ShadowRow", "append_comparison", "shadow_report"]

SUFFIX: Final = "#shadow"
PARTS: Final = ("bytes", "cuts", "orphans", "refetches")


class Restored(NamedTuple):
    """A body with results of the history, and the number of results that are restored and still missing."""

    body: bytes
    restored: int
    missing: int


class Shadow:
    """Builds the request that hydration would have forwarded, with separate decisions."""

    def __init__(self, policy: ProjectPolicy | None, max_decisions: int, ttl: float) -> None:
        self._projections = None if policy is None else Projections(policy, max_decisions, ttl)

    def compare(
        self, identity: RequestIdentity, old: Forwarded, restored: Restored
    ) -> dict[str, Any]:
        """Return the differences, each as the values without and with hydration.

        ``refetches`` counts results that the request lacks, so that the model would have to run their tools again.
        """
        new, cuts = restored.body, 0
        if self._projections is not None:
            made = self._projections.project(new, identity, None)
            new, cuts = made.body, made.counts.get("projection_cuts", 0)
        return {
            "bytes": [len(old.sent), len(new)],
            "cuts": [old.counts.get("projection_cuts", 0), cuts],
            "orphans": [orphans_in(old.sent), orphans_in(new)],
            "refetches": [restored.restored + restored.missing, restored.missing],
        }


def orphans_in(body: bytes) -> int:
    """The calls without a result and the results without a call in a body."""
    try:
        found = inspect(body)
    except InputError:
        return 0
    return found.orphan_calls + found.orphan_results


def append_comparison(
    database: Database, identity: RequestIdentity, compared: Mapping[str, Any]
) -> None:
    """Store the comparison of a request."""
    log = Log(database, identity.tenant, f"{identity.conversation}{SUFFIX}")
    log.append([record_draft(dump(compared), shadow=True)])


@dataclass(frozen=True, slots=True)
class ShadowRow:
    """The sums of a conversation's comparisons: without hydration, which was forwarded, and with it."""

    tenant: str
    conversation: str
    requests: int
    changed: int
    """The number of requests that hydration would have changed."""
    bytes_old: int
    bytes_new: int
    cuts_old: int
    cuts_new: int
    orphans_old: int
    orphans_new: int
    refetches_old: int
    refetches_new: int


def shadow_report(database: Database, tenant: str | None = None) -> list[ShadowRow]:
    """Return a row for each compared conversation, of one tenant or of all."""
    rows = [
        row_of(database, owner, name)
        for _, owner, name in all_conversations(database)
        if name.endswith(SUFFIX) and tenant in (None, owner)
    ]
    return [row for row in rows if row.requests]


def row_of(database: Database, tenant: str, name: str) -> ShadowRow:
    """Add up the comparisons of a conversation."""
    sums = dict.fromkeys([f"{part}_{path}" for part in PARTS for path in ("old", "new")], 0)
    requests = changed = 0
    for commit, content in Log(database, tenant, name).contents(RECORDS):
        if "shadow" not in commit.metadata:
            continue
        compared = loads(content)
        requests += 1
        changed += any(old != new for old, new in (compared[part] for part in PARTS))
        for part in PARTS:
            for path, value in zip(("old", "new"), compared[part], strict=True):
                sums[f"{part}_{path}"] += value
    return ShadowRow(tenant, name.removesuffix(SUFFIX), requests, changed, **sums)

"""The importers of whole conversations: each reads its own producer, claims nothing else, and survives anything."""

import copy
import json
import tracemalloc
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import orjson
import pytest
from support.builders.families import FAMILIES
from support.builders.producers import (
    ANSWER,
    ASKED,
    DOCUMENTS,
    FAILURE,
    NAME,
    SAID,
    WITH_COPIES,
    WITHOUT_FAILURE,
    WITHOUT_IDS,
    WITHOUT_OWN,
    WITHOUT_RESULTS,
    WITHOUT_USER,
)
from support.examples import IS_LONG
from support.oracles.format_checks import JsonObject, as_lines, blocks
from support.rows import for_each

from toolcarry import CarryPolicy, InputError, ProjectPolicy, carry, dialogue
from toolcarry._backend import Name, using
from toolcarry._input import document as document_module
from toolcarry._input import json_parts
from toolcarry.importers.bodies import import_body
from toolcarry.importers.messages import Import, recognise
from toolcarry.importers.producers import CONVERSATIONS, IMPORTERS, otel_span

IMPORTER = {importer.__name__.rpartition(".")[2]: importer for importer in CONVERSATIONS}  # type: ignore[attr-defined]
PRODUCER = for_each("name", DOCUMENTS)
WHOLE = CarryPolicy(max_chars=10**6)


def body_of(items: list[JsonObject]) -> bytes:
    """The file as its producer writes it: a document, or lines."""
    return json.dumps(items[0]).encode() if len(items) == 1 else as_lines(items)


def test_every_importer_has_a_conversation() -> None:
    assert DOCUMENTS.keys() == IMPORTER.keys()


@PRODUCER
def test_the_facts(name: str) -> None:
    facts = [fact for fact in IMPORTER[name].ABOUT if not isinstance(fact, bool)]
    assert all(fact and fact == fact.strip() for fact in facts)


@PRODUCER
@for_each("member", ["", "messages"])
def test_a_large_file_is_read_alike(api: ModuleType, name: str, member: str) -> None:
    """Its items are decoded whenever an importer asks for one, and none is kept."""
    items = DOCUMENTS[name]()
    documents = [{member: items} if member else items, *(items if len(items) == 1 else ())]
    bodies = [json.dumps(document).encode() for document in documents]
    small = [survey_and_text(api, body) for body in bodies]
    with pytest.MonkeyPatch.context() as patch:
        read_as_large(patch, 1)
        assert [survey_and_text(api, body) for body in bodies] == small


SIZE = 1 << 19
"""The size of the files whose import is measured."""


def read_as_large(patch: pytest.MonkeyPatch, size: int) -> None:
    """Let files of this size be decoded item by item."""
    for module in (document_module, json_parts, otel_span):
        patch.setattr(module, "LARGE", size)


def import_measured(body: bytes, given: Import) -> tuple[bytes, int]:
    """Import a file, and return what is written of it, and the most memory that this took."""
    with pytest.MonkeyPatch.context() as patch:
        read_as_large(patch, SIZE // 2)
        tracemalloc.start()
        written = import_body(body, given).body
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return written, peak


@for_each("name", [name for name in DOCUMENTS if len(DOCUMENTS[name]()) > 1])
def test_an_import_keeps_no_items(name: str) -> None:
    """Memory holds the file, and the messages that were written of it."""
    one = json.dumps(DOCUMENTS[name]()).replace(ANSWER, ANSWER * 200)
    count = SIZE // len(one)
    body = f"[{','.join([one[1:-1]] * count)}]".encode()
    import_body(one.encode(), Import(is_restored=False))  # fills what is kept for all files
    written, peak = import_measured(body, Import(is_restored=False))
    assert peak < 1.3 * len(written) + 0.5 * len(body)


PLACES: dict[str, tuple[str | int, ...]] = {
    "adk": ("events",),
    "inspect_ai": ("samples", 0, "messages"),
    "langgraph": ("values", "messages"),
    "letta": ("agents", 0, "messages"),
    "mini_swe_agent_v1": ("messages",),
    "sharegpt": ("conversations",),
    "tau2": ("simulations", 0, "messages"),
    "vscode": ("requests",),
}
"""The lists that hold the conversation in files that are one document."""
AS_TEXT = {"cassette", "otel_span"}
"""The producers whose conversation is JSON in a text of the document, which stays in memory beside it."""


def test_the_places_are_those_of_all_documents() -> None:
    documents = {name for name, make in DOCUMENTS.items() if len(make()) == 1}
    assert documents == PLACES.keys() | AS_TEXT | WITHOUT_RESULTS


@for_each("name", PLACES)
def test_an_import_of_a_document_keeps_no_items(name: str) -> None:
    """The list in it that holds the conversation is decoded item by item."""
    document = json.loads(json.dumps(DOCUMENTS[name]()[0]).replace(ANSWER, ANSWER * 200))
    *path, last = PLACES[name]
    holder = document
    for key in path:
        holder = holder[key]
    count = SIZE // len(json.dumps(holder[last]))
    holder[last] = holder[last] * count
    body = json.dumps(document).encode()
    del document, holder
    written, peak = import_measured(body, Import(is_restored=False))
    assert written.count(FAILURE.encode()) >= count
    assert peak < 1.3 * len(written) + 0.5 * len(body)


def test_an_import_with_branches_keeps_no_messages() -> None:
    """They are written as records at once: only what comes before the first branch is written twice."""
    *_, entry = DOCUMENTS["pi"]()
    entry["message"]["content"] = [{"type": "text", "text": ANSWER * 200}]
    branches = [{**entry, "id": name, "parentId": None} for name in ("left", "n0")]
    chain = ({**entry, "id": f"n{number}", "parentId": f"n{number - 1}"} for number in range(1, 400))  # fmt: skip
    body = "\n".join(map(json.dumps, [*branches, *chain])).encode()
    given = Import(is_restored=False)
    written, peak = import_measured(body, given)
    assert given.has_places
    assert peak < 1.3 * len(written) + 0.5 * len(body)


@for_each("last", [{}, {"n": 1}])
@for_each("places", [{}, {0: ("", False)}, {1: ("", False)}, {2: ("", False)}, {2: ("a", True)}, {1: ("", False), 2: ("", False)}])  # fmt: skip
def test_the_last_record_is_active(places: dict[int, tuple[str, bool]], last: JsonObject) -> None:
    """``Import.in_records`` links the active ones, and the last that is not empty."""
    given = Import()
    given._places = places
    messages = [{"n": 0}, {}, {"n": 2}, {}, last]
    records = list(given.in_records(messages))
    assert [record.get("message", {}) for record in records] == messages
    above, end = None, 4 if last else 2
    for position, record in enumerate(records):
        scope, is_active = places.get(position, ("", True))
        if not messages[position]:
            assert record == {}
            continue
        is_on = not scope and (is_active or position == end)
        assert record["parentUuid"] == (above if is_on else None)
        above = record["uuid"] if is_on else above


def survey_and_text(api: ModuleType, body: bytes) -> tuple[Any, ...]:
    try:
        return api.extract_tool_blocks(body), api.carry(body), api.dialogue(body)
    except InputError as error:
        return (str(error),)


@PRODUCER
def test_calls_results_and_failures(api: ModuleType, rust: ModuleType, name: str) -> None:
    body = body_of(DOCUMENTS[name]())
    found = rust.inspect(body)
    assert found.shape == IMPORTER[name].NAME
    has_results, can_fail = name not in WITHOUT_RESULTS, name not in WITHOUT_FAILURE
    assert (found.calls, found.results) == (2, 2 if has_results else 0)
    assert found.errors == (1 if has_results and can_fail else 0)
    assert not found.unread
    assert found.orphan_results == found.side_chain_blocks == found.other_branch_blocks == 0
    kept = blocks(api, body)
    assert all(block.notes.is_active for block in kept)
    if name not in WITHOUT_IDS:
        assert [block.call_id for block in kept] == ["c1", "c2"]
    assert {block.tool_name for block in kept} <= {NAME, "shell", "bash"}


@PRODUCER
def test_the_context_and_the_dialogue(api: ModuleType, name: str) -> None:
    body = body_of(DOCUMENTS[name]())
    shown = api.carry(body, policy=WHOLE).text
    if name not in WITHOUT_RESULTS:
        assert ANSWER in shown
        assert FAILURE in shown
    said = api.dialogue(body)
    assert f"[ASSISTANT]\n{SAID}\n[/ASSISTANT]" in said
    if name not in WITHOUT_USER:
        assert f"[USER]\n{ASKED}\n[/USER]" in said
    assert ANSWER not in said


@PRODUCER
def test_objects_lines_and_documents_are_the_same(
    api: ModuleType, rust: ModuleType, name: str
) -> None:
    items = DOCUMENTS[name]()
    context = api.carry(items, policy=WHOLE).text
    for body in (json.dumps(items).encode(), as_lines(items), body_of(items)):
        assert api.carry(body, policy=WHOLE).text == context
        assert api.dialogue(body) == api.dialogue(items)
        assert rust.inspect(body).calls == 2


@PRODUCER
def test_blocks_one_by_one(api: ModuleType, name: str) -> None:
    """The producer's own objects come back, and the steps read them without their messages."""
    items = DOCUMENTS[name]()
    found = blocks(api, items)
    own = set(map(id, walk(items)))
    assert name in WITHOUT_OWN or all(
        id(block.tool_use) in own for block in found if block.tool_use is not None
    )
    kept = api.deduplicate_tools(found)
    assert len(kept) == 2


@PRODUCER
def test_messages_are_not_changed(api: ModuleType, rust: ModuleType, name: str) -> None:
    items = DOCUMENTS[name]()
    before = copy.deepcopy(items)
    api.carry(items)
    rust.project(items, policy=ProjectPolicy(repair=True))
    assert items == before
    body = body_of(items)
    assert rust.project_body(body, policy=ProjectPolicy(repair=True)).report.mends == ()


@for_each("name", sorted(DOCUMENTS.keys() - WITHOUT_RESULTS))
def test_it_converts(api: ModuleType, name: str) -> None:
    written = json.dumps(api.convert(body_of(DOCUMENTS[name]()), to="openai").messages)
    assert ANSWER in written
    assert SAID in written


@PRODUCER
def test_exactly_one_importer_claims_it(name: str) -> None:
    items = DOCUMENTS[name]()
    assert recognise(items) is IMPORTER[name]
    for other, importer in IMPORTER.items():
        claimed = [item for item in items if importer.claims(item)]
        assert (claimed != []) == (other == name), (other, claimed)


@for_each("family", FAMILIES)
def test_no_importer_claims_another_format(family: str) -> None:
    assert recognise(FAMILIES[family]("t1")) is None


def walk(value: Any) -> Iterator[Any]:
    """Every object and list in a document, itself included."""
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from walk(each)


BACKENDS: tuple[Name, Name] = ("python", "rust")
WRONG: list[Any] = [None, 7, -1.5, True, "", "x" * 70_000, [], {}, [[]], [None], [{}], {"type": 7}, {"": [7]}]  # fmt: skip


def damaged(items: list[JsonObject]) -> Iterator[list[JsonObject]]:
    """The conversation with each of its members missing once, and replaced once by each of the wrong values in turn.

    By default, a member is missing or replaced, in turns.
    """
    turn, written = 0, orjson.dumps(items)
    for number, holder in enumerate(walk(items)):
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder))) if isinstance(holder, list) else []  # fmt: skip
        for key in keys:
            both = (walk, WRONG[turn % len(WRONG)])
            for value in both if IS_LONG else (both[turn % 2],):
                other = orjson.loads(written)
                place = next(each for at, each in enumerate(walk(other)) if at == number)
                if value is walk:
                    del place[key]
                else:
                    place[key] = value
                if all(isinstance(item, dict) for item in other):
                    yield other
            turn += 1


@PRODUCER
def test_nothing_breaks_it(rust: ModuleType, name: str) -> None:
    """A member that is missing, of another type or huge is reported or left alone; it is never a traceback."""
    for number, items in enumerate(damaged(DOCUMENTS[name]())):
        both = items, as_lines(items)
        for given in both if IS_LONG else (both[number // 2 % 2],):
            try:
                found = rust.inspect(given)
            except InputError:
                continue
            assert found.calls <= (4 if name in WITH_COPIES else 2)
            for backend in BACKENDS if IS_LONG else (BACKENDS[number // 4 % 2],):
                with using(backend):
                    carry(given)
                    dialogue(given)


@PRODUCER
def test_no_loss_is_named_that_the_import_made(api: ModuleType, name: str) -> None:
    losses = api.convert(body_of(DOCUMENTS[name]()), to="openai-chat").losses
    assert not [loss for loss in losses if "imported" in loss.detail]


def test_all_importers_are_listed_once() -> None:
    names = [importer.NAME for importer in IMPORTERS]
    assert len(set(names)) == len(names)


def test_messages_of_extensions_of_pi_are_the_clients(api: ModuleType) -> None:
    note = {
        "type": "custom_message",
        "id": "n",
        "parentId": None,
        "content": "The barn is shut.",
        "display": False,
    }
    said = {
        "type": "message",
        "id": "m",
        "parentId": "n",
        "message": {"role": "user", "content": "Open it."},
    }
    told = "[CLIENT]\nThe barn is shut.\n[/CLIENT]\n\n[USER]\nOpen it.\n[/USER]"
    for is_displayed in (False, True):
        assert api.dialogue([note | {"display": is_displayed}, said]) == told


def test_an_answer_of_genkit_without_its_call(rust: ModuleType) -> None:
    answer = {
        "role": "tool",
        "content": [{"toolResponse": {"ref": "c", "name": "look", "output": "bales"}}],
    }
    found = rust.inspect([answer])
    assert (found.shape, found.results, found.orphan_results) == ("genkit", 1, 1)

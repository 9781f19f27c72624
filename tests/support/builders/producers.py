"""A conversation of each producer whose files are imported as a whole: the samples in ``tests/samples``.

Each has the user's question, what the assistant says, a call that is answered, and one that fails. A sample is a list of
the objects of a file: its lines, its list, or the only document in it.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]

ASKED, SAID = "What is in the barn?", "I open the door."
ANSWER, FAILURE = "forty bales", "the loft is locked"
FIRST, SECOND = {"path": "barn"}, {"path": "loft"}
NAME = "look"
SAMPLES = Path(__file__).parents[2] / "samples"


def sample(name: str) -> list[JsonObject]:
    """A new copy of a producer's objects."""
    found: list[JsonObject] = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
    return found


def exchange(sent: JsonObject, answer: JsonObject | str) -> JsonObject:
    """A request with its response, as VCR records them; the answer is a document, or the text of a stream."""
    written = answer if isinstance(answer, str) else json.dumps(answer)
    request = {"method": "POST", "uri": "https://llm.example/v1", "body": json.dumps(sent), "headers": {}}  # fmt: skip
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": written}}  # fmt: skip
    return {"request": request, "response": response}


DOCUMENTS = {path.stem: partial(sample, path.stem) for path in sorted(SAMPLES.glob("*.json"))}
WITHOUT_USER = frozenset(("codex_exec", "answers", "provider_answers"))
"""The producers whose files don't have what the user said."""
WITHOUT_FAILURE = frozenset(("genkit", "llama_index", "otel_span", "sharegpt", "cassette"))
"""The producers that cannot say that a tool failed."""
WITH_COPIES = frozenset(("iflow",))
"""The producers that write each call twice; a damaged copy is a call of its own."""
WITHOUT_RESULTS = frozenset(("answers", "provider_answers"))
WITHOUT_OWN = frozenset(("adk", "otel_span", "mini_swe_agent_v1", "cassette"))
"""The producers whose calls are made of a text, or without the members that are null."""
WITHOUT_IDS = frozenset(("cursor", "sharegpt", "mini_swe_agent", "mini_swe_agent_v1"))

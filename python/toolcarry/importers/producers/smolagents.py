"""smolagents: the steps of a run, each with its calls and what was observed."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object
from toolcarry.importers.producers.base import About, Imported, Signs, ToolResult, nothing, objects
from toolcarry.model.formats import chat

NAME = "smolagents"
ABOUT = About(
    "smolagents, the steps of an agent's memory",
    "`task` with `task_images`; `step_number` with `observations`",
    "smolagents 1.26.0, real dumps",
)
SIGNS = Signs(("task_images", "output", "observations"))
ASIDE = frozenset(("model_input_messages", "model_output_message", "code_action", "action_output"))


def claims(message: JsonObject) -> bool:
    return ("task" in message and "task_images" in message) or is_step(message)


def is_step(message: JsonObject) -> bool:
    return "step_number" in message and "observations" in message


def read(message: JsonObject) -> Imported | None:
    if "task" in message and "task_images" in message:
        return Imported(NAME, "user", message["task"])
    if not is_step(message):
        # The answer at the end, alone in its step, repeats what the last step observed.
        is_plan = "plan" in message or "system_prompt" in message or [*message] == ["output"]
        return Imported(NAME) if is_plan and "role" not in message else None
    calls = [chat.to_call(entry) for entry in objects(message.get("tool_calls"))]
    seen = result(message)
    results = [seen._replace(call_id=calls[0].call_id)] if seen is not None and calls else []
    # A step observes once, whatever it called.
    return Imported(NAME, "assistant", message.get("model_output"), calls, results)


call = nothing


def result(wire: JsonObject) -> ToolResult | None:
    error = as_object(wire.get("error"))
    content = wire.get("observations")
    if not is_step(wire) or (content is None and error is None):
        return None
    if content is None and error is not None:
        content = error.get("message")
    return ToolResult(wire, "", "", content, error is not None)

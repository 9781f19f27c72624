"""Messages checked by the types of the providers' own SDKs.

The types of Anthropic's and OpenAI's SDKs are checked strictly by pydantic, and Google's and Ollama's are models of it;
Amazon's SDK checks parameters by the service's own model.
"""

from collections.abc import Callable
from typing import Any

from support.sdk import sdk

Check = Callable[[list[Any]], None]


def by_type(kind: Any) -> Check:
    """Check messages by the type of a list of them."""
    adapter = sdk("pydantic").TypeAdapter(list[kind])

    def check(messages: list[Any]) -> None:
        adapter.validate_python(messages, strict=True)

    return check


def responses() -> Check:
    check = by_type(sdk("openai.types.responses").ResponseInputItemParam)
    return lambda items: check(list(map(with_ids, items)))


def with_ids(item: Any) -> Any:
    """Return an item with the members that the types ask for, and the server does not: openai/openai-python#3544."""
    kind = item.get("type", "message")
    if kind.startswith("local_shell_call"):
        return {"id": "lsh_1", **item}
    if kind != "message" or isinstance(item["content"], str):
        return item
    if item["role"] != "assistant":
        images = {"input_image": {"detail": "auto"}}
        content = [{**images.get(part["type"], {}), **part} for part in item["content"]]
        return {**item, "content": content}
    content = [{"annotations": [], **part} for part in item["content"]]
    return {"id": "msg_1", "status": "completed", **item, "type": "message", "content": content}


def ollama() -> Check:
    request = sdk("ollama._types").ChatRequest

    def check(messages: list[Any]) -> None:
        request(model="m", messages=messages)

    return check


def gemini() -> Check:
    content = sdk("google.genai.types").Content

    def check(contents: list[Any]) -> None:
        for each in contents:
            content.model_validate(each)

    return check


def bedrock() -> Check:
    model = sdk("botocore.session").get_session().get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape
    validator = sdk("botocore.validate").ParamValidator()

    def check(messages: list[Any]) -> None:
        report = validator.validate({"modelId": "m", "messages": decoded(messages)}, shape)
        assert not report.has_errors(), report.generate_report()

    return check


def decoded(value: Any) -> Any:
    """Return messages of Converse with bytes where JSON has base64."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: decoded(item) for name, item in value.items()}
    if isinstance(found.get("bytes"), str):
        found["bytes"] = found["bytes"].encode()
    return found


MAKERS: dict[str, Callable[[], Check]] = {
    "anthropic": lambda: by_type(sdk("anthropic.types").MessageParam),
    "openai": lambda: by_type(sdk("openai.types.chat").ChatCompletionMessageParam),
    "responses": responses,
    "ollama": ollama,
    "gemini": gemini,
    "bedrock": bedrock,
}

"""OpenTelemetry's SDK writes spans of the talk: as JSON, as OTLP JSON, by its conventions and by OpenInference."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, SAID, TURNS, answered, check

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed; `just frameworks` installs it")  # fmt: skip


def messages() -> list[Any]:
    """The talk as ``gen_ai.input.messages`` has it."""
    found: list[Any] = []
    for asked, calls in TURNS:
        if asked is not None:
            found.append({"role": "user", "parts": [{"type": "text", "content": asked}]})
        said = [{"type": "text", "content": SAID}] if asked == ASKED else []
        made = [{"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls]  # fmt: skip
        found.append({"role": "assistant", "parts": [*said, *made]})
        results = [{"type": "tool_call_response", "id": call.call_id, "response": text} for call, text in answered(calls)]  # fmt: skip
        found.append({"role": "tool", "parts": results})
    return found


def by_conventions(span: Any) -> None:
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": DONE}], "finish_reason": "stop"}]  # fmt: skip
    span.set_attribute("gen_ai.operation.name", "chat")
    for side, given in (("input", messages()), ("output", answer)):
        span.set_attribute(f"gen_ai.{side}.messages", json.dumps(given, ensure_ascii=False))


def by_open_inference(span: Any) -> None:
    conventions = pytest.importorskip("openinference.semconv.trace", reason="openinference is not installed")  # fmt: skip
    message, call_names, span_names = (
        conventions.MessageAttributes,
        conventions.ToolCallAttributes,
        conventions.SpanAttributes,
    )
    number = -1

    def add(role: str, **members: str) -> str:
        nonlocal number
        number += 1
        place = f"{span_names.LLM_INPUT_MESSAGES}.{number}."
        for name, value in {message.MESSAGE_ROLE: role, **members}.items():
            span.set_attribute(place + name, value)
        return place

    for asked, calls in TURNS:
        if asked is not None:
            add("user", **{message.MESSAGE_CONTENT: asked})
        said = {message.MESSAGE_CONTENT: SAID} if asked == ASKED else {}
        place = add("assistant", **said)
        for at, call in enumerate(calls):
            held = f"{place}{message.MESSAGE_TOOL_CALLS}.{at}."
            span.set_attribute(held + call_names.TOOL_CALL_ID, call.call_id)
            span.set_attribute(held + call_names.TOOL_CALL_FUNCTION_NAME, call.name)
            span.set_attribute(held + call_names.TOOL_CALL_FUNCTION_ARGUMENTS_JSON, json.dumps(call.arguments))  # fmt: skip
        for call, text in answered(calls):
            add("tool", **{message.MESSAGE_CONTENT: text, message.MESSAGE_TOOL_CALL_ID: call.call_id})  # fmt: skip
    place = f"{span_names.LLM_OUTPUT_MESSAGES}.0."
    span.set_attribute(place + message.MESSAGE_ROLE, "assistant")
    span.set_attribute(place + message.MESSAGE_CONTENT, DONE)


@pytest.mark.parametrize("fill", [by_conventions, by_open_inference])
def test_spans(api: ModuleType, fill: Any) -> None:
    from opentelemetry.sdk.trace import SpanLimits, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_attributes=10**4))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("zaun")
    with tracer.start_as_current_span("run"), tracer.start_as_current_span("chat") as span:
        fill(span)
    spans = exporter.get_finished_spans()
    kind = fill.__name__.removeprefix("by_").replace("_", " ")
    package = "opentelemetry-sdk" if fill is by_conventions else "openinference-semantic-conventions"  # fmt: skip
    lines = "\n".join(span.to_json(indent=None) for span in spans)
    # No attribute of a result says that it failed.
    check(api, package, f"spans, to_json, {kind}", lines.encode(), "otel-span", lost_failures=True)
    encoder = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder", reason="the exporter of OTLP is not installed")  # fmt: skip
    from google.protobuf.json_format import MessageToJson

    request = MessageToJson(encoder.encode_spans(spans))
    check(api, package, f"OTLP as JSON, {kind}", request.encode(), "otel-span", lost_failures=True)
    line = json.dumps(json.loads(request))
    check(api, package, f"OTLP as lines, {kind}", f"{line}\n".encode(), "otel-span", lost_failures=True)  # fmt: skip

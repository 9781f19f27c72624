"""Whose a request is, by what clients send."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry.integrations.identity import (
    Identification,
    RequestIdentity,
    RequestView,
    backend_of,
    bounded,
    conversation_of,
    is_side_request,
    opening,
    tenant_of,
)
from toolcarry.switch.request_fields import read_fields

UUID = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"


def view(body: object = None, path: str = "/v1/messages", **headers: str) -> RequestView:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestView(path, given, b"" if body is None else json.dumps(body).encode())


@for_each(
    "name",
    [
        "x-toolcarry-conversation",
        "x-claude-code-session-id",
        "x-litellm-session-id",
        "x-session-id",
        "session-id",
        "session_id",
        "conversation_id",
        "thread-id",
        "x-acme-session-id",
    ],
)
def test_a_header_names_the_conversation(name: str) -> None:
    assert conversation_of(RequestView("/", {name: "c1"}, b"")) == "c1"


@for_each(
    ("body", "found"),
    [
        ({"metadata": {"user_id": f"user_9f_account_{UUID}_session_{UUID}"}}, UUID),
        ({"metadata": {"user_id": json.dumps({"device_id": "d", "session_id": UUID})}}, UUID),
        ({"metadata": {"user_id": "{not json"}}, ""),
        ({"metadata": {"user_id": "user-17"}}, ""),
        ({"metadata": {"user_id": 17}}, ""),
        ({"metadata": {"session_id": "s1"}}, "s1"),
        ({"metadata": "session_1"}, ""),
        ({"prompt_cache_key": UUID}, UUID),
        ({"prompt_cache_key": "my-application-v1"}, ""),
        ({"conversation": "conv_1"}, "conv_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        ({"conversation": {"id": ["conv_1"]}}, ""),
        ({"messages": [{"role": "user", "content": "x-session-id: s1"}]}, ""),
        ([1, 2], ""),
        ("text", ""),
        (None, ""),
    ],
)
def test_a_body_names_the_conversation(body: object, found: str) -> None:
    assert conversation_of(view(body)) == found


def test_a_header_counts_before_the_body_and_an_empty_one_not_at_all() -> None:
    assert conversation_of(view({"conversation": "b"}, x_session_id="h")) == "h"
    assert conversation_of(view({"conversation": "b"}, x_session_id="  ")) == "b"


def test_half_of_a_pair_in_a_message_hides_nothing() -> None:
    body = (
        b'{"model": "m", "messages": [{"role": "user", "content": "\\ud83d"}], "conversation": "c"}'
    )
    request = RequestView("/v1/responses", {"x-api-key": "k"}, body)
    assert Identification()(request) == RequestIdentity(tenant_of(request), "c", "m")


def test_the_tenant_is_a_hash_of_the_key_in_any_header() -> None:
    tenants = {
        tenant_of(view(x_api_key="sk-1")),
        tenant_of(view(authorization="Bearer sk-1")),
        tenant_of(view(authorization="bearer  sk-1 ")),
        tenant_of(view(x_goog_api_key="sk-1")),
    }
    assert len(tenants) == 1
    tenant = tenants.pop()
    # It is stored, and has to be the same after a restart.
    assert tenant == hashlib.sha256(b"toolcarry tenant 1\0sk-1").hexdigest()
    assert tenant != tenant_of(view(x_api_key="sk-2"))


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer "}, {"x_api_key": " "}])
def test_without_a_key_there_is_no_tenant(headers: dict[str, str]) -> None:
    assert tenant_of(view(**headers)) == ""
    assert Identification()(view({"model": "m"}, x_session_id="s1", **headers)) is None


@for_each(
    "name",
    [
        "x-forwarded-for",
        "x-forwarded-user",
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "true-client-ip",
        "x-envoy-external-address",
        "cf-connecting-ip",
        "cookie",
        "x-litellm-key",
        "x-auth-token",
        "x-portkey-authorization",
        "proxy-authorization",
    ],
)
def test_a_request_without_a_key_is_the_hosts_unless_a_header_tells_of_another_user(
    name: str,
) -> None:
    identify = Identification(keyless_tenant="me")
    body = {"model": "m", "messages": []}
    own: dict[str, str] = {"user_agent": "Zed/1.0", "x_request_id": "r1", "x_keypad": "1"}
    found = [identify(view(body, **headers)) for headers in ({}, own, {"x_api_key": "k"})]
    key = tenant_of(view(body, x_api_key="k"))
    assert [each and each.tenant for each in found] == ["me", "me", key]
    assert identify(view(body, **{name.replace("-", "_"): "192.0.2.7"})) is None


def test_without_its_id_a_conversation_is_known_by_how_it_begins() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
    asked = view(body, x_api_key="k", user_agent="Zed/1.0")
    not_guessing = Identification(guess_conversation=False)
    assert not_guessing(asked) == RequestIdentity(tenant_of(asked), "", "m", client="Zed/1.0")
    guessing = Identification()
    found = guessing(view(body, x_api_key="k"))
    body["messages"] += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    assert found is not None
    assert guessing(view(body, x_api_key="k")) == found
    assert found.is_guessed
    other = {"model": "m", "messages": [{"role": "user", "content": "Stop."}]}
    assert guessing(view(other, x_api_key="k")) != found


def guessed_for(key: str, agent: str, address: str, tenant: str = "") -> str:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Go."}]}'
    headers = {"x-api-key": key, "user-agent": agent}
    scope = {"client": (address, 50_000)}
    found = Identification(tenant)(RequestView("/v1/messages", headers, body, scope))
    assert found is not None
    return found.conversation


def test_guesses_of_other_clients_differ() -> None:
    mine = guessed_for("k", "Zed/1.0", "10.0.0.1", "all")
    assert guessed_for("k", "Zed/1.0", "10.0.0.1", "all") == mine
    others = [
        ("j", "Zed/1.0", "10.0.0.1"),
        ("k", "Aider", "10.0.0.1"),
        ("k", "Zed/1.0", "10.0.0.2"),
    ]
    assert len({mine, *(guessed_for(*other, "all") for other in others)}) == 4


def test_headers_for_the_host_are_believed_only_where_it_says_so() -> None:
    headers = {
        "x_toolcarry_tenant": "them",
        "x_toolcarry_backend": "theirs",
        "x_api_key": "k",
        "x_session_id": "s",
    }
    request = view({"model": "m"}, **headers)
    assert Identification()(request) == RequestIdentity(tenant_of(request), "s", "m")
    trusting = Identification(
        tenant_header="X-Toolcarry-Tenant", backend_header="X-Toolcarry-Backend"
    )
    assert trusting(request) == RequestIdentity("them", "s", "theirs")
    # Where the header is to say it, a key does not.
    assert trusting(view({"model": "m"}, x_api_key="k", x_session_id="s")) is None


def test_the_backend_is_the_hosts_word_or_the_model() -> None:
    request = view({"model": "m"}, x_session_id="s")
    assert Identification("me")(request) == RequestIdentity("me", "s", "m")
    assert Identification("me", backend="b")(request) == RequestIdentity("me", "s", "b")
    by_path = Identification("me", backend=lambda request: request.path)
    assert by_path(request) == RequestIdentity("me", "s", "/v1/messages")


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1beta/models/gemini-2.5-pro:streamGenerateContent", "gemini-2.5-pro"),
        ("/model/us.anthropic.claude%3A0/converse-stream", "us.anthropic.claude:0"),
        ("/model/arn:aws:bedrock:x/claude/converse", "arn:aws:bedrock:x/claude"),
        ("/v1/messages", "body"),
    ],
)
def test_the_model_may_be_in_the_path(path: str, model: str) -> None:
    assert backend_of(view({"model": "body"}, path)) == model


@for_each(
    ("path", "is_side"),
    [
        ("/v1/messages/count_tokens", True),
        ("/v1/responses/input_tokens", True),
        ("/v1beta/models/gemini:countTokens", True),
        ("/v1beta/models/gemini:generateContent", False),
        ("/v1/messages", False),
    ],
)
def test_counts_are_requests_on_the_side(path: str, is_side: bool) -> None:
    assert is_side_request(path) is is_side


def test_one_session_of_two_tenants_is_two_conversations() -> None:
    identify = Identification()
    mine, theirs = (identify(view(x_api_key=key, x_session_id="s1")) for key in ("a", "b"))
    assert mine is not None
    assert theirs is not None
    assert mine.conversation == theirs.conversation
    assert mine.tenant != theirs.tenant


@given(st.text())
def test_every_id_is_short_and_plain(text: str) -> None:
    found = bounded(text)
    assert len(found) <= 200
    assert found.isascii()
    assert bool(found) == bool(text.strip())
    assert bounded(found) == found


@given(st.binary() | st.recursive(st.none() | st.text(), lambda x: st.lists(x) | st.dictionaries(
    st.sampled_from(["messages", "input", "contents", "role", "type", "content", "metadata", "model"]), x
)).map(lambda document: json.dumps(document).encode()))  # fmt: skip
def test_nothing_in_a_body_is_an_error(body: bytes) -> None:
    fields = read_fields(body)
    assert isinstance(opening(fields), str)
    Identification("me", guess_conversation=True)(RequestView("/v1/messages", {}, body))


@for_each(
    "body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"messages": [' + b"[" * 5_000, b"\xff", b""]
)
def test_other_bodies_are_not_read(body: bytes) -> None:
    assert opening(read_fields(body)) == ""


def user(content: object, **members: object) -> dict[str, object]:
    return {"role": "user", "content": content, **members}


def test_an_opening_stays_the_same_under_usual_edits_of_clients() -> None:
    said = {"type": "text", "text": "Go."}
    marked = {**said, "cache_control": {"type": "ephemeral"}}
    answer = {"role": "assistant", "content": "\ud83d"}
    bodies = [
        {"messages": [user("Go.")]},
        {"messages": [user([said])]},
        {"messages": [user([marked]), {"role": "assistant", "content": "Yes."}, user("And?")]},
        {"messages": [user([said]), answer, user("And?")]},
        {"messages": [{"content": [{"text": "Go.", "type": "text"}], "role": "user"}]},
        {"input": "Go."},
    ]
    assert len({opening(read_fields(json.dumps(body).encode())) for body in bodies}) == 1


def test_an_opening_distinguishes_lines() -> None:
    bodies = [
        {"messages": [user("Go.")]},
        {"messages": [user("Go!")]},
        {"messages": [user("Go."), user("On.")]},
        {"messages": [{"role": "system", "content": "Name it."}, user("Go.")]},
        {"messages": [user("\ud83d")]},
        {"contents": [{"parts": [{"text": "Go!?"}]}]},
    ]
    assert len({opening(read_fields(json.dumps(body).encode())) for body in bodies}) == len(bodies)


@pytest.mark.parametrize("body", [{"messages": []}, {"messages": [{"role": "assistant"}]}, {}])
def test_a_body_without_messages_has_no_opening(body: object) -> None:
    assert opening(read_fields(json.dumps(body).encode())) == ""

"""The tokens of files, documents, search results and wrapped texts in messages and results."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import assistant, result, use, user
from support.rows import for_each

from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.message_pieces import MEDIA_TOKENS

BASE64 = "iVBORw0KGgo" * 2_000
PDF = f"data:application/pdf;base64,{BASE64}"
PNG = f"data:image/png;base64,{BASE64}"
LONG = "The quick brown fox jumps. " * 200


def tokens(text: str) -> int:
    return count_tokens(text, "o200k_base")


def counted(api: ModuleType, *messages: Any) -> int:
    """Return the count, which is the same for objects and for bytes."""
    found: int = api.count_tokens(list(messages))
    assert api.count_tokens(json.dumps({"messages": messages}).encode()) == found
    return found


@for_each(
    "part",
    [
        {"type": "input_file", "filename": "a.pdf", "file_data": PDF},
        {"type": "input_file", "file_id": "file-1"},
        {"type": "input_file", "file_url": "https://a/b.pdf"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "base64": BASE64, "mime_type": "application/pdf"},
        {"type": "file", "data": BASE64, "mime_type": "application/pdf"},
        {"type": "video_url", "video_url": {"url": "https://a/b.mp4"}},
        {"type": "audio_url", "audio_url": {"url": "https://a/b.mp3"}},
        {"type": "document_url", "document_url": "https://a/b.pdf"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": BASE64}},
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
        {"guardContent": {"image": {"format": "png", "source": {"bytes": BASE64}}}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a/b.mp4"}},
    ],
)  # fmt: skip
def test_a_file_counts_a_constant(api: ModuleType, part: Any) -> None:
    assert (
        counted(api, user({"type": "text", "text": "Read"}, part)) == tokens("Read") + MEDIA_TOKENS
    )


@for_each(
    ("part", "text"),
    [
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": LONG}}, LONG),
        ({"type": "document", "source": {"type": "content", "content": LONG}}, LONG),
        ({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": LONG}]}}, LONG),
        ({"document": {"format": "txt", "name": "n", "source": {"text": LONG}}}, LONG),
        (
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": LONG}]},
            f"[search_result: t, s]\n{LONG}",
        ),
        (
            {"searchResult": {"source": "s", "title": "t", "content": [{"text": LONG}]}},
            f"[search_result: t, s]\n{LONG}",
        ),
        ({"guardContent": {"text": {"text": LONG}}}, LONG),
        ({"citationsContent": {"content": [{"text": LONG}]}}, LONG),
        ({"type": "compaction", "content": LONG}, LONG),
        ({"type": "refusal", "refusal": LONG}, LONG),
    ],
)  # fmt: skip
def test_text_in_a_wrapper_counts_as_that_text(api: ModuleType, part: Any, text: str) -> None:
    assert counted(api, user(part)) == tokens(text)


def test_images_in_a_document_count(api: ModuleType) -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": BASE64},
    }
    content = [{"type": "text", "text": "A page"}, image]
    document = {"type": "document", "source": {"type": "content", "content": content}}
    for message in (user(document), user(result("t1", [document]))):
        assert MEDIA_TOKENS < counted(api, message) < MEDIA_TOKENS + 40


@pytest.mark.parametrize("content", [PNG, [PNG], [{"type": "text", "text": PNG}], {"output": PNG}])
def test_a_data_url_in_a_result_counts_as_its_medium(api: ModuleType, content: Any) -> None:
    shot = assistant(use("t1", "shot"))
    found = counted(api, shot, user(result("t1", content)))
    wanted = MEDIA_TOKENS if not isinstance(content, dict) else 0
    assert wanted < found < wanted + 60
    assert BASE64 not in api.carry([shot, user(result("t1", content))]).text


def test_a_text_that_speaks_of_a_data_url_is_text(api: ModuleType) -> None:
    for text in ("data: three rows", "data:image/png;base32,aaaa", f"See {PNG[:90]}"):
        assert counted(api, user(result("t1", text))) == tokens(text)


def test_a_listing_of_files_holds_none(api: ModuleType) -> None:
    listing = [{"type": "file", "name": "a.txt", "url": "https://a"}, {"type": "dir", "name": "b"}]
    written = "\n".join(json.dumps(each, separators=(",", ":")) for each in listing)
    assert counted(api, user(result("t1", listing))) == tokens(written)

"""Generated tool calls and results, by name, input and content; a shape makes wire objects of them."""

from typing import Any, NamedTuple

from hypothesis import strategies as st
from support.strategies.texts import commands, hostile, json_values, paths, texts

READ_NAMES = (
    "Read",
    "read_file",
    "VIEW",
    "NotebookRead",
    "mcp__fs__read_file",
    "str_replace_editor",
)
EDIT_NAMES = ("Edit", "MultiEdit", "Write", "write_file", "apply_diff", "mcp__fs__Write")
COMMAND_NAMES = ("Bash", "bash", "SHELL", "run_terminal_cmd", "mcp__x__terminal")
OTHER_NAMES = ("Grep", "WebSearch", "Task", "mcp__x__y", "mcp__", "mcp____read")
STRANGE_NAMES = (
    "",
    "unknown",
    "# x",
    "~~~",
    "<!--",
    "## Summary",
    "- a\n# b",
    "\ud800",
    "tool\x00",
)
PATH_KEYS = ("file_path", "path", "filePath", "target_file", "notebook_path", "filename")


class ToolCall(NamedTuple):
    """A call without its id."""

    name: str
    input: Any


line_numbers = st.integers(0, 30) | st.sampled_from(
    (1, 100, 2000, 2001, 5000, -1, None, "7", 1 << 60)
)
ranges = st.one_of(
    st.just({}),
    st.fixed_dictionaries({}, optional={"offset": line_numbers, "limit": line_numbers}),
    st.fixed_dictionaries({}, optional={"start_line": line_numbers, "end_line": line_numbers}),
    st.lists(line_numbers, min_size=1, max_size=3).map(lambda given: {"view_range": given}),
)
replacements = st.fixed_dictionaries(
    {}, optional={"old_string": texts, "new_string": texts, "old_str": texts, "new_str": texts}
)
changes = st.one_of(
    replacements,
    st.lists(replacements | json_values, max_size=3).map(lambda edits: {"edits": edits}),
    texts.map(lambda text: {"content": text}),
    texts.map(lambda text: {"file_text": text}),
    texts.map(lambda text: {"diff": text}),
    st.just({}),
)
commands_given = (
    commands | st.lists(commands | json_values, max_size=4) | st.just(["bash", "-lc", "ls"])
)


def named(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(names) | st.sampled_from(names[:1])


def with_path(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """An input that names a file, and may have other members."""
    key = st.sampled_from(PATH_KEYS) | st.just("file_path")
    file = st.builds(lambda name, path: {name: path}, key, paths)
    return st.tuples(file, *parts).map(
        lambda found: {k: v for part in found for k, v in part.items()}
    )


editor_verbs = st.sampled_from(
    ({"command": "view"}, {"command": "Create"}, {"command": "undo"}, {})
)

calls: st.SearchStrategy[ToolCall] = st.one_of(
    st.builds(ToolCall, named(READ_NAMES), with_path(ranges)),
    st.builds(ToolCall, named(EDIT_NAMES), with_path(changes)),
    st.builds(ToolCall, st.just("str_replace_editor"), with_path(editor_verbs, changes, ranges)),
    st.builds(ToolCall, named(COMMAND_NAMES), st.builds(lambda c: {"command": c}, commands_given)),
    st.builds(
        ToolCall,
        st.sampled_from((*OTHER_NAMES, *STRANGE_NAMES)),
        st.dictionaries(
            st.sampled_from(("pattern", "query", "path", "")) | hostile, json_values, max_size=3
        ),
    ),
    st.builds(
        ToolCall,
        st.sampled_from((*READ_NAMES, *EDIT_NAMES, *COMMAND_NAMES)),
        st.dictionaries(st.sampled_from((*PATH_KEYS, "command")), json_values, max_size=2),
    ),
)

media = st.sampled_from(
    (
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        },
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/4AA="}},
        {"type": "image_url", "image_url": "https://example.org/a.png"},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "plain"},
        },
        {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
        {"type": "image"},
        {"type": 7},
        {},
    )
)
text_parts = texts.map(lambda text: {"type": "text", "text": text})
contents = st.one_of(
    texts,
    st.none(),
    st.lists(st.one_of(text_parts, media, texts, json_values), max_size=3),
    st.lists(text_parts, min_size=1, max_size=2),
    json_values,
)
synthetic = st.sampled_from(
    ("[Request interrupted by user for tool use]", "[Tool result missing due to internal error]")
)

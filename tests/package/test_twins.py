"""The reference ``_pure`` and the crate ``rust/core`` have the same files and the same public names.

A name is public if it has no underscore (Python) or is ``pub`` in any form (Rust). It has a counterpart if the other file
defines the name at all: as a function, a type, a method or a field; for a constant it is enough that the other file uses
it. The overlap of a pair of files is the share of their public names that have one.

If a test fails, give the name to both files, or make it private: an underscore in Python, no ``pub`` in Rust. A name or a
file that the other language can't have goes into ``EXCEPTIONS``, ``ONLY_PYTHON`` or ``ONLY_RUST``, with the reason.
"""

import ast
import json
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "toolcarry" / "_pure"
RUST = ROOT / "rust" / "core" / "src"
TABLES = ROOT / "python" / "toolcarry" / "_data"
PUBLIC_TYPES = ROOT / "python" / "toolcarry" / "types"
LEAST_OVERLAP = 0.85
"""The least median over all pairs of files."""

pytestmark = pytest.mark.skipif(
    not RUST.exists(), reason="the tests run without the sources of the extension"
)

DEFINITION = re.compile(
    r"^[ \t]*(?P<pub>pub(?:\([\w: ]+\))?\s+)?(?:const\s+|unsafe\s+)*"
    r"(?:fn|struct|enum|trait|type|const|static)\s+(?P<name>\w+)",
    re.MULTILINE,
)
STRUCT = re.compile(r"\bstruct \w+[^{;]*\{(.*?)^\s*\}", re.MULTILINE | re.DOTALL)
ENUM = re.compile(r"\benum \w+[^{;]*\{(.*?)^\s*\}", re.MULTILINE | re.DOTALL)
VARIANT = re.compile(r"^\s*([A-Z]\w*)(?=[,({ ])", re.MULTILINE)
FIELD = re.compile(r"^\s*(?:pub(?:\([\w: ]+\))?\s+)?(\w+):", re.MULTILINE)
TABLE = re.compile(r'concat!\(env!\("OUT_DIR"\), "/(\w+)\.rs"\)')
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
UNIT_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)


SPELLED_OTHERWISE = {
    # constructors, in Python ``__init__``
    "new", "with_room", "of",
    # operators and methods of built-in types: ``len(x)``, ``x[i]``, ``x == y``, ``x[:n]``, ``bool(x)``, ``name in x``
    "len", "is_empty", "at", "get", "is", "slice", "first", "last", "start", "end", "find", "starts_with", "ends_with", "clear",
    # access to JSON values: ``as_list``, ``as_object``, ``text_or_empty``
    "list", "object", "text",
    # the variants of an enum, and the text of one: Python has the text itself
    "ALL", "NONE", "name",
    # the length and the spelling of a text as UTF-8 or JSON: Python makes the text
    "utf8_len", "json",
}  # fmt: skip
"""Names that are other syntax in the other language."""


@cache
def python_names(source: str) -> tuple[set[str], set[str]]:
    """Return the public names of a file, and all names that it defines, without leading underscores."""
    public: set[str] = set()
    fields: set[str] = set()
    tree = ast.parse(source)
    for node in tree.body:
        public.update(defined(node))
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    public.add(member.name)
                else:
                    fields.update(defined(member))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            fields.add(node.attr)
    names = {name.lstrip("_") for name in public | fields} | set(CONSTANT.findall(source))
    return {name for name in public if not name.startswith("_")}, names


def defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module or a class defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


@cache
def rust_names(source: str) -> tuple[set[str], set[str]]:
    """Return the public names of a file, and all names that it defines."""
    source = UNIT_TESTS.split(source)[0]
    definitions = list(DEFINITION.finditer(source))
    names = {found["name"] for found in definitions}
    for body in STRUCT.findall(source):
        names.update(FIELD.findall(body))
    for body in ENUM.findall(source):
        names.update(VARIANT.findall(body))
    for table in TABLE.findall(source):
        path = TABLES / f"{table}.json"  # without it, a folder of records
        members = json.loads(path.read_text("utf-8")) if path.exists() else [table]
        names.update(member.upper() for member in members)
    names.update(CONSTANT.findall(source))
    return {found["name"] for found in definitions if found["pub"]}, names


def files(folder: Path, suffix: str, package: str) -> dict[str, Path]:
    """Return the files of a tree by their path without suffix; a folder's own file has the path of the folder."""
    return {
        path.relative_to(folder).with_suffix("").as_posix().removesuffix(f"/{package}"): path
        for path in folder.rglob(f"*{suffix}")
    }


def reader_of(name: str) -> str:
    """Return the type that implements a trait for a file. In Python, the module itself is the reader."""
    return name.rpartition("/")[2].title().replace("_", "")


def common_names(name: str) -> set[str]:
    """Return the names that both files define."""
    return (
        python_names(PYTHON_FILES[name].read_text("utf-8"))[1]
        & rust_names(RUST_FILES[name].read_text("utf-8"))[1]
    )


def differences(name: str) -> tuple[set[str], set[str], float]:
    """Return the public names of a pair of files without counterpart: Python's and Rust's; and the overlap."""
    python, python_all = python_names(PYTHON_FILES[name].read_text("utf-8"))
    rust, rust_all = rust_names(RUST_FILES[name].read_text("utf-8"))
    python, rust = python - SPELLED_OTHERWISE, rust - SPELLED_OTHERWISE - {reader_of(name)}
    python_all = python_all | TYPES
    if name.startswith("formats/"):
        rust_all = rust_all | FORMAT_TRAIT
    public = python | rust
    common = public & python_all & rust_all
    return python - rust_all, rust - python_all, len(common) / len(public) if public else 1.0


TYPES = set[str]().union(
    *(python_names(path.read_text("utf-8"))[0] for path in PUBLIC_TYPES.glob("*.py"))
)
"""The values that callers pass and get. Rust has them in the file that makes them."""
PYTHON_FILES = files(PYTHON, ".py", "__init__")
RUST_FILES = files(RUST, ".rs", "mod")
FORMAT_TRAIT = rust_names(RUST_FILES["formats/message"].read_text("utf-8"))[1]
"""The methods of the trait of formats. A reader in Rust leaves out those whose default it takes."""
PAIRS = sorted(PYTHON_FILES.keys() & RUST_FILES.keys())


ONLY_PYTHON = {
    "__init__": "the package",
    "kernels": "the functions that the binding, rust/py, offers in Rust",
}
ONLY_RUST = {
    "the root of the crate": "lib",
    "vector code; the reference is simple": "simd simd/dispatch simd/dispatch/avx2 simd/dispatch/avx512 "
    "simd/dispatch/tests simd/escapes simd/quarters simd/scalar",
    "orjson and the standard library read JSON in Python": "json json/base64 json/error json/grammar json/nodes "
    "json/scanned json/strings json/value json/write",
    "toolcarry._input reads bytes and objects for both backends": "input input/body_spans input/document input/jsonl input/messages input/value_count",
    "toolcarry.types has the settings and the reports": "context/policy pairing/unread projection/policy",
    "destinations that users define; Python reads them in projection/repair/destinations": "projection/repair/own",
    "constants of a table; Python reads tables where it needs them": "pairing/argument_names text/constants "
    "text/grapheme_table",
    "writes a context without copies; Python joins texts": "context/output",
    "a regular expression of text/sanitize": "text/ansi",
    "texts of JSON that are not decoded yet": "text/escaped text/unescape",
    "str and str.encode": "text/owned text/piece text/segment text/unit text/utf8",
    "tiktoken counts tokens in Python": "tokens/cache tokens/classes tokens/encoder tokens/encoding tokens/memo "
    "tokens/characters tokens/merge tokens/split tokens/vocabulary",
}
"""Files that one tree has alone, and the reason."""

EXCEPTIONS: dict[str, dict[str, str]] = {
    "the kinds of decisions, and of texts, are names in Python; Rust has types with methods": {
        "projection/blocks": "PARTIAL shown",
        "shorten": "Kinds of_context of_file",
    },
    "a text or a value of JSON that is read when it is needed; Python has str, dict and list": {
        "content": "brief has_no_word initial is_white plain_end plain_start spelling starts_with_any whole",
        "content/answer": "has_at_most",
        "dedupe/paths": "canonical",
        "dedupe/rules": "Found key_value key_values shown",
        "projection/edits": "DraftList Edit Json PartsKey RequestSource TextPart ascii index_in is_kept_at key position set_member",
        "projection/repair/state": "call_id",
        "projection/request": "message_at",
        "text": "as_utf8 ascii find_unit grouped to_utf8 width without_prefix without_suffix write_utf8",
        "text/graphemes": "CodePoint ends_look_back",
    },
    "measures a text, or places it in the output, without a copy; Python makes the text": {
        "context/block": "keep_title",
        "context/budget": "Filling ROOM assemble place take_trace",
        "context/fence": "fence_mark limited longest_run_in mark_of",
        "context/lines": "Line Read beside estimate is_taken is_whole leave_out_numbers partial pieces without_numbers",
        "context/inline": "make_inert",
        "context/limits": "Cut cut_clean cut_plain is_characters of_chars room_of signed size_ascii size_kept size_of",
        "projection/arguments": "has_tokens",
        "projection/blocks": "Proposal byte_length is_settled joined new_len new_text outcome propose sent sent_len settled stays would_save",
        "projection/marker": "Substitute cut marker_len slack",
        "projection/repair/frame": "Step found visit",
        "projection/repair/message_parts": "without_surrogates",
        "projection/repair/settings": "Build mend_settings",
        "shorten/kinds": "failures search",
        "projection/splice": "Writer Written document message request",
        "text/truncate": "shares",
        "text/words": "count_new estimate hash_of learn narrow read words_of",
        "text_history/call_line": "parts",
    },
    "reads a text once, for all sizes that are tried; Python reads it for each": {
        "context/fence": "Printer command",
        "projection/blocks": "draft shortened",
        "shorten": "Draft shorten was_drawn within",
        "shorten/json_values": "FIND_ERROR",
        "shorten/kinds": "found_in matches push_without_numbers",
        "shorten/novelty": "choose choose_new read",
    },
    "a record, an enum, a constant or an alias, where the other language has a tuple, a text, a function or JSON": {
        "content": "INITIALS",
        "context": "Carried",
        "context/block": "Line SECTIONS WRITTEN_KEYS heading section_of",
        "context/budget": "Trace",
        "context/fence": "Fitted Sources",
        "dedupe": "Reason",
        "dedupe/failure": "DOUBTFUL Frame MARKS SUCCESS Start outcome",
        "dedupe/line_ranges": "Lines",
        "dedupe/paths": "Directory",
        "dedupe/rules": "BuiltIn RuleKey built_in default_rules is_first key",
        "dedupe/shell/lexer": "CODE Frame TEXT",
        "dedupe/shell/programs": "Words spec",
        "formats": "FORMATS SPEAKERS speaker_of",
        "formats/responses": "ServerCall",
        "projection/blocks": "CLEARED RULED_OUT",
        "projection/edits": "Ends",
        "projection/plan": "Frame",
        "projection/result_slot": "LISTS Said",
        "projection/repair/ids": "AssignedIds",
        "projection/repair/destinations": "ArgumentsForm Form Template holder named",
        "projection/repair/turns": "Run",
        "text/truncate": "Keep",
        "text_history/message": "THOUGHTS",
        "text_history": "RecountOptions Recounted",
        "text_history/budget": "Shrunk",
    },
    "Python fills a report of toolcarry.types": {
        "context": "Counts report",
        "inspect": "total",
        "projection/plan": "Outcome",
        "text_history": "RecountCounts",
    },
    "the binding, rust/py, does this step for Python's objects, or calls the core for each row or line": {
        "content": "answer_json",
        "context": "DEFAULT_RULE_SET Rules explain rule_set to_entry",
        "context/limits": "limits_of result_limits",
        "session_lines": "CALL LinePart PartKind RESULT line_part read_line read_lines read_parts result_metadata",
        "projection": "project",
        "text/truncate": "truncate",
    },
    "used by modules that are Python only, such as the importers": {
        "dedupe/rules": "name_forms",
        "formats/anthropic": "CALLS",
        "inspect": "one_of record_format",
        "projection/bytes": "is_continued open_request plan untouched",
        "projection/marker": "last_reference name_all",
        "tokens/messages": "Piece pieces_in_context pieces_of result_piece",
        "projection/plan": "text_bytes",
        "text/sanitize": "DIRTY UNSAFE replacement",
    },
    "Python raises an exception or yields; Rust asks first, or has a step and tests of its state": {
        "formats": "call needs_import read_listed_call result spoken try_call try_result",
        "pairing": "entries following is_sure next_entry object_at",
        "projection/bytes": "reason",
        "session": "LostBranch Place check following is_lost is_sure",
    },
    "a method, a constructor or a setter, where the other language has a function or an attribute": {
        "projection/repair/destinations": "SHAPES begins_word destination_of of_shape wanted_destination",
        "formats": "may_be_spoken",
        "pairing": "with_whole",
        "session": "QUEUED follows message_in side_of",
        "dedupe/place": "locate",
        "pairing/block": "call_entry new_entry read result_entry set_doubtful set_error",
        "projection/repair/message_parts": "MessageDrafts add drafts ended_turns is_models is_thinking part_at paths_of",
        "projection/repair/report": "add_with is_left_out",
        "projection/result_slot": "json_text part slot_at",
        "text_history/message": "is_assistants is_named_thought made made_message turn_of whole_number",
    },
    "a loop or a look-up: Rust refers to blocks by their numbers in a list, Python to the objects": {
        "projection/blocks": "newest_first",
        "projection/decide": "drop_all",
        "projection/mended": "place_of",
        "projection/repair/pairs": "call_at has_strays id_of is_other is_stray owner",
    },
    "the scanner describes media without decoding them, so that Rust has these in json/base64": {
        "content/media": "FILES FILE_KEYS FILE_PARTS MEDIA UNTYPED_MEDIA address_line base64_line blob_line first_text is_data_url",
    },
    "the lexer of Rust borrows the words and commands that its parser ends": {
        "dedupe/shell/lexer": "end_command rest",
        "dedupe/shell/parser": "end_command end_word separate",
    },
    "Python finds the places of values again; Rust has them from the scan": {
        "projection/splice": "Spans",
    },
    "regular expressions in Python, vector code in Rust": {
        "text/sanitize": "MARKER_END cut_text escape_marks find_ascii has_marker_tail is_dirty",
    },
    "tiktoken counts in Python; Rust has an engine of its own": {
        "tokens/count": "SURROGATES Tally add add_counted count count_start count_texts encoding_of finish resize_token_memo visit_counts",
        "tokens/truncate": "CutPlan Part cut cut_tokens head_end keep tail_start total truncate_tokens utf8_of",
    },
}
"""Public names that one file of a pair has alone: the reason, then the names by the path of the file."""


def excepted_names(name: str) -> set[str]:
    """Return the names that a pair of files need not share."""
    return {word for names in EXCEPTIONS.values() if name in names for word in names[name].split()}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_of_files_has_the_same_public_names(name: str) -> None:
    python, rust, _ = differences(name)
    excepted = excepted_names(name)
    advice = "give both files the name, make it private (an underscore; no pub), or list it with a reason in EXCEPTIONS"
    assert python <= excepted, (
        f"{PYTHON_FILES[name]}: only Python has {sorted(python - excepted)}: {advice}"
    )
    assert rust <= excepted, (
        f"{RUST_FILES[name]}: only Rust has {sorted(rust - excepted)}: {advice}"
    )
    unused = excepted - python - rust
    assert not unused, (
        f"EXCEPTIONS: {name}: delete {sorted(unused)}, which both files have, or neither"
    )


def test_both_trees_have_the_same_files() -> None:
    only_rust = {name for names in ONLY_RUST.values() for name in names.split()}
    advice = "add its twin, or list it with a reason in ONLY_PYTHON or ONLY_RUST; delete from there what is gone"
    python = PYTHON_FILES.keys() - RUST_FILES.keys()
    rust = RUST_FILES.keys() - PYTHON_FILES.keys()
    assert python == ONLY_PYTHON.keys(), f"_pure: {sorted(python ^ ONLY_PYTHON.keys())}: {advice}"
    assert rust == only_rust, f"rust/core/src: {sorted(rust ^ only_rust)}: {advice}"


def test_exceptions_are_of_pairs_of_files() -> None:
    files = {name for names in EXCEPTIONS.values() for name in names}
    unknown = sorted(files - set(PAIRS))
    assert not unknown, f"EXCEPTIONS: delete or rename {unknown}, which are no files of both trees"


def test_most_public_names_are_equal() -> None:
    named = [name for name in PAIRS if any(map(len, differences(name)[:2])) or common_names(name)]
    median = statistics.median(differences(name)[2] for name in named)
    assert median >= LEAST_OVERLAP, (
        f"the median overlap of names is {median:.2f}: give more names of EXCEPTIONS to both files"
    )


@pytest.mark.parametrize(
    ("python", "rust", "only_python", "only_rust"),
    [
        ("def read(): ...\nMOST = 3\n", "pub fn read() {}\nconst MOST: u8 = 3;\n", set(), set()),
        (
            "def read(): ...\ndef _help(): ...\n",
            "pub(crate) fn read() {}\nfn unseen() {}\n",
            set(),
            set(),
        ),
        ("def read(): ...\n", "pub fn write() {}\n", {"read"}, {"write"}),
        (
            "class Block:\n    size: int\n",
            "pub struct Block {\n    held: u8,\n}\nimpl Block {\n    pub fn size() {}\n}\n",
            set(),
            set(),
        ),
        ("class Kept: ...\n", "enum Draft {\n    Kept(u8),\n}\n", set(), set()),
    ],
)
def test_names_are_compared(
    python: str, rust: str, only_python: set[str], only_rust: set[str]
) -> None:
    public, all_python = python_names(python)
    visible, all_rust = rust_names(rust)
    assert public - all_rust == only_python
    assert visible - all_python == only_rust

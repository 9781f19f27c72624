"""Projection of a body's bytes: changed parts are written again, and all other bytes stay the same."""

import json
from types import ModuleType

import pytest
from support.rows import for_each

from toolcarry import ConfigError, ProjectPolicy
from toolcarry.types.values import CutSide

LONG = "x = 1\\n" * 60
"""As JSON has it."""
CUT = ProjectPolicy(max_result_chars=100)
REPAIR = ProjectPolicy(repair=True)


def use(call_id: str, file_path: str = "a.py") -> str:
    return f'{{"type": "tool_use", "id": "{call_id}", "name": "Read", "input": {{"file_path": "{file_path}"}}}}'


def test_only_the_content_is_written_again(api: ModuleType) -> None:
    def body(content: str) -> bytes:
        return (
            '{ "model":"m", "temperature": 1.0e+0 ,"big":123456789012345678901234567890,\n'
            f'\t"messages" :[ {{"role":"assistant","content":[ {use("t1")} , {use("t2")} ]}} ,\n'
            f'  {{"content": [{{"x":"\\u0041\\/", "content" : "{content}" ,"type":"tool_result","tool_use_id":"t1"}},'
            '{"type":"tool_result","tool_use_id":"t2","content":"\\ud83d\\ude00"}], "role":"user" } ] , "messages_": [] }\n'
        ).encode()

    marker = "[toolcarry: superseded by call t2; whole: t1]"
    assert api.project_body(body(LONG)).body == body(marker)


@for_each(
    ("content", "new"),
    [
        ('"TEXT"', '"TEXT"'),
        ('[ {"text":"TEXT", "type" : "text"} ]', '[ {"text":"TEXT", "type" : "text"} ]'),
        ('["TEXT"]', '["TEXT"]'),
        ('{"type":"text","text":"TEXT"}', '"TEXT"'),
    ],
)
@for_each(
    "unit", ["\\/", "\\u00E9", "\\ud83d\\uDE00", "\\ud83d", "\\n", "€", "e\\u0301", "\\r\\u000A"]
)
@for_each("keep", ["head", "tail", "ends"])
def test_the_ends_of_a_cut_text_are_copied_as_they_are_written(
    api: ModuleType, keep: CutSide, unit: str, content: str, new: str
) -> None:
    def body(content: str, text: str) -> bytes:
        call = f'{{"role":"assistant","content":[{use("t1")}]}}'
        result = f'{{"type":"tool_result","tool_use_id":"t1","content":{content}}}'
        return f'[{call},{{"role":"user","content":[{result}]}}]'.replace("TEXT", text).encode()

    given = body(content, f"\\u0041{unit * 3_000}\\/")
    policy = ProjectPolicy(max_result_chars=150, keep=keep)
    found = api.project_body(given, policy=policy)
    (cut,) = found.report.replacements
    characters = len(json.loads(f'"{unit}"'))
    head, tail = cut.start, cut.chars_before - cut.end
    marker = f"[toolcarry: {head + tail} of {cut.chars_before:,} characters; whole: t1]"
    lines = [f"\\u0041{unit * ((head - 1) // characters)}"] if head else []
    lines += [marker, *([f"{unit * ((tail - 1) // characters)}\\/"] if tail else [])]
    assert found.body == body(new, "\\n".join(lines))
    assert json.loads(found.body) == api.project(json.loads(given), policy=policy).messages


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": [] , "x": 1}',
        b'\xef\xbb\xbf [ {"role":"user" , "content":"\\u00e9"} ]\n',
        b'{"model":"m","input":"a text"}',
        b'{"messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]}',
    ],
)
def test_a_body_without_need_is_the_same_object(api: ModuleType, body: bytes) -> None:
    for policy in (ProjectPolicy(), CUT, REPAIR):
        assert api.project_body(body, policy=policy).body is body


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"", "not JSON: byte 0"),
        (b'{"messages": [', "not JSON: byte 14"),
        (b'{"messages": [\xff]}', "not JSON: byte 14"),
        (b'{"messages": ' + b"[" * 128 + b"]" * 128 + b"}", "nested too deep: byte 140"),
        (b"[" * 200_000, "nested too deep: byte 128"),
        (b"[" * 200, "not JSON: byte 200"),
        (b'{"messages": {}}', "no messages"),
        (b'"text"', "no messages"),
        (b'{"role": "user"}\n{"role": "user"}\n', "not JSON: byte 17"),
        (b'{"messages": [{}, 7]}', "message 1 is not an object"),
    ],
)
def test_a_body_that_cannot_be_read_stays_and_says_why(
    api: ModuleType, body: bytes, reason: str
) -> None:
    found = api.project_body(body, policy=REPAIR)
    assert found.body is body
    assert found.report.untouched == reason
    previous = api.project([{"role": "user", "content": "hi"}]).decisions
    assert api.project_body(body, previous=previous).decisions == previous


def test_of_a_name_that_is_given_twice_the_last_counts(api: ModuleType) -> None:
    result = f'{{"type":"tool_result","tool_use_id":"t1","content":"short","content":"{LONG}"}}'
    call = f'{{"role":"assistant","content":[{use("t1")}]}}'
    given = f'{{"messages": [1], "messages": [{call},{{"role":"user","content":[{result}]}}]}}'
    cut = api.project_body(given.encode(), policy=CUT)
    assert b'"content":"short","content":"x = 1' in cut.body
    assert cut.body.startswith(b'{"messages": [1], "messages": [{"role":"assistant"')
    assert len(cut.report.replacements) == 1


def test_escaped_names_are_found(api: ModuleType) -> None:
    result = f'{{"type":"tool_result","tool_use_id":"t1","c\\u006fntent":"{LONG}"}}'
    call = f'{{"r\\u006fle":"assistant","content":[{use("t1")}]}}'
    body = f'[{call},{{"role":"user","content":[{result}]}}]'
    cut = api.project_body(body.encode(), policy=CUT).body
    assert b'"c\\u006fntent":"x = 1\\n' in cut
    assert cut.startswith(call.encode(), 1)


def test_lone_surrogates_stay_unchanged(api: ModuleType) -> None:
    text = "\\ud800" + "a" * 300
    body = f'[{{"role":"assistant","content":[{use("t1")}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"{text}"}}]}}]'
    cut = api.project_body(body.encode(), policy=CUT).body
    assert b'"content":"\\ud800aaa' in cut
    assert json.loads(cut)[1]["content"][0]["content"][0] == "\ud800"


def test_moved_parts_are_copied_and_removed_parts_take_their_comma(api: ModuleType) -> None:
    call = f'{{"role":"assistant","content":[{use("t1")}]}}'
    text = '{"type":"text","text":"Go  on."}'
    result = '{"type":"tool_result" , "tool_use_id":"t1","content":"1.0"}'
    orphan = '{"type":"tool_result","tool_use_id":"t9"}'
    body = f'[ {call} , {{"role":"user","content":[ {text} , {result} , {orphan} ]}} ]'
    mended = api.project_body(body.encode(), policy=REPAIR)
    expected = f'[ {call} , {{"role":"user","content":[{result},{text}]}} ]'
    assert mended.body == expected.encode()
    assert [mend.kind for mend in mended.report.mends] == ["orphan_result", "moved_result"]


def test_new_members_come_last(api: ModuleType) -> None:
    call = f'{{"role":"assistant","content":[{use("t1")}]}}'
    content = '"content":"[Tool use interrupted: no result]","is_error":true'
    result = f'{{"type":"tool_result","tool_use_id":"t1",{content}}}'
    body = f'{{"messages": [ {call} ] }}'
    expected = f'{{"messages": [ {call},{{"role":"user","content":[{result}]}}] }}'
    assert api.project_body(body.encode(), policy=REPAIR).body == expected.encode()


def test_results_of_stored_calls_stay(api: ModuleType) -> None:
    output = '{"type":"function_call_output","call_id":"c1","output":"x"}'
    body = f'{{"previous_response_id":"resp_1","input":[{output}]}}'.encode()
    assert api.project_body(body, policy=REPAIR).body is body
    alone = f'{{"input":[{output}]}}'.encode()
    text = "[Tool result left out: its call is not here]"
    stand_in = f'{{"role":"user","content":"{text}"}}'.encode()
    assert api.project_body(alone, policy=REPAIR).body == b'{"input":[%b]}' % stand_in


def test_other_kinds_of_bytes(api: ModuleType) -> None:
    body = b'[{"role":"user","content":"hi"}]'
    assert api.project_body(bytearray(body)).body == body
    assert api.project_body(memoryview(body)).body == body
    with pytest.raises(api.InputError, match="body must be bytes"):
        api.project_body("[]")


def test_a_share_is_of_the_window_of_the_model_that_the_body_names(api: ModuleType) -> None:
    turns = b",".join(
        f'{{"role":"assistant","content":[{use(f"t{n}", f"{n}.py")}]}},{{"role":"user","content":[{{"type":"tool_result",'
        f'"tool_use_id":"t{n}","content":"{LONG}"}}]}}'.encode()
        for n in range(200)
    )
    body = b'{"model":"gpt-4","messages":[' + turns + b"]}"
    shares = api.project_body(body, max_request_tokens="60%", clear_at_least_tokens=0)
    set_alike = api.project_body(
        body, max_request_tokens="60%", model="gpt-4", clear_at_least_tokens=0
    )
    assert shares.body == set_alike.body != body
    assert shares.report == set_alike.report
    other = ProjectPolicy(window_tokens=1_000_000)
    assert api.project_body(body, policy=other, max_request_tokens="60%").report.over_request == 0
    for unknown in (b'{"model":"barn","messages":[]}', b'{"messages":[]}', b"no body"):
        with pytest.raises(ConfigError, match="a model with a known window"):
            api.project_body(unknown, max_request_tokens="60%")

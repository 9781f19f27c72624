"""A conversation whose sessions the tests keep."""

from support.builders.wire_talks import OPENAI

from toolcarry.switch.sessions import Prefix, RequestLine, SessionKey, SwitchSession

WHERE = {"conversation": "c", "backend": "b", "tenant": "t"}
REQUEST = [
    OPENAI.user("Read it."),
    *OPENAI.turn("call_1", "Read", {"file_path": "a.py"}, "x = '\ud800\0'"),
    OPENAI.says("Read."),
    OPENAI.user("Go on."),
]


def key(number: int) -> SessionKey:
    return SessionKey("t", f"c{number}")


def session(size: int) -> SwitchSession:
    return SwitchSession(
        (RequestLine("first", "a", "", (Prefix("a", 1, "digest", b"x" * size),)),), "a"
    )

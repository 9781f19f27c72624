"""Damages that a request takes on its way: compaction, interruption, a proxy, ids of another backend.

Each damage changes a draft in place and returns whether it found anything to damage; a turn may be left without
parts. ``DAMAGES`` names the providers that refuse each damage when it is alone.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from support.builders.drafts import Call, DraftTurn, Image, Part, Result, Search, Text, Thinking

Turns = list[DraftTurn]
Place = tuple[int, int]

ALL = ("anthropic", "openai", "responses", "ollama", "gemini", "bedrock")
ORDERED = ("anthropic", "openai", "ollama", "gemini", "bedrock")
UNIQUE = ("anthropic", "responses", "bedrock")
NAMED = ("anthropic", "openai", "responses", "bedrock")


class Damage(NamedTuple):
    """A damage, and who refuses what it leaves."""

    apply: Callable[[Turns], st.SearchStrategy[bool]]
    providers: tuple[str, ...]


def places(turns: Turns, kind: type[Any]) -> list[Place]:
    return [
        (turn, place)
        for turn, said in enumerate(turns)
        for place, part in enumerate(said.parts)
        if isinstance(part, kind)
    ]


def rename(turns: Turns, start: int, was: str, now: str) -> None:
    """Change the id of a call in a turn, and of its result in a later turn."""
    wanted: type[Any] = Call
    for said in turns[start:]:
        for place, part in enumerate(said.parts):
            if isinstance(part, Call | Result) and isinstance(part, wanted) and part.call_id == was:
                said.parts[place] = part._replace(call_id=now)
                if wanted is Result:
                    return
                wanted = Result
                break


@st.composite
def a_place(draw: st.DrawFn, turns: Turns, kind: type[Any]) -> Place | None:
    found = places(turns, kind)
    return draw(st.sampled_from(found)) if found else None


def on_a(kind: type[Any]) -> Callable[[Any], Callable[[Turns], st.SearchStrategy[bool]]]:
    """Make a damage of a function that is given one call, or one result, to do it to."""

    def decorate(damage: Any) -> Callable[[Turns], st.SearchStrategy[bool]]:
        @st.composite
        def apply(draw: st.DrawFn, turns: Turns) -> bool:
            found = draw(a_place(turns, kind))
            return found is not None and damage(draw, turns, *found) is not False

        return apply

    return decorate


@on_a(Result)
def drop_result(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    del turns[turn].parts[place]


@on_a(Result)
def double_result(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    result = turns[turn].parts[place]
    turns[turn].parts.insert(place, result)


@on_a(Result)
def move_result_later(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    """The result comes late: the user spoke before it did."""
    result = turns[turn].parts.pop(place)
    if not turns[turn].parts:
        turns[turn].parts.append(Text("Go on."))
    later = [at for at in range(turn + 1, len(turns)) if turns[at].role == "user"]
    if not later:
        turns.append(DraftTurn("assistant", [Text("I wait for it.")]))
        turns.append(DraftTurn("user", []))
        later = [len(turns) - 1]
    parts = turns[draw(st.sampled_from(later))].parts
    parts.insert(draw(st.sampled_from((0, len(parts)))), result)


@on_a(Result)
def move_result_before_call(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> bool:
    wanted = id_at(turns, turn, place)
    calls = [
        at
        for at, of_call in places(turns, Call)
        if at < turn and id_at(turns, at, of_call) == wanted
    ]
    earlier = [at for at in range(max(calls, default=0)) if turns[at].role == "user"]
    if not earlier:
        return False
    result = turns[turn].parts.pop(place)
    parts = turns[draw(st.sampled_from(earlier))].parts
    parts.insert(draw(st.sampled_from((0, len(parts)))), result)
    return True


@on_a(Result)
def put_result_after_text(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    parts = turns[turn].parts
    result = parts.pop(place)
    if not any(isinstance(part, Text) for part in parts):
        parts.append(Text("Here it is."))
    parts.append(result)


@on_a(Result)
def put_text_before_results(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    turns[turn].parts.insert(0, Text("Here they are."))


@on_a(Call)
def drop_call(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    """The result stays."""
    del turns[turn].parts[place]


@on_a(Call)
def repeat_id(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> bool:
    """A call of a later turn and its result have the id of this one."""
    first = id_at(turns, turn, place)
    later = [(at, id_at(turns, at, of_call)) for at, of_call in places(turns, Call) if at > turn]
    others = [(at, call_id) for at, call_id in later if call_id != first]
    if not others:
        return False
    start, was = draw(st.sampled_from(others))
    rename(turns, start, was, first)
    return True


@on_a(Call)
def empty_id(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    rename(turns, turn, id_at(turns, turn, place), "")


@on_a(Call)
def spoil_id(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    was = id_at(turns, turn, place)
    rename(turns, turn, was, was + draw(st.sampled_from(("|fc_1", " ", "é", "/"))))


@on_a(Call)
def lengthen_id(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    was = id_at(turns, turn, place)
    rename(turns, turn, was, was + "x" * 64)


def id_at(turns: Turns, turn: int, place: int) -> str:
    part = turns[turn].parts[place]
    assert isinstance(part, Call | Result)
    return part.call_id


@st.composite
def add_empty_text(draw: st.DrawFn, turns: Turns) -> bool:
    """Add an empty text: at the start of an assistant turn, at the end of a user turn, or in a result."""
    empty = draw(st.sampled_from(("", " ", "\n\t")))
    found = draw(a_place(turns, Result)) if draw(st.booleans()) else None
    if found is not None:
        turn, place = found
        result = turns[turn].parts[place]
        assert isinstance(result, Result)
        content = result.content
        pieces = content if isinstance(content, tuple) else (content,) if content.strip() else ()
        turns[turn].parts[place] = result._replace(content=(*pieces, empty))
        return True
    said = draw(st.sampled_from(turns))
    at = 0 if said.role == "assistant" else len(said.parts)
    block: Part = Text(empty)
    said.parts.insert(at, block)
    return True


@on_a(Result)
def fail_in_silence(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    content: str | tuple[str | Image, ...] = draw(st.sampled_from(("", ())))
    fail(turns, turn, place, content)


@on_a(Result)
def fail_with_an_image(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    image, words = Image(), "It broke."
    fail(turns, turn, place, draw(st.sampled_from(((image,), (words, image), (image, words)))))


def fail(turns: Turns, turn: int, place: int, content: str | tuple[str | Image, ...]) -> None:
    result = turns[turn].parts[place]
    assert isinstance(result, Result)
    turns[turn].parts[place] = result._replace(content=content, is_error=True)


@on_a(Call)
def cut_after_calls(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    del turns[turn + 1 :]


@on_a(Call)
def note_after_calls(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    """The system speaks before the results come."""
    turns.insert(turn + 1, DraftTurn("system", [Text("The user is away.")]))


@on_a(Call)
def speak_after_calls(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    turns[turn].parts.append(Text("I wait for it."))


@on_a(Call)
def search_after_calls(draw: st.DrawFn, turns: Turns, turn: int, place: int) -> None:
    """The provider's own tool, put where the client's was called first."""
    turns[turn].parts.insert(place + 1, Search(len(turns)))


@st.composite
def end_in_space(draw: st.DrawFn, turns: Turns) -> bool:
    """The answer is begun for the model, or broke off."""
    turns.append(DraftTurn("assistant", [Text(draw(st.sampled_from(("{ ", "It is:\n"))))]))
    return True


@st.composite
def think_last(draw: st.DrawFn, turns: Turns) -> bool:
    """The answer broke off before it began, or went on."""
    thought = Thinking(draw(st.sampled_from(("Let me think.", "Hm."))))
    if turns[-1].role == "assistant" and draw(st.booleans()):
        turns[-1].parts.append(thought)
    else:
        turns.append(DraftTurn("assistant", [thought]))
    return True


DAMAGES: dict[str, Damage] = {
    "result dropped": Damage(drop_result, ALL),
    "result doubled": Damage(double_result, ALL),
    # Responses takes outputs anywhere after their calls.
    "result moved later": Damage(move_result_later, ORDERED),
    "result moved before its call": Damage(move_result_before_call, ALL),
    "result behind text": Damage(put_result_after_text, ORDERED),
    "text before results": Damage(put_text_before_results, ORDERED),
    "call dropped": Damage(drop_call, ALL),
    "id repeated": Damage(repeat_id, UNIQUE),
    "id empty": Damage(empty_id, NAMED),
    "id of other characters": Damage(spoil_id, ("anthropic", "bedrock")),
    "id too long": Damage(lengthen_id, ("openai", "responses", "bedrock")),
    "empty text": Damage(add_empty_text, ("anthropic", "bedrock")),
    "failure without content": Damage(fail_in_silence, ("anthropic", "bedrock")),
    "failure with an image": Damage(fail_with_an_image, ("anthropic",)),
    "cut behind calls": Damage(cut_after_calls, ALL),
    "note behind calls": Damage(note_after_calls, ORDERED),
    "text behind calls": Damage(speak_after_calls, ("anthropic",)),
    "search behind calls": Damage(search_after_calls, ("anthropic",)),
    "space last": Damage(end_in_space, ("anthropic", "bedrock")),
    "thinking last": Damage(think_last, ("anthropic", "responses")),
}


def damages_of(provider: str) -> list[str]:
    """The damages that the provider refuses."""
    return [kind for kind, damage in DAMAGES.items() if provider in damage.providers]

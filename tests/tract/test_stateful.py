"""Whatever is done, in whatever order: the history has all of it, proves itself, and compiles to what a model says it should.

The model is a plain list of what was said; everything else is a mark on it.
"""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from support.examples import examples

from toolcarry.tract import Tract

TEXTS = st.sampled_from(["", "one", "two\n", "\ud800", "a\0b", "x" * 5_000, "```", "<|endoftext|>"])
IDS = st.sampled_from(["", "a", "b", "call_0"])


@dataclass
class ModelMessage:
    """One message of the model: its versions, and by how many marks it is hidden."""

    role: str
    versions: list[str]
    hashes: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    call_id: str = ""


class History(RuleBasedStateMachine):
    results = Bundle("results")
    compactions = Bundle("compactions")

    def __init__(self) -> None:
        super().__init__()
        self.tract = Tract.open(summarizer=lambda text, _: text[:3])
        self.said: list[ModelMessage] = []
        self.hidden: dict[str, set[int]] = {}
        """The messages that each active compaction covers, as places in ``said``."""
        self.commits = 0

    def teardown(self) -> None:
        self.tract.close()

    def add(self, said: ModelMessage, commit_hash: str) -> None:
        said.hashes.append(commit_hash)
        self.said.append(said)
        self.commits += 1

    @rule(role=st.sampled_from(["user", "system"]), text=TEXTS)
    def speak(self, role: str, text: str) -> None:
        self.add(ModelMessage(role, [text]), getattr(self.tract, role)(text).commit_hash)

    @rule(text=TEXTS, ids=st.lists(IDS, max_size=3))
    def call(self, text: str, ids: list[str]) -> None:
        calls = [{"id": each, "name": "Bash", "arguments": {"id": each}} for each in ids]
        commit = self.tract.assistant(text, tool_calls=calls)
        self.add(ModelMessage("assistant", [text], calls=ids), commit.commit_hash)

    @rule(target=results, call_id=IDS, text=TEXTS, is_error=st.booleans())
    def answer(self, call_id: str, text: str, is_error: bool) -> int:
        commit = self.tract.tool_result(call_id, "Bash", text, is_error=is_error)
        self.add(ModelMessage("tool", [text], call_id=call_id), commit.commit_hash)
        return len(self.said) - 1

    @rule(place=results, text=TEXTS, version=st.integers(0, 3))
    def edit(self, place: int, text: str, version: int) -> None:
        said = self.said[place]
        edited = said.hashes[min(version, len(said.hashes) - 1)]
        said.hashes.append(self.tract.tool_result("", "", text, edit=edited).commit_hash)
        said.versions.append(text)
        self.commits += 1

    @rule(target=compactions, first=st.integers(0, 20), last=st.integers(0, 20))
    def compress(self, first: int, last: int) -> str:
        asked = [said.hashes[0] for said in self.said[first : last + 1]]
        done = self.tract.compress(commits=asked, content="Summary.")
        places = {said.hashes[0]: place for place, said in enumerate(self.said)}
        covered = {places[each] for each in done.covered}
        assert {places[each] for each in asked} <= covered
        if done.commit is None:
            assert not asked
            return ""
        self.commits += 1
        self.hidden[done.commit.commit_hash] = covered
        return done.commit.commit_hash

    @rule(commit_hash=compactions)
    def uncompress(self, commit_hash: str) -> None:
        if commit_hash:
            self.tract.uncompress(commit_hash)
            self.hidden.pop(commit_hash, None)
            self.commits += 1

    @invariant()
    def nothing_is_lost(self) -> None:
        log = self.tract.log()
        assert len(log) == self.commits
        for said in self.said:
            found = [self.tract.get_content(each) for each in said.hashes]
            assert found == said.versions

    @invariant()
    def it_proves_itself(self) -> None:
        found = self.tract.verify()
        assert found.is_whole
        assert found.checked == self.commits

    @invariant()
    def it_compiles_to_the_current_messages(self) -> None:
        hidden = set().union(*self.hidden.values())
        wanted = [self.written(said) for place, said in enumerate(self.said) if place not in hidden]
        shown = [
            message
            for message in self.tract.compile()
            if not str(message["content"]).startswith("Summary.\n\n[toolcarry: ")
        ]
        assert shown == wanted

    @invariant()
    def every_result_with_its_call_is_in_one_turn(self) -> None:
        turns = self.tract.find_tool_turns()
        assert [turn.call.commit_hash for turn in turns] == [
            said.hashes[0] for said in self.said if said.calls
        ]
        found = [each for turn in turns for each in turn.result_hashes]
        assert len(found) == len(set(found))
        newest = {said.hashes[-1] for said in self.said if said.role == "tool"}
        assert set(found) <= newest
        assert {each.commit_hash for each in self.tract.find_tool_results()} == newest

    @staticmethod
    def written(said: ModelMessage) -> dict[str, Any]:
        if said.role == "tool":
            return {"role": "tool", "tool_call_id": said.call_id, "content": said.versions[-1]}
        message: dict[str, Any] = {"role": said.role, "content": said.versions[-1]}
        if said.calls:
            message["content"] = said.versions[-1] or None
            message["tool_calls"] = [
                {
                    "id": each,
                    "type": "function",
                    "function": {"name": "Bash", "arguments": f'{{"id":"{each}"}}'},
                }
                for each in said.calls
            ]
        return message


TestHistory = History.TestCase
TestHistory.settings = examples(40, stateful_step_count=20)

"""Hold what is known in the middle of a script: the open brackets, and the command being read.

What it does: keeps the state that `lex`, `quotes` and `words` share, with the few moves that all
of them make.

What it guarantees: a command inside another leaves that one as it was.

What it leaves out: what any character means.
"""

from dataclasses import dataclass, field

from toolcarry._pure.dedupe.shell.programs import program_name

# What the innermost open bracket or quote is. CODE and TEXT can also be the whole script.
CODE = 0  # commands: the script, a substitution, a subshell
TEXT = 1  # a here-document's body or arithmetic: only substitutions in it are code
QUOTE = 2  # "..." that is part of a word
INNER_QUOTE = 3  # "..." inside ${...} or a list in parentheses
BRACE = 4  # ${...}
QUOTED_BRACE = 5  # ${...} where a single quote is no quote
PAREN = 6  # the list of an array or of an extended pattern


@dataclass(slots=True)
class Heredoc:
    """A here-document whose body stands after the next newline."""

    delimiter: str
    is_quoted: bool
    has_tabs: bool
    is_code: bool = False


@dataclass(slots=True)
class Feed:
    """What goes into a command's standard input, as far as the line itself shows it.

    Here-documents by their numbers, and texts.
    """

    heredocs: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def passed_on(self, words: list[str]) -> "Feed":
        """What the command of these words, fed with this, writes into a pipe."""
        match program_name(words[0]):
            case "cat":
                return self
            case "echo" | "printf":
                text = " ".join(word for word in words[1:] if word[:1] != "-")
                return Feed([], [text.replace("\\n", "\n")])
            case _:
                return Feed()


@dataclass(slots=True)
class Code:
    """A command while it is being read.

    Its words so far, the parts of the word being read, the redirection that waits for its target,
    and where in a `case` it stands.
    """

    words: list[str] = field(default_factory=list)
    word: list[str] | None = None
    is_quoted: bool = False
    operator: str = ""
    stdin: Feed = field(default_factory=Feed)
    piped: Feed = field(default_factory=Feed)
    cases: int = 0
    is_pattern: bool = False

    def is_test(self) -> bool:
        """Whether an open `[[` makes operators plain text."""
        return bool(self.words) and self.words[0] == "[["

    def has_descriptor(self) -> bool:
        """Whether the word before a redirection is its number (`2>`) or its variable (`{fd}>`)."""
        word = "".join(self.word or ())
        if self.is_quoted or not word:
            return False
        return not word.strip("0123456789") or (word[0] == "{" and word[-1] == "}")


@dataclass(slots=True)
class Scan:
    """One pass over one script.

    `nested` collects the texts to scan next: code (True), or text with substitutions (False).
    """

    text: str
    frames: list[int]
    arithmetic: dict[int, int]
    position: int = 0
    code: Code = field(default_factory=Code)
    outer: list[Code] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    heredocs_read: int = 0
    nested: list[tuple[str, bool]] = field(default_factory=list)
    writes: bool = False

    def add(self, text: str) -> None:
        """Add to the word being read; an empty text begins one."""
        if self.code.word is None:
            self.code.word = []
        if text:
            self.code.word.append(text)

    def add_expansion(self, placeholder: str) -> None:
        """Put a placeholder where a value will stand, unless the text around it is not kept."""
        if self.frames[-1] in (CODE, QUOTE):
            self.add(placeholder)

    def open(self, kind: int, size: int) -> None:
        """Enter a frame whose opening has `size` characters."""
        self.position += size
        self.frames.append(kind)

    def open_code(self, size: int) -> None:
        """Enter a frame of commands; the command around it waits."""
        self.open(CODE, size)
        self.outer.append(self.code)
        self.code = Code()

    def close(self) -> None:
        """Leave a frame of text by its closing character."""
        self.position += 1
        self.frames.pop()

    def nest(self, text: str, *, is_code: bool) -> None:
        """Put a text aside to be scanned by itself."""
        if text:
            self.nested.append((text, is_code))

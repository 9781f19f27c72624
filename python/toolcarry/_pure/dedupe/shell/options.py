"""Tell a command's options from its other words.

What it does: reads the arguments as getopt would, by what `tables` says of the program.

What it guarantees: every argument is an option, an option's value, or another word.

What it leaves out: what an option means; shortened long names.
"""

from toolcarry._pure.dedupe.shell.tables import Spec

Options = list[tuple[str, str]]  # with their values: a letter, or a long name with its dashes
Names = frozenset[str] | tuple[str, ...]


def parse(arguments: list[str], spec: Spec, *, stops: bool) -> tuple[Options, list[str]]:
    """Tell the options with their values from the other words.

    With `stops`, everything from the first other word on is one.
    """
    options: Options = []
    others: list[str] = []
    position, size = 0, len(arguments)
    while position < size:
        word = arguments[position]
        position += 1
        if word == "--" or (stops and not is_option(word)):
            others.extend(arguments[position if word == "--" else position - 1 :])
            break
        if not is_option(word):
            others.append(word)
            continue
        name, equals, value = word.partition("=")
        if word.startswith("--"):
            options.append((name, value))
            takes_next = not equals and name in spec.names
        else:
            takes_next = parse_letters(word[1:], spec, options)
        if takes_next and position < size:
            options[-1] = (options[-1][0], arguments[position])
            position += 1
    return options, others


def is_option(word: str) -> bool:
    """Whether a word is an option: `-x`, `--long`, `+x`."""
    return len(word) > 1 and word[0] in "-+"


def parse_letters(letters: str, spec: Spec, options: Options) -> bool:
    """Take a cluster of letters apart; whether the last one's value is the next word."""
    for index, letter in enumerate(letters):
        if letter in spec.valued or letter in spec.attached:
            options.append((letter, letters[index + 1 :]))
            return letter in spec.valued and index + 1 == len(letters)
        options.append((letter, ""))
    return False


def verb_of(arguments: list[str], spec: Spec) -> tuple[str, list[str]]:
    """Find the first word that is no option, or the second where the first is a group of verbs.

    Gives it with the words behind it.
    """
    _, others = parse(arguments, spec, stops=True)
    if others and others[0] in spec.groups:
        _, others = parse(others[1:], spec, stops=True)
    return (others[0], others[1:]) if others else ("", [])


def has_any(options: Options, names: Names) -> bool:
    """Whether one of the named options is among those given."""
    return any(option in names for option, _ in options)


def has_option(arguments: list[str], spec: Spec, names: Names) -> bool:
    """Whether one of the named options is among the arguments, wherever it stands."""
    options, _ = parse(arguments, spec, stops=False)
    return has_any(options, names)

"""Find out if a shell command line has side effects, that is, if any simple command in it writes.

The line is read as a POSIX shell with the common bash additions would (quotes, expansions,
redirections, here-documents, keywords), without running or expanding anything, and every simple
command is judged. `parser` reads a script and those inside it, `lexer` its tokens, words and
commands; `judge` looks through wrappers, and `programs` knows the programs that write.

Any text has an answer, in time linear in its length, without recursion and without an exception.
Only ASCII characters have a meaning. Lone surrogates count as U+FFFD.

Values of variables, aliases, functions called later, and code in other languages are ignored. SQL is
the exception: a client of a database has side effects unless the line shows all its SQL, and that only
reads. Unknown programs count as reading, and so does code nested deeper than the limits in `parser`
and `judge`.

>>> has_side_effects("cargo test 2>&1 | tail -n 5")
False
>>> has_side_effects("cd src && sudo rm -rf build")
True
>>> has_side_effects('echo "rm -rf"')
False
"""

from toolcarry.model.dedupe.shell.parser import has_side_effects

__all__ = ["has_side_effects"]

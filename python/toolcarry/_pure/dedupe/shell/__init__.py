"""Tell whether a shell command line has side effects: whether any simple command in it writes.

What it does: reads the line as a POSIX shell with the common bash additions would (quotes,
expansions, redirections, here-documents, keywords), without running or expanding anything, and
judges every simple command. `script` reads a script and those inside it, `lex` its tokens,
`quotes` its quotes and expansions, `words` its finished words and commands, all on the state that
`scan` holds. `judge` looks behind wrappers, `programs` knows what writes, `options` reads
arguments, and `tables` is the data.

What it guarantees: any text has an answer, in time linear in its length, without recursion and
without an exception. Only ASCII characters mean anything. Lone surrogates count as U+FFFD.

What it leaves out: values of variables, aliases, functions called later, the insides of programs
in other languages. What is unknown reads. So does what is nested deeper than the limits in
`script` and `judge`.

>>> has_side_effects("cargo test 2>&1 | tail -n 5")
False
>>> has_side_effects("cd src && sudo rm -rf build")
True
>>> has_side_effects('echo "rm -rf"')
False
"""

from toolcarry._pure.dedupe.shell.script import has_side_effects

__all__ = ["has_side_effects"]

"""Rules 5 and 6: a line for each other call, and what is cleaned away before."""

import pytest
from support.builders.handovers import FILLER, after_much, section, word
from support.builders.wire import bash, edit, join, read, turn, write

from toolcarry import carry


def test_equal_calls_share_a_line_with_their_numbers() -> None:
    polls = [bash("kubectl get pods", f"pod {n}", f"p{n}") for n in range(3)]
    text = after_much(
        *polls, *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)], tokens=1_300
    )
    assert "- #2, #3, #4 $ kubectl get pods → last: pod 2\n" in section(text, "Earlier")


def test_a_failure_names_the_call_that_followed_it() -> None:
    text = after_much(
        bash("python -m pytest", "Exit code 1\nNo module named pytest", "f", is_error=True),
        bash("python -m pytest", "3 passed", "g"),
        *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)],
        tokens=1_300,
    )
    assert "- #2 $ python -m pytest (exit code 1; see #3) → No module named pytest" in text


def test_changes_come_before_reads() -> None:
    reads = [
        turn("Glob", {"pattern": f"**/*.{n}"}, f"/w/{n}/" + "x" * 150, f"g{n}") for n in range(60)
    ]
    text = after_much(
        edit("/w/q.py", "a", "b", "e"),
        *reads,
        *[bash(f"seq {n}", FILLER[:900], f"s{n}") for n in range(9)],
        tokens=1_200,
    )
    assert "- #2 edit /w/q.py → -1 +1 lines" in section(text, "Earlier")
    assert "more calls, not listed" in text


def test_noise_of_terminals_and_clients_goes() -> None:
    meter = "  % Total    % Received % Xferd  Average Speed\n100  975    0   550 --:--:-- --:--:-- --:--:-- 10051\n"
    output = f"{meter}\x1b[32mgreen\x1b[0m\n 10 %\r 90 %\r100 %\n<system-reminder>\nRemember.\n</system-reminder>"
    text = after_much(bash("build", output))
    assert "green\n100 %\n" in text
    assert "Xferd" not in text
    assert "Remember" not in text


def test_a_command_that_a_terminal_repeats_is_not_output() -> None:
    command = "git log --oneline -3 --no-decorate"
    text = after_much(bash(command, "git log --onel\nine -3 --no-decorate\n353c5cc Merge", "a"))
    assert f"$ {command}\n→ 353c5cc Merge\n" in text
    text = after_much(bash(command, f"{command} is unknown", "a"))
    assert f"→ {command} is unknown\n" in text


def test_the_number_of_a_shell_is_no_exit_code() -> None:
    text = after_much(bash("look", "found\n<shellId: 26 completed with exit code 3>", "a"))
    assert "$ look (exit code 3)\n→ found\n" in text


LISTING = """total 109
drwxr-xr-x 1 me 197121     0 Jan 16 23:13 .
drwxr-xr-x 1 me 197121     0 Jan 12 11:13 ..
-rw-r--r-- 1 me 197121  1000 Jan 12 15:22 read me.txt
lrwxrwxrwx 1 me 197121     7 Jan  1  2024 bin -> usr/bin
drwxr-xr-x 1 me 197121     0 Jan 16 23:13 Projects"""


def test_the_columns_of_a_long_listing_go_and_are_named() -> None:
    text = after_much(bash("ls -la", LISTING))
    assert "→ left out: modes, owners and dates\n" in text
    assert "total 109\n./\n../\n1000 read me.txt\nbin -> usr/bin\nProjects/\n" in text


def test_a_listing_of_few_files_keeps_its_columns() -> None:
    short = "\n".join(LISTING.split("\n")[3:])
    assert short in after_much(bash("ls -l r* b* P*", short))


def test_the_line_about_a_listing_names_its_first_entries() -> None:
    files = "\n".join(f"src/{word(n)}.py" for n in range(40))
    runs = [bash(f"run {word(n)}", FILLER[100 * n :][:1_500], f"r{n}") for n in range(12)]
    text = after_much(bash("ls src/*", files, "ls"), *runs)
    names = " / ".join(files.split("\n")[:5])
    assert f"$ ls src/* → {names}" in section(text, "Earlier")
    assert " … (40 lines)" in section(text, "Earlier")


def test_lines_alike_are_counted() -> None:
    output = "\n".join(f"10:24:{n:02} waiting for pod web-{n}" for n in range(50))
    text = after_much(bash("wait", output))
    assert (
        "10:24:00 waiting for pod web-0 [and 48 lines like this, but for numbers]\n10:24:49" in text
    )


def test_groups_of_lines_alike_are_counted() -> None:
    output = "\n".join(
        f"18:47:{n:02} app[{n}f] {'end' if n % 2 else 'begin'} of a batch" for n in range(40)
    )
    text = after_much(bash("log show", output))
    assert " end of a batch [and 36 lines like these, but for numbers]\n18:47:38" in text


def test_colours_are_no_ids() -> None:
    colours = "\n".join(f"  --shade-{n}: #{n}{n}f{n}{n}a;" for n in range(1, 10))
    text = after_much(bash("cat theme", colours))
    assert colours.strip() in text


def test_equal_steps_are_in_one_place() -> None:
    runs = [bash("make", "ok", f"m{n}") for n in range(3)]
    text = after_much(*runs, bash("look", "\n".join(FILLER.split("\n")[:120]), "l"))
    assert text.count("$ make") == 1


def test_data_is_not_folded() -> None:
    output = "\n".join(f"{n}\t{n * n}" for n in range(40))
    assert "12\t144\n13\t169" in after_much(bash("squares", output))


@pytest.mark.parametrize("kind", ["read", "write", "edit", "command"])
def test_bodies_of_private_keys_are_never_shown(kind: str) -> None:
    lines = f"{'MIIEsecret' * 6}\nmore"
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----\nafter"
    calls = {
        "read": read("/w/k.pem", key),
        "write": write("/w/k.pem", key),
        "edit": edit("/w/k.pem", "x", key),
        "command": bash(f"echo '{key}'", key),
    }
    text = after_much(calls[kind], bash("ls"))
    assert "MIIEsecret" not in text
    assert "(private key left out)" in text


@pytest.mark.parametrize(
    "line",
    [
        '    key = "-----BEGIN PRIVATE KEY-----\\ndata\\n-----END PRIVATE KEY-----"',
        "regex = '-----BEGIN OPENSSH PRIVATE KEY-----[A-Za-z0-9+/=\\n]+-----END OPENSSH PRIVATE KEY-----'",
        'if "-----BEGIN PRIVATE KEY-----" in text:',
    ],
)
def test_code_about_private_keys_is_no_key(line: str) -> None:
    code = f"import re\n{line}\nprint(1)\nprint(2)"
    text = after_much(read("/w/a.py", code), bash("ls"))
    assert line in text
    assert "print(2)" in text


def test_a_key_that_was_cut_ends_with_its_last_line() -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + f"{'MIIEsecret' * 6}\n" * 3
        + "... (more lines)\nafter"
    )
    text = after_much(bash("cat k.pem", key), bash("ls"))
    assert "MIIEsecret" not in text
    assert "... (more lines)\nafter" in text


def test_the_working_directory_is_said_once() -> None:
    messages = [
        {
            "type": "assistant",
            "uuid": f"u{n}",
            "parentUuid": f"u{n - 1}" if n else None,
            "cwd": "/home/ann/farm",
            "message": message,
        }
        for n, message in enumerate(
            join(
                read("/home/ann/farm/big.txt", FILLER * 4, "big"),
                bash("cd /home/ann/farm && make", "made", "m"),
                bash("cd /home/ann/farm/sub && ls", "x", "n"),
            )
        )
    ]
    for record in messages:
        record["type"] = record["message"]["role"]
    text = carry(messages, max_tokens=1_500, layout="handover").text
    assert "Working directory: /home/ann/farm\n" in text
    assert "$ make\n" in text
    assert "$ cd sub && ls\n" in text


def test_a_commit_keeps_the_first_line_of_its_message() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nFix the parser\n\nA long story.\nEOF\n)\""
    text = after_much(bash(command, "[main 1] Fix the parser"))
    assert '$ git commit -m "Fix the parser …"' in text
    assert "A long story" not in text


def test_calls_with_other_arguments_do_not_share_a_line() -> None:
    long = "x" * 250
    calls = [turn("exec", {"input": f"{long}{n}{long}"}, f"said {n}", f"x{n}") for n in range(3)]
    same = [turn("exec", {"input": long}, f"said {n}", f"y{n}") for n in range(2)]
    lost = [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": f"z{n}", "content": f"lost {n}"}],
        }
        for n in range(2)
    ]
    more = [bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)]
    found = section(
        after_much(*calls, *same, *[[each] for each in lost], *more, tokens=1_800), "Earlier"
    )
    for n in range(3):
        assert f"→ said {n}\n" in found
    assert "→ last: said 1\n" in found
    assert "→ lost 0\n" in found
    assert "→ lost 1\n" in found


def test_the_middle_of_a_long_command_is_left_out_with_a_sign() -> None:
    command = " && ".join(f"make {word(n)} of {word(7 * n)}" for n in range(40))
    more = [bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)]
    found = section(after_much(bash(command, "made", "m"), *more, tokens=1_300), "Earlier")
    line = next(line for line in found.split("\n") if "$ make" in line)
    head, sign, tail = line.partition(" […] ")
    assert sign
    assert command.startswith(head.partition("$ ")[2] + " ")
    assert command.endswith(" " + tail.partition(" → ")[0])

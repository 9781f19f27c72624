"""``toolcarry serve`` as a separate process: it prints its address, and shuts down cleanly."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import httpx
import pytest
from support.clocks import wait_until
from support.processes.proxy import COMMAND, running
from support.providers.fakes import AnthropicFake, ScriptedTurn
from support.sdk import sdk

anthropic = sdk("anthropic")
pytestmark = pytest.mark.sdk

LONG = ScriptedTurn("A long answer that comes in many pieces, one by one, to its end.")
SECRET = "what-was-said"  # in no line of the log


@pytest.fixture
def config(tmp_path, serve):
    """A file of settings with one upstream."""

    def write(*fakes, text=""):
        tables = [
            f'[[serve.upstreams]]\nname = "{name}"\nurl = "{serve(fake)}"\nshape = "anthropic"\n'
            for name, fake in zip("ab", fakes, strict=False)
        ]
        path = tmp_path / "toolcarry.toml"
        path.write_text("\n".join(["[serve]", text, *tables]))
        return path

    return write


def ended(process, log=None):
    """The exit code, and what was logged, to a file where there is one."""
    _, err = process.communicate(timeout=30)
    err = err if log is None else log.read_bytes()
    assert b"Traceback" not in err
    assert SECRET.encode() not in err
    assert b"test-key" not in err
    return process.returncode, err.decode()


def takes_connections(url):
    try:
        httpx.get(f"{url}/healthz", timeout=5)
    except httpx.TransportError:
        return False
    return True


def stream_of(url):
    with anthropic.Anthropic(base_url=url, api_key="test-key", max_retries=0) as client:
        messages = [{"role": "user", "content": SECRET}]
        with client.messages.stream(model="m", max_tokens=9, messages=messages) as events:
            yield from events.text_stream


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stream_that_runs_comes_to_its_end(config, number):
    fake = AnthropicFake([LONG])
    held = fake.hold(6)
    with running("--config", config(fake)) as (process, url):
        pieces = stream_of(url)
        seen = [next(pieces)]
        assert held.is_held.wait(10)
        process.send_signal(number)
        wait_until(lambda: not takes_connections(url), what="the listener to be closed")
        assert process.poll() is None
        held.may_go.set()
        seen.extend(pieces)
        assert "".join(seen) == LONG.text
        code, err = ended(process)
    assert code == 0
    assert "ERROR" not in err


def test_no_longer_than_it_is_given(config):
    fake = AnthropicFake([LONG])
    held = fake.hold(6)
    with running("--config", config(fake), "--grace", "1") as (process, url):
        pieces = stream_of(url)
        next(pieces)
        assert held.is_held.wait(10)
        process.terminate()
        with pytest.raises(Exception, match="closed"):
            list(pieces)
        assert held.is_left.wait(10)
        code, err = ended(process)
    assert (code, "interrupted an answer" in err) == (0, True)


def test_a_second_interrupt_ends_at_once(config):
    fake = AnthropicFake([LONG])
    held = fake.hold(6)
    with running("--config", config(fake)) as (process, url):
        pieces = stream_of(url)
        next(pieces)
        assert held.is_held.wait(10)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not takes_connections(url), what="the first interrupt to be seen")
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        pieces.close()


def test_it_switches_and_logs_no_content(config, http):
    with running("--config", config(AnthropicFake(), AnthropicFake())) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        http.post(f"{url.control}/switch", json={"upstream": "b", "conversation": SECRET})
        assert "".join(stream_of(url)) == "Hello."
        process.terminate()
        code, err = ended(process)
    assert code == 0
    assert "INFO toolcarry.serve: switched a conversation to b" in err


def test_it_says_in_the_end_what_the_input_cost(config):
    path = config(AnthropicFake())
    path.write_text(
        f"{path.read_text()}[projection]\nenabled = true\n"
        '[[prices]]\nmodel = "m"\ncache_read = 0.1\ninput = 1_000_000\n'
    )
    with running("--config", path) as (process, url):
        assert "".join(stream_of(url)) == "Hello."
        process.terminate()
        said, _ = process.communicate(timeout=30)
    tokens = re.fullmatch(
        r"input: (\d+) of (\d+) tokens at list price \(1\.000 of sending all unchanged\), \$(\d+)\.00 of \$(\d+)\.00\n",
        said.decode(),
    )
    assert tokens is not None, said
    assert 5 < int(tokens[1]) < 100
    assert len(set(tokens.groups())) == 1


def test_the_log_has_the_lines_of_its_level(config, http):
    path = config(AnthropicFake(), AnthropicFake())
    with running("--config", path, "--log-level", "warning") as (process, url):
        http.post(f"{url.control}/switch", json={"upstream": "b"})
        process.terminate()
        assert ended(process) == (0, "")
    assert refused("--config", path, "--log-level", "loud")[0] == 2


def refused(*args):
    done = subprocess.run([*COMMAND, *map(str, args)], capture_output=True, check=False, timeout=60)
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
    return done.returncode, done.stderr.decode()


def test_unusable_configurations_stop_the_start(config, tmp_path):
    assert refused("--config", tmp_path / "absent")[0] == 3
    assert refused()[0] == 2
    code, err = refused("--config", config())
    assert (code, "serve.upstreams: is empty" in err) == (2, True)
    code, err = refused("--config", config(AnthropicFake(), text='default = "c"'))
    assert (code, "serve.default: 'c' is not allowed; allowed: 'a'" in err) == (2, True)
    code, err = refused("--config", config(AnthropicFake(), text="nothing = 1"))
    assert (code, "nothing" in err) == (2, True)


def test_changed_settings_take_effect(config, http, tmp_path):
    """A result that is too long is cut from the next request on, and a broken file changes nothing."""
    fake = AnthropicFake()
    path = config(fake)
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x" * 9_000}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    body = {"model": "claude", "max_tokens": 9, "messages": messages}
    headers = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}

    def sent(url):
        http.post(f"{url}/v1/messages", json=body, headers=headers).raise_for_status()
        return len(fake.recorded[-1].json["messages"][-1]["content"][0]["content"])

    log = tmp_path / "log"
    with log.open("wb") as file, running("--config", path, stderr=file) as (process, url):
        assert sent(url) == 9_000
        before = path.read_text()
        path.write_text(f"{before}\n[projection]\nenabled = true\nmax_result_chars = 500\n")
        wait_until(lambda: sent(url) <= 500, what="the new settings to be used")
        path.write_text("[projection\n")
        wait_until(lambda: "the settings are unchanged" in log.read_text())
        assert sent(url) <= 500
        process.terminate()
        code, _ = ended(process, log)
    assert code == 0


def test_a_port_that_is_taken(config):
    path = config(AnthropicFake())
    with running("--config", path) as (_, url):
        code, err = refused("--config", path, "--port", url.rpartition(":")[2])
    assert code == 1
    assert "cannot listen on 127.0.0.1:" in err


def test_it_needs_its_extra(config, tmp_path):
    (tmp_path / "httpx.py").write_text("raise ModuleNotFoundError('no', name='httpx')")
    script = "import sys; sys.path.insert(0, sys.argv[1]); from toolcarry.cli import main; sys.exit(main(sys.argv[2:]))"
    args = [sys.executable, "-c", script, tmp_path, "serve", "--config", config(AnthropicFake())]
    done = subprocess.run(args, capture_output=True, check=False, timeout=60)
    assert (done.returncode, b"pip install 'toolcarry[serve]'" in done.stderr) == (2, True)

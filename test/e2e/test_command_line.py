"""What a command says to somebody who types it wrong, pipes it, or starts it twice."""
import json
import os
import re
import signal
import socket
import subprocess
import threading

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

STRIPE = SECRETS["stripe"]
SEND = ["send", "stripe", "--to", "http://127.0.0.1:1/", "--secret", STRIPE]
HAMMER = ["hammer", "stripe", "--to", "http://127.0.0.1:1/", "--secret", STRIPE]


@pytest.fixture
def run(binary, tmp_path):
    def call(*arguments, **options):
        return subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL, **options)
    return call


MISTAKES = [
    (["events", "--limit", "0"], "--limit 0: must be a whole number from 1 to 100000"),
    (["events", "--limit", "many"], "--limit many: must be a whole number from 1 to 100000"),
    (["events", "--limit", "1.5"], "--limit 1.5: must be a whole number from 1 to 100000"),
    (["events", "--limit", "-1"], "--limit -1: must be a whole number from 1 to 100000"),
    (["events", "--limit"], "--limit needs a value"),
    (["rejected", "--limit", "0"], "--limit 0: must be a whole number from 1 to 100000"),
    (["tail", "--count", "0"], "--count 0: must be a whole number from 1 to 1000000"),
    ([*SEND, "--times", "0"], "--times 0: must be a whole number from 1 to 100000"),
    ([*HAMMER, "--copies", "1001"], "--copies 1001: must be a whole number from 1 to 1000"),
    ([*HAMMER, "--events", "99999999999999999999"], "--events 99999999999999999999: must be a whole number from 1 to 1000000"),
    (["sink", "--status", "99"], "--status 99: must be a whole number from 200 to 599"),
    (["sink", "--fail-first", "x"], "--fail-first x: must be a whole number from 0 to 1000000"),
    (["serve", "--config", "x", "--log-level", "wran"], "--log-level wran: must be one of debug, info, warn, error, off; did you mean warn?"),
    (["completion", "tcsh"], "SHELL tcsh: must be one of bash, zsh, fish"),
    (["events", "--state", "deda"], "--state deda: must be one of pending, delivered, dead; did you mean dead?"),
    ([*SEND, "--gap", "5x"], "--gap 5x: must be a duration"),
    (["events", "--source", ""], "--source is empty; give a value, or leave it out"),
    (["serve", "--config", ""], "--config is empty; give a value, or leave it out"),
    (["sink", "--listen", "127.0.0.1:99999"], "--listen \"127.0.0.1:99999\": not an address"),
    (["--verison"], "unexpected argument --verison; did you mean --version?"),
    (["help", "evnts"], "unknown command evnts; did you mean `hookonce events`?"),
    (["store"], "`hookonce store` needs a command: copy, backup"),
    (["store", "restore"], "unknown command store restore; there are copy, backup"),
]


@pytest.mark.parametrize("arguments, said", MISTAKES, ids=[said for _, said in MISTAKES])
def test_a_wrong_value_is_told_with_its_option_and_what_it_may_be(run, arguments, said):
    result = run(*arguments)
    assert result.returncode == 2 and result.stdout == "", result
    assert result.stderr.splitlines()[0].startswith("hookonce: " + said), result.stderr


@pytest.mark.parametrize("command", ["", "events", "store copy"])
def test_help_as_a_word_is_the_help_as_an_option(run, command):
    words = command.split()
    asked, option = run("help", *words), run(*words, "--help")
    assert asked.returncode == option.returncode == 0 and asked.stdout == option.stdout and asked.stderr == "", asked


def test_check_names_problems_and_warnings_in_the_order_of_the_file(run, tmp_path):
    (tmp_path / "hookonce.toml").write_text("""[destinations.backend]
url = "ftp://127.0.0.1/"
[sources.open]
provider = "none"
destinations = ["backend"]
tolerance = "5m"
[sources.shop]
provider = "strip"
destinations = ["nowhere"]
secrets = ["s"]
[server]
listen = "nonsense"
""")
    result = run("check", "--config", "hookonce.toml")
    assert result.returncode == 2, result
    *problems, count = result.stderr.splitlines()
    lines = [int(re.match(r"hookonce: hookonce\.toml:(\d+): ", problem).group(1)) for problem in problems]
    assert lines == sorted(lines) and len(set(lines)) >= 5, result.stderr
    assert any(": warning: " in problem for problem in problems) and re.fullmatch(r"hookonce: \d mistakes", count), result.stderr
    served = run("serve", "--config", "hookonce.toml")
    assert served.stderr.splitlines()[:-1] == problems and served.stderr.endswith("mistakes, nothing was started\n"), served


def test_events_into_a_pipe_that_nobody_reads_is_no_error(run, binary, start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1")).status == 200
    for command in ("events", "events --json", "status", "show evt_1"):
        line = f"exec 3> >(exec true); wait $!; {binary} {command} --admin http://{gateway.admin} >&3; echo $?"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout == "0\n" and done.stderr == "", done


def test_output_that_cannot_be_written_is_an_error_all_the_same(binary):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([binary, "man"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 1 and "standard output could not be written" in done.stderr, done


def test_send_prints_the_dedup_key_and_plain_numbers(run, start, backend):
    gateway = start(config(backend.url, "stripe", "slack"))
    told = run("send", "slack", "--to", f"http://{gateway.ingest}/in/slack", "--secret", SECRETS["slack"], "--type", "slash_command:/x", "--id", "1.2")
    assert told.returncode == 0 and told.stdout.splitlines()[0].endswith(", dedup key slack:trigger:1.2"), told
    told = run("send", "stripe", "--to", f"http://{gateway.ingest}/in/stripe", "--secret", STRIPE, "--id", "evt_7", "--times", "2", "--json")
    for line in told.stdout.splitlines():
        assert json.loads(line)["dedup_key"] == "evt_7" == json.loads(gateway.api("GET", "/api/v1/events?source=stripe").body)["items"][0]["key"]
        assert re.search(r'"latency_ms":\d+(\.\d{1,3})?,', line), line


def forward(binary, folder, *arguments):
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([binary, "forward", "stripe", "--secret", STRIPE, "--to", "http://127.0.0.1:1/", *arguments], cwd=folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})


def test_forward_leaves_no_file_behind_where_it_cannot_start(binary, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments in (["--listen", f"127.0.0.1:{port}"], ["--listen", "nonsense"], ["--listen", "127.0.0.1:0", "--path", "no-slash"]):
            process = forward(binary, tmp_path / "folder", *arguments)
            _, said = process.communicate(timeout=60)
            assert process.returncode == 2 and "nothing was started" in said, said
            assert os.listdir(tmp_path / "folder") == [], arguments
    assert f"127.0.0.1:{port}" not in said


def test_two_forwards_at_once_each_get_their_ports_and_a_taken_inbox_is_named(binary, tmp_path):
    both = [forward(binary, tmp_path / name, "--listen", "127.0.0.1:0") for name in ("one", "two")]
    try:
        lines = [process.stdout.readline() for process in both]
        ports = [re.fullmatch(r"hookonce: ready ingest=127\.0\.0\.1:(\d+) admin=127\.0\.0\.1:(\d+)\n", line).groups() for line in lines]
        assert len({port for pair in ports for port in pair}) == 4, ports
        third = forward(binary, tmp_path / "one", "--listen", "127.0.0.1:0")
        _, said = third.communicate(timeout=60)
        assert third.returncode == 2 and "hookonce-stripe.db" in said and "nothing was started" in said, said
        fourth = forward(binary, tmp_path / "four", "--listen", f"127.0.0.1:{ports[0][0]}")
        _, said = fourth.communicate(timeout=60)
        assert fourth.returncode == 2 and f"127.0.0.1:{ports[0][0]}: address in use" in said, said
    finally:
        for process in both:
            process.send_signal(signal.SIGTERM)
            reader = threading.Thread(target=process.communicate)
            reader.start()
            reader.join(60)
            assert process.returncode == 0

"""Shell completions in the shells themselves, and the man page as man formats it."""
import re
import shutil
import subprocess

import pytest


def run(*command, **options):
    assert shutil.which(command[0]), f"{command[0]} is missing; ./x test installs it"
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def script(binary, tmp_path):
    def write(shell):
        path = tmp_path / ("_hookonce" if shell == "zsh" else "hookonce." + shell)
        path.write_text(subprocess.run([binary, "completion", shell], capture_output=True, text=True, check=True).stdout)
        return path
    return write


COMPLETIONS = {
    "hookonce eve": {"events"},
    "hookonce store c": {"copy"},
    "hookonce events --st": {"--state"},
    "hookonce store backup --fr": {"--from"},
    "hookonce --ver": {"--version"},
    "hookonce events --state d": {"delivered", "dead"},
    "hookonce send str": {"stripe"},
    "hookonce forward s": {"slack", "standard_webhooks", "stripe", "svix"},
    "hookonce completion f": {"fish"},
    "hookonce verify to": {"token"},
    "hookonce sink --verify no": {"none"},
    "hookonce serve --log-level e": {"error"},
}


@pytest.mark.parametrize("line", COMPLETIONS)
def test_bash_completes(script, line):
    words = line.split(" ")
    ask = (f"source {script('bash')}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _hookonce; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    answer = run("bash", "-c", ask)
    assert answer.returncode == 0 and set(answer.stdout.split()) == COMPLETIONS[line], answer


def test_bash_completes_files_where_a_file_is_asked_for(script, tmp_path):
    (tmp_path / "gateway.toml").touch()
    ask = f"source {script('bash')}; COMP_WORDS=(hookonce serve --config gate); COMP_CWORD=3; _hookonce; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    assert run("bash", "-c", ask, cwd=tmp_path).stdout.split() == ["gateway.toml"]


@pytest.mark.parametrize("line", COMPLETIONS)
def test_fish_completes(script, line):
    answer = run("fish", "--no-config", "-c", f"source {script('fish')}; complete -C {line!r}")
    assert answer.returncode == 0, answer
    assert {found.split("\t")[0] for found in answer.stdout.splitlines()} == COMPLETIONS[line], answer


def test_zsh_takes_its_script(script):
    path = script("zsh")
    loaded = run("zsh", "-f", "-c", f"autoload -Uz compinit && compinit -u -D && source {path} && print $_comps[hookonce] && zsh -n {path}")
    assert loaded.returncode == 0 and loaded.stdout.strip() == "_hookonce", loaded


def test_zsh_offers_the_values_that_an_option_takes(script):
    """compadd is replaced, since the real one works inside a key binding alone."""
    ask = (f"compadd() {{ shift; print -l -- $@ }}; _describe() {{ }}; _files() {{ }}; compdef() {{ }}; source {script('zsh')}; "
           "words=({words}); CURRENT={current}; _hookonce")
    for line, offered in (("hookonce events --state ''", "pending delivered dead"), ("hookonce completion ''", "bash zsh fish")):
        answer = run("zsh", "-f", "-c", ask.replace("{words}", line).replace("{current}", str(len(line.split()))))
        assert answer.returncode == 0 and answer.stdout.split() == offered.split(), answer


@pytest.mark.parametrize("command", ["completion bash", "man", "events --help"])
def test_a_reader_that_wants_the_first_line_alone_hears_of_no_error(binary, command):
    """The pipe is closed before anything is written: what `| head -1` does, without the luck of who is first."""
    done = run("bash", "-c", f"exec 3> >(exec true); wait $!; {binary} {command} >&3; echo $?")
    assert done.returncode == 0 and done.stdout == "0\n" and done.stderr == "", done


def test_another_shell_is_refused_with_those_that_there_are(binary):
    refused = run(str(binary), "completion", "tcsh")
    assert refused.returncode == 2 and "bash" in refused.stderr, refused


def test_the_man_page_is_whole(binary):
    page = run(str(binary), "man").stdout
    formatted = run("groff", "-man", "-ww", "-Tutf8", "-P-c", input=page)
    assert formatted.returncode == 0 and formatted.stderr == "", formatted.stderr
    plain = re.sub(r".\x08", "", formatted.stdout)
    commands = re.findall(r"^  (\w+) ", run(str(binary), "--help").stdout.split("Subcommands:")[-1], re.MULTILINE)
    assert "serve" in commands
    for command in set(commands) - {"hookonce"}:  # which begins the examples
        assert f"hookonce {command}" in plain, command

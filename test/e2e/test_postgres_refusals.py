"""PostgreSQL servers and URLs that are not fit for an inbox: exit 2, one line that says what to mend, and never the password."""
import subprocess

import pytest

from support.gateway import config, to_toml
from support.postgres_server import PASSWORD, PostgresServer, ServerMissing, free_port
from support.shared_stores import missing


@pytest.fixture(scope="module")
def server():
    try:
        with PostgresServer() as running:
            yield running
    except ServerMissing as why:
        missing(why)


@pytest.fixture
def setting(server):
    """setting(name, value) starts the server anew with it; afterwards it is as it was."""
    before = dict(server.settings)

    def set_and_restart(name, value):
        server.settings[name] = value
        server.restart("fast")

    yield set_and_restart
    if server.settings != before:
        server.settings = before
        server.restart("fast")


def run(binary, directory, url, command="serve", environment=None):
    (directory / "hookonce.toml").write_text(to_toml(config("http://127.0.0.1:9/", "stripe", store={"url": url})))
    return subprocess.run([binary, command, "--config", "hookonce.toml"], cwd=directory, capture_output=True, text=True, timeout=60,
                          check=False, env=environment)


def assert_refused(done, status, *words):
    assert done.returncode == status, done
    everything = done.stdout + done.stderr
    complaint = [line for line in done.stderr.splitlines() if all(word in line for word in words)]
    assert len(complaint) == 1, everything
    assert PASSWORD not in everything and "wrong-password" not in everything


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_server_that_would_lose_what_it_committed_is_refused_by_name(binary, tmp_path, server, setting, name):
    setting(name, "off")
    assert_refused(run(binary, tmp_path, server.url()), 2, f"{name} = off", "turn it on")


def test_a_server_that_only_reads_is_refused(binary, tmp_path, server, setting):
    setting("default_transaction_read_only", "on")
    assert_refused(run(binary, tmp_path, server.url()), 2, "read-only", "default_transaction_read_only")


def test_a_replica_is_refused(binary, tmp_path, server):
    server.stop("fast")
    (server.data / "standby.signal").touch()
    server.start()
    try:
        assert_refused(run(binary, tmp_path, server.url()), 2, "read-only replica", "primary")
    finally:
        server.stop("fast")
        (server.data / "standby.signal").unlink()
        server.start()


def test_a_wrong_password_is_refused(binary, tmp_path, server):
    assert_refused(run(binary, tmp_path, server.url(password="wrong-password")), 2, "password authentication failed",
                   "correct user and password")


def test_a_missing_database_is_refused(binary, tmp_path, server):
    assert_refused(run(binary, tmp_path, server.url(database="nowhere")), 2, 'database "nowhere" does not exist', "createdb")


def test_tables_of_a_newer_version_are_refused(binary, tmp_path, server):
    server.sql("CREATE SCHEMA newer; CREATE TABLE newer.schema_version (version integer, written_by text); "
               "INSERT INTO newer.schema_version VALUES (99, 'hookonce')")
    assert_refused(run(binary, tmp_path, server.url("newer")), 2, "version 99", "use a newer hookonce")


def test_a_schema_of_somebody_else_is_refused(binary, tmp_path, server):
    server.sql("CREATE SCHEMA theirs; CREATE TABLE theirs.customers (id integer)")
    assert_refused(run(binary, tmp_path, server.url("theirs")), 2, "theirs", "name another with ?schema=")


def test_a_server_that_is_not_there_ends_with_1(binary, tmp_path, server):
    url = f"postgres://hookonce:{PASSWORD}@127.0.0.1:{free_port()}/inbox"
    assert_refused(run(binary, tmp_path, url), 1, "127.0.0.1", "refused")


@pytest.mark.parametrize("rest", ["hookonce:sample-password%zz@127.0.0.1/inbox", "hookonce:p@sample-password@127.0.0.1/inbox",
                                  "hookonce:sample-password@127.0.0.1/inbox?nonsense=1",
                                  "hookonce:sample-password@127.0.0.1/inbox?schema=Not-Plain"])
def test_check_names_a_broken_url_without_its_password(binary, tmp_path, rest):
    done = run(binary, tmp_path, f"postgres://{rest}", command="check")
    assert done.returncode == 2, done
    assert "store.url" in done.stdout + done.stderr or "url" in done.stderr
    assert PASSWORD not in done.stdout + done.stderr


@pytest.mark.parametrize("form", ["env", "file"])
def test_the_url_may_stand_in_the_environment_or_a_file(binary, tmp_path, server, form):
    url = server.url("newer", password="wrong-password")
    (tmp_path / "url").write_text(url + "\n")
    done = run(binary, tmp_path, "env:INBOX_URL" if form == "env" else "file:url", environment={"INBOX_URL": url})
    assert_refused(done, 2, "password authentication failed")

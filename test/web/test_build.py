"""The dashboard that is checked in is what its source makes, and the source's own tests pass."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "src" / "admin" / "dashboard"
NODE = ROOT / "build" / "tools" / "sdk" / "bin" / "node"


def run(*command, **environment):
    done = subprocess.run([NODE, *command], cwd=WEB, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_checked_in_is_what_a_fresh_build_makes(tmp_path):
    run("node_modules/vite/bin/vite.js", "build", "--logLevel", "error", HOOKONCE_DASHBOARD_OUT=str(tmp_path / "dashboard"))
    fresh, kept = files(tmp_path / "dashboard"), files(BUILT)
    assert sorted(fresh) == sorted(kept), "`./x dashboard` builds it anew"
    assert [name for name in fresh if fresh[name] != kept[name]] == [], "`./x dashboard` builds it anew"


def test_the_source_has_no_type_error():
    run("node_modules/typescript/bin/tsc", "--noEmit")


def test_the_sources_own_tests_pass():
    run("--test", *sorted(path.relative_to(WEB).as_posix() for path in (WEB / "test").glob("*.test.ts")))


def test_the_lock_file_names_no_address():
    # Which index it comes from is the machine's own setting.
    assert '"resolved"' not in (WEB / "package-lock.json").read_text()

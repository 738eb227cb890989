#!/usr/bin/env python3
"""Runs every test (GoogleTest programs by ctest, the real binary by pytest) and ends with one line of counts.

With CI=true a skipped test is a failure. The two halves run one after the other, each with its own parallelism.
"""
import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from with_servers import servers

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "release")


def run(title, command, environment=None):
    print(f"x: {title}", flush=True)
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, check=False).returncode


def counts(junit_file):
    """(passed, failed, skipped) of a JUnit file; a missing file is one failure."""
    try:
        root = ElementTree.parse(junit_file).getroot()
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    cases = list(root.iter("testcase"))
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"))
    return len(cases) - failed - skipped, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--without-sdks", action="store_true", help="leave out test/sdk and test/web, which count as one skipped test each")
    arguments = parser.parse_args()
    with servers() as environment:
        os.environ.update(environment)
        return run_all(arguments)


def run_all(arguments):
    jobs = arguments.jobs
    suites = ["tools", "bench", "test/e2e", "test/twins", "test/crash"] + ([] if arguments.without_sdks else ["test/sdk", "test/web"])
    results = []
    unit_file = os.path.join(BUILD, "unit.xml")
    e2e_file = os.path.join(BUILD, "e2e.xml")
    for stale in (unit_file, e2e_file):
        if os.path.exists(stale):
            os.remove(stale)
    unit = run("unit, contract and model tests", ["ctest", "--test-dir", BUILD, "--no-tests=error", "--output-on-failure",
                                                  "-j", str(jobs), "--output-junit", unit_file, "--progress"])
    results.append(counts(unit_file))
    # Processes wait more than they compute: one worker more than cores.
    e2e = run("tools, end to end, SDK, dashboard, twins and crash tests",
              [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(jobs + 1), f"--junit-xml={e2e_file}",
               *suites],
              {"HOOKONCE_BINARY": os.path.join(BUILD, "hookonce")})
    results.append(counts(e2e_file))
    if arguments.without_sdks:
        results.append((0, 0, 2))
    passed, failed, skipped = (sum(column) for column in zip(*results))
    if skipped and os.environ.get("CI", "").lower() == "true":
        print(f"x: {skipped} tests were skipped, which CI does not accept")
        failed += skipped
        skipped = 0
    if (unit or e2e) and not failed:
        failed = 1  # A runner that ends badly has failed, whatever it counted.
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

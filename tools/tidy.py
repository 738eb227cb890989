#!/usr/bin/env python3
"""Checks what the compiler does not: floors, containment, words, sizes and names that clash. Exit 1 names each breach with file and line.

usage: tools/tidy.py [--root DIR]
"""
import argparse
import pathlib
import re
import subprocess
import sys

# Each folder of src/ and what it may include besides itself: the floors of ARCHITECTURE.md. A name with a dot is one header.
FLOORS = {
    "base": [],
    "core": ["base"],
    "provider": ["core", "base"],
    "store": ["core", "base"],
    "http": ["base"],
    "ingest": ["provider", "store/store.h", "store/committer.h", "core", "base"],
    "dispatch": ["provider", "store/store.h", "store/committer.h", "http/client.h", "core", "base"],
    "admin": ["store/store.h", "store/committer.h", "store/rejected_store.h", "core", "base"],
    "app": ["admin", "dispatch", "ingest", "http", "store", "provider", "core", "base"],
    "cli": ["app", "provider", "http", "core", "base"],
}

# A library's headers, and the only files that may include them.
CONTAINED = {
    r"sqlite3\.h": r"src/store/sqlite_\w+\.(h|cc)",
    r"hiredis/": r"src/store/redis_\w+\.(h|cc)",
    r"libpq-fe\.h": r"src/store/postgres_\w+\.(h|cc)",
    r"curl/": r"src/http/client(\.cc|_transfer\.(h|cc))",
    r"openssl/": r"src/(base/crypto|http/server_tls)\.cc",
    r"boost/json": r"src/base/json(_scan)?\.(h|cc)",
    r"boost/(asio|beast)": r"src/http/server\w*\.(h|cc)",
    r"toml\+\+": r"src/core/config_load\.cc",
    r"CLI/": r"src/cli/\w+\.cc",
    r"(mutex|condition_variable|shared_mutex)$": r"src/base/sync\.h",
    r"random$": r"src/base/random\.cc",
    r"sys/random\.h": r"src/base/random\.cc",
    r"thread$": r"src/(app/\w+|http/\w+|dispatch/\w+|store/(committer|sqlite_checkpointer))\.(h|cc)",
}

# Calls that ask the machine for something one file answers.
CALLS = {
    r"\b(system_clock|steady_clock|high_resolution_clock)::now\s*\(|\bclock_gettime\s*\(|\bgettimeofday\s*\(": r"src/base/clock\.cc",
    r"\bgetrandom\s*\(|\brandom_device\b|\bmt19937": r"src/base/random\.cc",
    r"std::(recursive_|shared_)?mutex\b|std::condition_variable": r"src/base/sync\.h",
}

PROVIDER_NAMES = r"slack|stripe|github|standard_?webhooks?|svix"
PROVIDER_FILES = r"src/provider/|.*_test\.cc$"

LINES_MAX = 600
FOREIGN_WORDS = re.compile(r"\b(TODO|FIXME|XXX)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
# Types at namespace level begin in the first column, as clang-format puts them; a declaration ends in a semicolon.
TYPE = re.compile(r"(?:class|struct) (?:[A-Z_]+\([^)]*\) )?(\w+)(?: final)?(?: : [^;]*)?( \{|$)")


def sources(root):
    try:
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], check=True,
                                capture_output=True, text=True).stdout.split("\n")
        paths = [p for p in listed if p]
    except (subprocess.CalledProcessError, FileNotFoundError):
        paths = []
    if not paths:
        paths = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    return sorted(p for p in paths if p.endswith((".cc", ".h")) and (root / p).is_file())


def floor_breach(path, included):
    folder = pathlib.PurePath(path).parts[1]
    target = included.split("/")[0]
    if target not in FLOORS or target == folder:
        return None
    if folder not in FLOORS:
        return f"folder src/{folder} has no floor; add it to FLOORS in tools/tidy.py and to ARCHITECTURE.md"
    allowed = FLOORS[folder]
    if target in allowed or included in allowed:
        return None
    return f'#include "{included}" breaks the floors: {folder}/ may include {", ".join(allowed) or "nothing of ours"}'


def without_comments(line):
    return line.split("//", 1)[0]


def check_line(path, line, is_test):
    code = without_comments(line)
    match = INCLUDE.match(line)
    if match and path.startswith("src/"):
        quote, included = match.groups()
        parts = pathlib.PurePath(path).parts
        if quote == '"' and len(parts) > 2:
            if not is_test:
                breach = floor_breach(path, included)
                if breach:
                    yield breach
            if "/" not in included:
                yield f'#include "{included}": include by path from src/'
        for library, place in CONTAINED.items():
            if not is_test and re.match(library, included) and not re.fullmatch(place, path):
                yield f"#include of {included} belongs into {place} alone"
    if path.startswith("src/") and not is_test:
        for call, place in CALLS.items():
            if re.search(call, code) and not re.fullmatch(place, path):
                yield f"`{re.search(call, code).group(0)}` belongs into {place} alone"
        if not re.match(PROVIDER_FILES, path):
            # Texts for people (help, hints) may name a provider as an example; identifiers may not.
            # Strings go first: an address in one holds `//`, which is no comment.
            bare = without_comments(re.sub(r'"(\\.|[^"\\])*"', '""', line))
            name = None if match else re.search(PROVIDER_NAMES, bare, re.IGNORECASE)
            if name and not re.search(r"StandardWebhooksSigner|standard_webhooks_signer|decode_standard_webhooks", bare):
                yield f"provider name `{name.group(0)}` belongs into its own file in src/provider"
    if is_test and re.search(r"\bsleep_for\b|\busleep\s*\(|\bsleep\s*\(", code):
        yield "a test that sleeps: move the clock or await a signal"
    if FOREIGN_WORDS.search(line):
        yield f"`{FOREIGN_WORDS.search(line).group(0)}` never lands"
    if "\t" in line:
        yield "a tab"
    if line != line.rstrip():
        yield "blanks at the line's end"


def types_of(lines):
    """The types that other files see, with their lines: what stands in a nameless namespace is the file's own."""
    nameless = False
    for number, line in enumerate(lines, 1):
        if line in ("namespace {", "}  // namespace"):
            nameless = line == "namespace {"
        match = None if nameless else TYPE.match(line)
        if match:
            yield match.group(1), number


def check(root):
    found = []
    first_place = {}
    for path in sources(root):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        lines = text.split("\n")
        is_test = path.startswith("test/") or path.endswith("_test.cc")
        if path.endswith(".h") and "#pragma once" not in text:
            found.append(f"{path}:1: no #pragma once")
        if len(lines) - 1 > LINES_MAX:
            found.append(f"{path}:{LINES_MAX}: {len(lines) - 1} lines; over {LINES_MAX} ask which line was not drawn")
        # The linker takes one of two equal names and says nothing.
        for name, number in types_of(lines):
            place = first_place.setdefault(name, f"{path}:{number}")
            if not place.startswith(f"{path}:"):
                found.append(f"{path}:{number}: type `{name}` is defined at {place} too; rename one, or move it into a nameless namespace")
        for number, line in enumerate(lines, 1):
            found += [f"{path}:{number}: {breach}" for breach in check_line(path, line, is_test)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    found = check(root)
    for breach in found:
        print(breach)
    print(f"tidy: {len(found)} breaches" if found else f"tidy: {len(sources(root))} files are as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

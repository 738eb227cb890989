#!/usr/bin/env python3
"""Writes the built dashboard as C++: each file's bytes, plain and compressed, for src/admin/dashboard.h.

usage: tools/embed_dashboard.py FOLDER OUTPUT
"""
import gzip
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
BYTES_A_LINE = 32


def path_of(name):
    """What a browser asks for."""
    return "/" if name == "index.html" else "/" + name


def array(name, data):
    lines = [f"constexpr unsigned char {name}[] = {{"]
    for at in range(0, len(data), BYTES_A_LINE):
        lines.append("  " + "".join(f"{byte}," for byte in data[at:at + BYTES_A_LINE]))
    return lines + ["};"]


def source(folder):
    lines = ['#include "admin/dashboard.h"', "", "namespace hookonce {", "", "namespace {", ""]
    rows = []
    for number, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        name = path.relative_to(folder).as_posix()
        data = path.read_bytes()
        packed = gzip.compress(data, 9, mtime=0)  # no time in it: equal files make equal programs
        lines += array(f"kPlain{number}", data) + array(f"kPacked{number}", packed)
        digest = hashlib.sha256(data).hexdigest()[:32]
        rows.append(f'    {{"{path_of(name)}", "{TYPES[path.suffix]}", "{digest}", text(kPlain{number}), text(kPacked{number})}},')
    lines += ["", "template <std::size_t N>", "std::string_view text(const unsigned char (&bytes)[N]) {",
              "  return {reinterpret_cast<const char*>(bytes), N};", "}", "", "}  // namespace", "",
              "std::span<const DashboardFile> dashboard_files() {", "  static const DashboardFile files[] = {", *rows, "  };",
              "  return files;", "}", "", "}  // namespace hookonce", ""]
    return "\n".join(lines)


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    pathlib.Path(sys.argv[2]).write_text(source(pathlib.Path(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())

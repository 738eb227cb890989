"""The tool that guards the floors is itself tested: each breach that it must find is written into a tree of its own."""
import pathlib
import subprocess
import sys

import pytest

TIDY = pathlib.Path(__file__).resolve().parent / "tidy.py"

BREACHES = [
    ("src/core/retry.cc", '#include "store/store.h"\n', "breaks the floors"),
    ("src/ingest/ingest.cc", '#include "dispatch/pool.h"\n', "breaks the floors"),
    ("src/ingest/ingest.cc", '#include "store/open.h"\n', "breaks the floors"),
    ("src/provider/stripe.cc", '#include "http/client.h"\n', "breaks the floors"),
    ("src/base/bytes.cc", '#include "core/model.h"\n', "breaks the floors"),
    ("src/util/strings.cc", '#include "base/bytes.h"\n', "has no floor"),
    ("src/core/model.cc", '#include "model.h"\n', "include by path"),
    ("src/store/memory_store.cc", "#include <sqlite3.h>\n", "alone"),
    ("src/store/sqlite_store.cc", "#include <libpq-fe.h>\n", "alone"),
    ("src/store/memory_store.cc", "#include <hiredis/hiredis.h>\n", "alone"),
    ("src/dispatch/http_sender.cc", "#include <curl/curl.h>\n", "alone"),
    ("src/admin/api.cc", "#include <thread>\n", "alone"),
    ("src/core/retry.cc", "auto now = std::chrono::system_clock::now();\n", "alone"),
    ("src/store/committer.cc", "std::mutex mutex_;\n", "alone"),
    ("src/ingest/ingest.cc", "if (source.provider == kStripe) accept();\n", "provider name"),
    ("src/core/retry_test.cc", "std::this_thread::sleep_for(1s);\n", "sleeps"),
    ("src/core/retry.cc", "int x;  // TODO later\n", "never lands"),
    ("src/core/retry.h", "int x;\n", "#pragma once"),
    ("src/core/retry.cc", "int x;\n" * 601, "lines"),
]


def tidy(root):
    return subprocess.run([sys.executable, str(TIDY), "--root", str(root)], capture_output=True, text=True, check=False)


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize("path, text, expected", BREACHES)
def test_a_breach_is_found_and_named(tmp_path, path, text, expected):
    write(tmp_path, path, text)
    result = tidy(tmp_path)
    assert result.returncode == 1
    assert path in result.stdout
    assert expected in result.stdout


@pytest.mark.parametrize("second", ["class Query {\n};\n", "struct Query : Base {\n};\n", "class Query\n    : public Base {\n};\n"])
def test_two_types_of_one_name_are_found(tmp_path, second):
    write(tmp_path, "src/cli/query.h", "#pragma once\nnamespace hookonce {\nclass Query {\n};\n}  // namespace hookonce\n")
    write(tmp_path, "src/store/search.cc", f"namespace hookonce {{\n{second}}}  // namespace hookonce\n")
    result = tidy(tmp_path)
    assert result.returncode == 1
    assert "src/store/search.cc:2: type `Query` is defined at src/cli/query.h:3 too" in result.stdout


@pytest.mark.parametrize("second", ["class Query;\n", "namespace {\nclass Query {\n};\n}  // namespace\n", "class Query::Part {\n};\n"])
def test_a_type_that_is_declared_or_the_files_own_clashes_with_none(tmp_path, second):
    write(tmp_path, "src/cli/query.h", "#pragma once\nnamespace hookonce {\nclass Query {\n};\n}  // namespace hookonce\n")
    write(tmp_path, "src/store/search.cc", f"namespace hookonce {{\n{second}}}  // namespace hookonce\n")
    assert tidy(tmp_path).returncode == 0


def test_a_clean_tree_passes(tmp_path):
    write(tmp_path, "src/ingest/ingest.cc",
          '#include "ingest/ingest.h"\n\n#include <vector>\n\n#include "store/committer.h"\n#include "core/model.h"\n')
    result = tidy(tmp_path)
    assert result.returncode == 0, result.stdout


def test_the_project_itself_is_tidy():
    result = tidy(TIDY.parent.parent)
    assert result.returncode == 0, result.stdout

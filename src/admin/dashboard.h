// The dashboard: the page at `/` and the script and style sheet it loads, as web/ builds them and src/admin/dashboard/
// keeps them. They are part of the program, each plain and compressed. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/http_message.h"

namespace hookonce {

struct DashboardFile {
  std::string_view path;  // as it is asked for: "/", "/assets/index-1a2b3c4d.js"
  std::string_view content_type;
  std::string_view hash;  // of the plain bytes, hex
  std::string_view plain;
  std::string_view gzip;
};

// Made by tools/embed_dashboard.py when the program is built.
std::span<const DashboardFile> dashboard_files();

// Null where the path is none of them.
const DashboardFile* find_dashboard_file(std::string_view path);

// 200 with the bytes (compressed where the caller takes that), or 304 where it has them. With its own rules for caches,
// and those that a browser is to enforce on the page. REQUIRES: the method is GET or HEAD.
HttpResponse dashboard_answer(const DashboardFile& file, const HttpRequest& request);

}  // namespace hookonce

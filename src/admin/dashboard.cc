#include "admin/dashboard.h"

#include <string>

#include "base/bytes.h"

namespace hookonce {

namespace {

// Nothing from elsewhere, nothing inline, no frame around it. `data:` is the icon.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

// The page names the others by their content, so it alone is asked for anew each time.
constexpr std::string_view kCachedForGood = "public, max-age=31536000, immutable";
constexpr std::string_view kAskedAnew = "no-cache";

// One item of a comma-separated list, "gzip;q=0.5": the name without its parameters, and whether q says never.
struct Choice {
  std::string_view name;
  bool refused = false;
};

Choice choice_of(std::string_view item) {
  const auto semicolon = item.find(';');
  Choice choice{trim(item.substr(0, semicolon))};
  if (semicolon == std::string_view::npos) return choice;
  const std::string_view parameter = trim(item.substr(semicolon + 1));
  if (!equals_ignore_case(parameter.substr(0, 2), "q=")) return choice;
  choice.refused = parameter.substr(2).find_first_not_of("0.") == std::string_view::npos;
  return choice;
}

bool takes_gzip(const Headers& headers) {
  bool any = false;
  for (std::string_view list : headers.all("Accept-Encoding")) {
    while (!list.empty()) {
      const auto comma = list.find(',');
      const Choice choice = choice_of(list.substr(0, comma));
      if (equals_ignore_case(choice.name, "gzip")) return !choice.refused;
      any = any || (choice.name == "*" && !choice.refused);
      list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
  }
  return any;
}

bool has_tag(const Headers& headers, std::string_view tag) {
  for (std::string_view list : headers.all("If-None-Match")) {
    while (!list.empty()) {
      const auto comma = list.find(',');
      std::string_view one = trim(list.substr(0, comma));
      if (one.substr(0, 2) == "W/") one.remove_prefix(2);
      if (one == tag || one == "*") return true;
      list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
  }
  return false;
}

}  // namespace

const DashboardFile* find_dashboard_file(std::string_view path) {
  for (const DashboardFile& file : dashboard_files()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

HttpResponse dashboard_answer(const DashboardFile& file, const HttpRequest& request) {
  const bool compressed = takes_gzip(request.headers);
  // Two codings are two representations, and each has its own strong tag.
  const std::string tag = "\"" + std::string(file.hash) + (compressed ? "-gzip\"" : "\"");
  HttpResponse response;
  response.headers.add("Cache-Control", std::string(file.path == "/" ? kAskedAnew : kCachedForGood));
  response.headers.add("ETag", tag);
  response.headers.add("Vary", "Accept-Encoding");
  response.headers.add("Content-Security-Policy", std::string(kContentSecurityPolicy));
  response.headers.add("Referrer-Policy", "same-origin");
  response.headers.add("X-Content-Type-Options", "nosniff");
  if (has_tag(request.headers, tag)) {
    response.status = 304;
    return response;
  }
  response.headers.add("Content-Type", std::string(file.content_type));
  if (compressed) response.headers.add("Content-Encoding", "gzip");
  response.body = std::string(compressed ? file.gzip : file.plain);
  return response;
}

}  // namespace hookonce

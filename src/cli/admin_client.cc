#include "cli/admin_client.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/bytes.h"
#include "cli/commands.h"
#include "cli/event_stream.h"
#include "cli/terminal.h"
#include "core/config_load.h"
#include "core/model.h"
#include "provider/registry.h"

namespace hookonce {

namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(60);  // a search through bodies may read a large inbox
// A body of 25 MiB whose every byte takes six in JSON, with room for its headers.
constexpr std::size_t kAnswerMax = 192 * kMiB;
constexpr Duration kFollowFor = std::chrono::hours(24 * 365);  // a stream lasts until someone ends it
constexpr std::string_view kIngestCode = "no_such_source";     // what the ingest listener says of the API's paths
constexpr int kSameKeyShown = 50;  // events listed for one provider's id; more than one is rare already

// For messages: they are copied into tickets and logs.
std::string without_password(std::string_view url) {
  const auto scheme = url.find("://");
  const std::size_t from = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto at = url.substr(from, url.find_first_of("/?#", from) - from).rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, from)) + "[masked]" + std::string(url.substr(from + at));
}

std::string unreachable(const std::string& url, const ClientResponse& response) {
  if (response.result == ClientResponse::Result::kNotSent) {
    return fmt::format(
        "no gateway answers at {} ({}); start one with `hookonce serve --config FILE`, or name another with --admin or "
        "HOOKONCE_ADMIN",
        without_password(url), response.error);
  }
  return fmt::format("the gateway at {} gave no answer: {}", without_password(url), response.error);
}

Status refused(const std::string& url, const ClientResponse& response, bool token_given) {
  std::string code;
  std::string message;
  if (const Result<json::value> answer = parse_json(response.body); answer.ok() && answer->is_object()) {
    if (const json::value* error = answer->get_object().if_contains("error")) {
      code = json_string(*error, "code").value_or("");
      message = json_string(*error, "message").value_or("");
    }
  }
  if (code.empty() || code == kIngestCode) {
    return unavailable(
        fmt::format("{} answers {}, but not as a gateway's admin API; is it the admin address, not the ingest one?",
                    without_password(url), response.status));
  }
  if (response.status == 401 && token_given) {
    return invalid(fmt::format(
        "the gateway at {} does not take this token; it wants the one of server.admin_token (--token, HOOKONCE_TOKEN)",
        without_password(url)));
  }
  if (response.status == 401) {
    return invalid(fmt::format("the gateway at {} wants its admin token; pass --token or set HOOKONCE_TOKEN",
                               without_password(url)));
  }
  const std::string text = fmt::format("{}: {}", printable(code), printable(message));
  if (response.status == 404) return not_found(text);
  return response.status < 500 ? invalid(text) : unavailable(text);
}

}  // namespace

void add_admin_options(CLI::App& command, AdminOptions& options) {
  command.add_option("--admin", options.admin, "The gateway's admin address")
      ->envname("HOOKONCE_ADMIN")
      ->type_name("URL")
      ->capture_default_str();
  command.add_option("--token", options.token, "Its admin token: a literal, env:NAME or file:PATH")
      ->envname("HOOKONCE_TOKEN")
      ->type_name("T");
  command.add_flag("--json", options.json, "Print JSON with times in UTC, for programs");
}

void QueryText::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += '&';
  text_ += percent_encode(name) + "=" + percent_encode(value);
}

Result<std::string> admin_url(std::string_view text) {
  std::string url(trim(text));
  if (url.find("://") == std::string::npos) url.insert(0, "http://");
  while (!url.empty() && url.back() == '/') url.pop_back();
  const bool http = url.rfind("http://", 0) == 0 && url.size() > 7;
  const bool https = url.rfind("https://", 0) == 0 && url.size() > 8;
  if (!http && !https)
    return invalid(fmt::format("--admin {}: not an http address; as in http://127.0.0.1:8081", without_password(text)));
  return url;
}

Result<AdminClient> AdminClient::make(const AdminOptions& options) {
  HK_ASSIGN(std::string url, admin_url(options.admin));
  std::string token;
  if (!options.token.empty()) {
    const Result<std::string> resolved =
        resolve_secret(options.token, machine_world(all_provider_traits(), check_source_secrets));
    if (!resolved.ok()) return resolved.status().with_context("--token");
    token = *resolved;
  }
  return AdminClient(std::move(url), std::move(token));
}

Result<json::value> AdminClient::get(std::string_view path, const QueryText& query) const {
  std::string target(path);
  if (!query.text().empty()) target += "?" + query.text();
  return call("GET", target, nullptr);
}

Result<json::value> AdminClient::post(std::string_view path, const json::value& body) const {
  return call("POST", path, &body);
}

ClientRequest AdminClient::request_to(std::string method, std::string_view target) const {
  ClientRequest request;
  request.method = std::move(method);
  request.url = url_ + std::string(target);
  request.timeout = kAnswerWithin;
  request.response_limit = kAnswerMax;
  if (!token_.empty()) request.headers.add("Authorization", "Bearer " + token_);
  return request;
}

Status AdminClient::follow(std::string_view path, const QueryText& query, const OnEvent& on_event) const {
  std::string target(path);
  if (!query.text().empty()) target += "?" + query.text();
  ClientRequest request = request_to("GET", target);
  request.headers.add("Accept", "text/event-stream");
  request.timeout = kFollowFor;
  bool ended = false;
  EventStreamReader reader([&](std::string_view name, std::string_view data) {
    if (ended) return;
    // What is not JSON is no fact; a later version may send other things.
    if (const Result<json::value> value = parse_json(data); value.ok()) ended = !on_event(name, *value);
  });
  request.on_body = [&](std::string_view piece) {
    reader.take(piece);
    return !ended;
  };
  const ClientResponse response = fetch(request);
  if (ended) return {};
  if (response.result != ClientResponse::Result::kAnswered) return unavailable(unreachable(url_, response));
  if (response.status < 200 || response.status > 299) return refused(url_, response, !token_.empty());
  return unavailable(
      fmt::format("the gateway at {} ended the stream; it stops, or starts again", without_password(url_)));
}

Result<json::value> AdminClient::call(std::string method, std::string_view target, const json::value* body) const {
  ClientRequest request = request_to(std::move(method), target);
  request.headers.add("Accept", "application/json");
  if (body != nullptr) {
    request.headers.add("Content-Type", "application/json");
    request.body = std::make_shared<const std::string>(to_json(*body));
  }
  const ClientResponse response = fetch(request);
  if (response.result != ClientResponse::Result::kAnswered) return unavailable(unreachable(url_, response));
  if (response.status < 200 || response.status > 299) return refused(url_, response, !token_.empty());
  Result<json::value> answer = parse_json(response.body);
  if (!answer.ok()) {
    return unavailable(
        fmt::format("{} answers something that is not JSON; is it a gateway's admin address?", without_password(url_)));
  }
  return answer;
}

Result<json::array> AdminClient::find(std::string_view id) const {
  // A provider's ids may be UUIDs too, so an id unknown to the gateway goes on as a provider's.
  if (EventId::parse(id)) {
    Result<json::value> event = get("/api/v1/events/" + percent_encode(id));
    if (event.ok()) return json::array{std::move(*event)};
    if (event.code() != Code::kNotFound) return event.status();
  }
  QueryText query;
  query.add("key", id);
  query.add("limit", std::to_string(kSameKeyShown));
  HK_ASSIGN(const json::value page, get("/api/v1/events", query));
  const json::value* items = page.is_object() ? page.get_object().if_contains("items") : nullptr;
  if (items == nullptr || !items->is_array()) return unavailable("the gateway's list of events has no items");
  if (items->get_array().empty()) {
    return not_found(
        fmt::format("no event has the id {}, neither as the gateway's nor as a provider's", printable(id)));
  }
  return items->get_array();
}

int failed(const Status& status) {
  complain(status.message());
  return kExitFailed;
}

}  // namespace hookonce

#include "admin/session_calls.h"

#include "admin/access.h"
#include "admin/answers.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"

namespace hookonce {

namespace {

// Cookies know hosts and no ports: two gateways of one machine would take each other's.
std::string cookie_name(const HttpRequest& head) {
  std::string name = "hookonce_session";
  const std::string_view host = head.headers.first("Host").value_or("");
  const auto colon = host.rfind(':');
  if (colon != std::string_view::npos && parse_digits(host.substr(colon + 1))) {
    name.append("_").append(host.substr(colon + 1));
  }
  return name;
}

std::vector<std::string_view> session_ids(const HttpRequest& head) {
  const std::string name = cookie_name(head);
  std::vector<std::string_view> ids;
  for (std::string_view cookies : head.headers.all("Cookie")) {
    while (!cookies.empty()) {
      const auto semicolon = cookies.find(';');
      const std::string_view cookie = trim(cookies.substr(0, semicolon));
      const auto equals = cookie.find('=');
      if (equals != std::string_view::npos && cookie.substr(0, equals) == name)
        ids.push_back(cookie.substr(equals + 1));
      cookies = semicolon == std::string_view::npos ? std::string_view() : cookies.substr(semicolon + 1);
    }
  }
  return ids;
}

// A proxy that ends TLS says so. Who says it falsely only keeps their own cookie off plain HTTP.
bool is_behind_tls(const HttpRequest& head) {
  return head.tls || equals_ignore_case(head.headers.first("X-Forwarded-Proto").value_or(""), "https");
}

std::string cookie_text(const HttpRequest& head, std::string_view id, Duration lasts) {
  std::string text = cookie_name(head) + "=" + std::string(id) + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
                     std::to_string(std::chrono::duration_cast<std::chrono::seconds>(lasts).count());
  if (is_behind_tls(head)) text.append("; Secure");
  return text;
}

HttpResponse no_content() {
  HttpResponse response;
  response.status = 204;
  return response;
}

// What the body says, or the answer that refuses it.
struct SignIn {
  std::string token;
  std::optional<HttpResponse> refusal;
};

SignIn read_sign_in(std::string_view body) {
  const auto refused = [](int status, std::string_view code, std::string_view message) {
    return SignIn{{}, error_response(status, code, message)};
  };
  const Result<json::value> value = parse_json(body.empty() ? "{}" : body);
  if (!value.ok()) return refused(400, "malformed", "the body is not JSON: " + value.status().message());
  const json::object* object = value->if_object();
  if (object == nullptr) return refused(422, "invalid_field", "the body must be a JSON object");
  SignIn sign_in;
  bool given = false;
  for (const auto& [key, member] : *object) {
    const std::string_view name(key.data(), key.size());
    if (name != "token") return refused(422, "invalid_field", "unknown field `" + to_utf8(name) + "`; there is token");
    if (!member.is_string()) return refused(422, "invalid_field", "`token` must be a string");
    sign_in.token = std::string(member.get_string());
    given = true;
  }
  if (!given) return refused(422, "invalid_field", "`token` is missing");
  return sign_in;
}

}  // namespace

HttpResponse begin_session(const HttpRequest& request, const ServerConfig& server, Sessions& sessions, Time now) {
  SignIn sign_in = read_sign_in(request.body);
  if (sign_in.refusal) return *std::move(sign_in.refusal);
  if (server.admin_token.empty()) return no_content();
  if (!is_admin_token(sign_in.token, server)) return wrong_token_answer();
  log_info("session.begun", {{"remote", request.remote}});
  HttpResponse response = no_content();
  response.headers.add("Set-Cookie", cookie_text(request, sessions.begin(server.admin_token, now), kSessionLasts));
  return response;
}

HttpResponse show_session(const ServerConfig& server, bool signed_in) {
  return json_answer(200, json::object{{"token_required", !server.admin_token.empty()}, {"signed_in", signed_in}});
}

HttpResponse end_session(const HttpRequest& request, Sessions& sessions) {
  for (const std::string_view id : session_ids(request)) sessions.end(id);
  HttpResponse response = no_content();
  response.headers.add("Set-Cookie", cookie_text(request, "", Duration::zero()));
  return response;
}

bool has_session(const HttpRequest& head, const ServerConfig& server, Sessions& sessions, Time now) {
  for (const std::string_view id : session_ids(head)) {
    if (sessions.is_valid(id, server.admin_token, now)) return true;
  }
  return false;
}

}  // namespace hookonce

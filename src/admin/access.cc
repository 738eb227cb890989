#include "admin/access.h"

#include <string>

#include "base/bytes.h"
#include "base/crypto.h"
#include "core/address.h"
#include "core/fields.h"

namespace hookonce {

namespace {

// The name in "name", "name:port", "[address]" or "[address]:port"; nullopt where it is none of them.
std::optional<std::string_view> host_name(std::string_view host) {
  std::string_view name = host;
  std::string_view port;
  if (!host.empty() && host.front() == '[') {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    name = host.substr(0, end + 1);
    port = host.substr(end + 1);
  } else if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon);
  }
  if (name.empty()) return std::nullopt;
  if (!port.empty() && (port.front() != ':' || !parse_digits(port.substr(1)))) return std::nullopt;
  return name;
}

bool is_ip_literal(std::string_view name) {
  if (name.front() != '[') return is_ip_address(name);
  return name.find(':') != std::string_view::npos && is_ip_address(name.substr(1, name.size() - 2));
}

// The one Host header; nullopt where there is none, or several that differ.
std::optional<std::string> host_of(const HttpRequest& head) {
  auto host = single_header(head.headers, "Host");
  if (!host.ok()) return std::nullopt;
  return std::move(host).value();
}

// Without the scheme's default port, which browsers leave out.
std::string_view without_port(std::string_view authority, std::string_view port) {
  if (authority.size() > port.size() && authority.substr(authority.size() - port.size()) == port) {
    authority.remove_suffix(port.size());
  }
  return authority;
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  for (const auto& [scheme, port] : {std::pair{"http://", ":80"}, std::pair{"https://", ":443"}}) {
    const std::string_view prefix = scheme;
    if (!equals_ignore_case(origin.substr(0, prefix.size()), prefix)) continue;
    return equals_ignore_case(without_port(origin.substr(prefix.size()), port), without_port(host, port));
  }
  return false;
}

}  // namespace

std::optional<HttpResponse> refuse_host(const HttpRequest& head, const ServerConfig& server) {
  const auto host = host_of(head);
  const auto name = host ? host_name(*host) : std::nullopt;
  if (name) {
    if (is_ip_literal(*name) || equals_ignore_case(*name, "localhost")) return std::nullopt;
    for (const std::string& listed : server.admin_hosts) {
      if (equals_ignore_case(*name, host_name(listed).value_or(listed))) return std::nullopt;
    }
  }
  return error_response(
      421, "misdirected_request",
      "the admin listener does not answer under this Host; call it by IP address or localhost, or add "
      "the name to server.admin_hosts");
}

std::optional<HttpResponse> refuse_origin(const HttpRequest& head) {
  if (head.method == "GET" || head.method == "HEAD" || !head.headers.has("Origin")) return std::nullopt;
  const auto host = host_of(head);
  bool own = host.has_value();
  for (const std::string_view origin : head.headers.all("Origin")) own = own && is_own_origin(origin, *host);
  if (own) return std::nullopt;
  return error_response(403, "foreign_origin", "a page of another origin may not call this");
}

bool is_admin_token(std::string_view token, const ServerConfig& server) {
  // Digests have one length, so that the time tells nothing of the token's own.
  const Sha256 given = sha256({token});
  const Sha256 wanted = sha256({server.admin_token});
  const auto bytes = [](const Sha256& digest) {
    return std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size());
  };
  return equal_constant_time(bytes(given), bytes(wanted));
}

std::optional<std::string> bearer_token(const HttpRequest& head) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto header = single_header(head.headers, "Authorization");
  if (!header.ok() || !*header) return std::nullopt;
  const std::string_view value = **header;
  if (!equals_ignore_case(value.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return std::string(trim(value.substr(kScheme.size())));
}

bool is_authorized(const HttpRequest& head, const ServerConfig& server) {
  if (server.admin_token.empty()) return true;
  const auto token = bearer_token(head);
  return token && is_admin_token(*token, server);
}

HttpResponse unauthorized_answer() {
  HttpResponse response = error_response(401, "unauthorized",
                                         "this call needs the admin token: Authorization: Bearer <server.admin_token>");
  response.headers.add("WWW-Authenticate", "Bearer");
  return response;
}

HttpResponse wrong_token_answer() {
  HttpResponse response = error_response(401, "unauthorized", "that is not the admin token (server.admin_token)");
  response.headers.add("WWW-Authenticate", "Bearer");
  return response;
}

HttpResponse too_many_tokens_answer() {
  HttpResponse response =
      error_response(429, "too_many_tokens", "too many wrong tokens are being tried; this one was not looked at");
  response.headers.add("Retry-After", "1");
  return response;
}

std::optional<HttpResponse> refuse_content_type(const HttpRequest& request) {
  if (request.method != "POST" || request.body.empty()) return std::nullopt;
  const auto header = single_header(request.headers, "Content-Type");
  if (header.ok() && *header) {
    const std::string_view value = **header;
    if (equals_ignore_case(trim(value.substr(0, value.find(';'))), "application/json")) return std::nullopt;
  }
  return error_response(415, "unsupported_media_type", "a body needs Content-Type: application/json");
}

}  // namespace hookonce

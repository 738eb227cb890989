// The client commands' way to a running gateway: its admin API over http/client.h.
//
//   AdminOptions options;
//   add_admin_options(*command, options);                    // --admin, --token, --json
//   HK_ASSIGN(AdminClient client, AdminClient::make(options));
//   HK_ASSIGN(json::value page, client.get("/api/v1/events", query));
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "http/client.h"

namespace CLI {
class App;
}

namespace hookonce {

struct AdminOptions {
  std::string admin = "http://127.0.0.1:8081";
  std::string token;  // as given: a literal, env:NAME or file:PATH
  bool json = false;
};

void add_admin_options(CLI::App& command, AdminOptions& options);

// "a=1&b=two%20words"; members without a value are left out.
class QueryText {
 public:
  void add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class AdminClient {
 public:
  // kInvalid: the address is no http URL, or the token can't be read.
  static Result<AdminClient> make(const AdminOptions& options);

  // The answer of a 2xx as JSON. kNotFound: 404. kInvalid: another 4xx, with the gateway's own words. kUnavailable:
  // nobody answers, or a 5xx; the message says how to mend it.
  Result<json::value> get(std::string_view path, const QueryText& query = {}) const;
  Result<json::value> post(std::string_view path, const json::value& body) const;

  // Follows a stream of server-sent events until it breaks off or `on_event` says false, which alone is ok. Errors as
  // above.
  using OnEvent = std::function<bool(std::string_view name, const json::value& data)>;
  Status follow(std::string_view path, const QueryText& query, const OnEvent& on_event) const;

  // The events (rows of the list) that `id` names: the gateway's id, else a provider's. kNotFound where there is none.
  Result<json::array> find(std::string_view id) const;

 private:
  AdminClient(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}
  ClientRequest request_to(std::string method, std::string_view target) const;
  Result<json::value> call(std::string method, std::string_view target, const json::value* body) const;

  std::string url_;  // without a final slash
  std::string token_;
};

// "127.0.0.1:8081" and "http://127.0.0.1:8081/" are one address; kInvalid for what is none.
Result<std::string> admin_url(std::string_view text);

// Complains, and gives the exit status of a failed command.
int failed(const Status& status);

}  // namespace hookonce

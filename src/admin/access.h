// Who may call the admin API: rules on Host, Origin, bearer token and content type (contract section 7). Pure.
//
// A browser on the operator's machine reaches a loopback listener too. Host stops pages that have rebound their name to
// it, Origin stops forms and scripts of other sites, and the content type stops what a form could send.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/http_message.h"
#include "core/config.h"

namespace hookonce {

// 421 where Host is neither an IP literal, nor localhost, nor in `admin_hosts`.
std::optional<HttpResponse> refuse_host(const HttpRequest& head, const ServerConfig& server);

// 403 where a call that changes something (neither GET nor HEAD) has an Origin that is not its own Host.
std::optional<HttpResponse> refuse_origin(const HttpRequest& head);

// Whether `token` is the configured one, in a time that does not depend on it. REQUIRES: one is configured.
bool is_admin_token(std::string_view token, const ServerConfig& server);

// What stands behind `Authorization: Bearer`; nullopt where there is none, or more than one.
std::optional<std::string> bearer_token(const HttpRequest& head);

// Whether the caller has the token, or none is configured. Sessions are asked elsewhere.
bool is_authorized(const HttpRequest& head, const ServerConfig& server);
HttpResponse unauthorized_answer();
HttpResponse wrong_token_answer();      // 401 to one that was given in a body
HttpResponse too_many_tokens_answer();  // 429

// 415 where a POST has a body that is not application/json.
std::optional<HttpResponse> refuse_content_type(const HttpRequest& request);

}  // namespace hookonce

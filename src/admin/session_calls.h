// The calls of the dashboard's sign-in: POST, GET and DELETE /api/v1/session, and the cookie that they hand out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admin/call_context.h"
#include "admin/sessions.h"
#include "base/http_message.h"

namespace hookonce {

// 204 with the cookie for the right token; 401 for a wrong one; 400 and 422 for a body that says none. Where no token
// is configured, any is right and no cookie is needed.
HttpResponse begin_session(const HttpRequest& request, const ServerConfig& server, Sessions& sessions, Time now);
// {"token_required":...,"signed_in":...}; `signed_in`: this caller may make every call.
HttpResponse show_session(const ServerConfig& server, bool signed_in);
// 204, and the cookie is taken back.
HttpResponse end_session(const HttpRequest& request, Sessions& sessions);

// Whether the request bears the cookie of a session that is valid.
bool has_session(const HttpRequest& head, const ServerConfig& server, Sessions& sessions, Time now);

}  // namespace hookonce

// Every answer of the ingest side (contract section 5; docs/answers.md says what the sender does with each). Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/http_message.h"
#include "core/model.h"
#include "core/source_counters.h"

namespace hookonce {

// 200 with Hookonce-Status and Hookonce-Event. `empty_body` where the provider reads the body or shows it to people.
HttpResponse arrival_answer(Verdict verdict, const EventId& id, bool empty_body);

// A synchronous source's: what its destination answered.
HttpResponse reply_answer(Verdict verdict, const EventId& id, const Reply& reply);
// Where that does not come in time: `answer`, marked as an arrival's.
HttpResponse late_answer(Verdict verdict, const EventId& id, HttpResponse answer);

// The provider's own answer, marked as a handshake.
HttpResponse handshake_answer(HttpResponse answer);

// 401, 400, 422, or 503 with Retry-After, as the code asks.
HttpResponse refusal_answer(Refusal refusal, std::string_view message);

HttpResponse draining_answer();  // 503, and the connection ends
HttpResponse no_such_source_answer();
HttpResponse method_not_allowed_answer(std::string_view allowed);

// /healthz and /readyz, bare: why the gateway is not ready is for those who have the admin token.
HttpResponse alive_answer();
HttpResponse ready_answer(bool ready);

}  // namespace hookonce

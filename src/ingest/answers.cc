#include "ingest/answers.h"

namespace hookonce {

namespace {

// What most providers' first retry waits anyway; long enough for a store to be opened again, short enough for people
// who watch.
constexpr std::string_view kRetryAfterSeconds = "5";

int status_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kSignatureMissing:
    case Refusal::kSignatureMismatch:
    case Refusal::kTimestampOutOfTolerance:
      return 401;
    case Refusal::kMalformed:
      return 400;
    case Refusal::kDedupKeyMissing:
      return 422;
    case Refusal::kStoreUnavailable:
    case Refusal::kOverloaded:
      return 503;
  }
  return 503;
}

HttpResponse json_answer(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.body = std::move(body);
  return response;
}

}  // namespace

HttpResponse arrival_answer(Verdict verdict, const EventId& id, bool empty_body) {
  const std::string_view status = to_string(verdict);
  std::string id_text = id.text();
  HttpResponse response;
  response.headers.items().reserve(3);
  if (!empty_body) {
    // Nothing in it needs escaping, so no JSON tree is built for the most frequent answer of all.
    std::string& body = response.body;
    body.reserve(64 + id_text.size());
    body.append(R"({"status":")").append(status).append(R"(","id":")").append(id_text).append(R"("})");
    response.headers.add("Content-Type", "application/json");
  }
  response.headers.add("Hookonce-Status", std::string(status));
  response.headers.add("Hookonce-Event", std::move(id_text));
  return response;
}

HttpResponse reply_answer(Verdict verdict, const EventId& id, const Reply& reply) {
  HttpResponse response;
  response.status = reply.status;
  response.body = reply.body;
  if (!reply.content_type.empty()) response.headers.add("Content-Type", reply.content_type);
  return late_answer(verdict, id, std::move(response));
}

HttpResponse late_answer(Verdict verdict, const EventId& id, HttpResponse answer) {
  answer.headers.set("Hookonce-Status", std::string(to_string(verdict)));
  answer.headers.set("Hookonce-Event", id.text());
  return answer;
}

HttpResponse handshake_answer(HttpResponse answer) {
  answer.headers.set("Hookonce-Status", "handshake");
  return answer;
}

HttpResponse refusal_answer(Refusal refusal, std::string_view message) {
  const int status = status_of(refusal);
  HttpResponse response = error_response(status, to_string(refusal), message);
  if (status == 503) response.headers.add("Retry-After", std::string(kRetryAfterSeconds));
  return response;
}

HttpResponse draining_answer() {
  HttpResponse response = error_response(503, "draining", "the gateway is shutting down; send the request again");
  response.headers.add("Retry-After", std::string(kRetryAfterSeconds));
  response.close = true;
  return response;
}

HttpResponse no_such_source_answer() {
  return error_response(404, "no_such_source",
                        "no source has this path; it is compared byte for byte with the `path` of each source");
}

HttpResponse method_not_allowed_answer(std::string_view allowed) {
  HttpResponse response =
      error_response(405, "method_not_allowed", "this path takes " + std::string(allowed) + " only");
  response.headers.add("Allow", std::string(allowed));
  return response;
}

HttpResponse alive_answer() {
  return json_answer(200, R"({"status":"alive"})");
}

HttpResponse ready_answer(bool ready) {
  if (ready) return json_answer(200, R"({"status":"ready"})");
  return error_response(503, "not_ready", "the gateway takes no events now; the admin listener's /readyz says why");
}

}  // namespace hookonce

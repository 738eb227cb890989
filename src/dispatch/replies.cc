#include "dispatch/replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "base/metrics.h"

namespace hookonce {
namespace {

constexpr std::size_t kContentTypeMax = 256;  // longer than any that is meant
constexpr Duration kPostTimeout = std::chrono::seconds(10);

// A sender gets this text in a header.
std::string content_type_of(const Headers& headers) {
  const std::string_view value = headers.first("Content-Type").value_or("");
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  return is_plain && value.size() <= kContentTypeMax ? std::string(value) : std::string();
}

bool is_json(std::string_view content_type) {
  const std::string media_type = to_lower(trim(content_type.substr(0, content_type.find(';'))));
  return media_type == "application/json" || media_type.ends_with("+json");
}

Counter& late_replies(std::string_view outcome) {
  return metrics().counter("hookonce_late_replies_total",
                           "Replies that came too late for their sender, by what became of their post to the provider",
                           {{"outcome", std::string(outcome)}});
}

}  // namespace

Result<Reply> reply_of(const ClientResponse& response) {
  if (!response.error.empty()) {
    return invalid(fmt::format("answered {}, but its sender cannot get the body: {}; a reply has at most {}",
                               response.status, response.error, format_size(kReplyMax)));
  }
  const auto encoding = response.headers.first("Content-Encoding");
  if (encoding && !encoding->empty() && !equals_ignore_case(*encoding, "identity")) {
    return invalid(
        fmt::format("answered {}, but its sender cannot get the body: it is compressed, which nobody asked "
                    "for; answer without Content-Encoding",
                    response.status));
  }
  return Reply{response.status, content_type_of(response.headers), response.body};
}

Result<ClientRequest> late_reply_request(const LateReply& late, const SourceConfig* source) {
  if (source == nullptr || !source->late_reply) return invalid("the source has no late_reply any more");
  if (late.url.empty()) return invalid("the request names no response_url at the provider's own host");
  if (!is_json(late.reply.content_type)) {
    return invalid("only JSON is posted, and the destination answered with another content type");
  }
  ClientRequest request;
  request.url = late.url;
  request.headers.add("Content-Type", late.reply.content_type);
  request.body = std::make_shared<const std::string>(late.reply.body);
  request.timeout = kPostTimeout;
  request.response_limit = kResponseKept;
  request.ca_file = source->late_reply->ca_file;
  request.proxy = source->late_reply->proxy;
  // The provider's own address is a public one; behind a proxy only that one knows.
  request.allow_private = !request.proxy.empty();
  return request;
}

void report_sent(const LateReply& late, const ClientResponse& response) {
  const std::string event = late.event.text();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(response.duration).count();
  const bool answered = response.result == ClientResponse::Result::kAnswered;
  if (answered && response.status >= 200 && response.status <= 299) {
    late_replies("success").add();
    return log_info("late_reply", {{"event", event}, {"source", late.source}, {"status", response.status}, {"ms", ms}});
  }
  late_replies("failed").add();
  log_warn("late_reply.failed", {{"event", event},
                                 {"source", late.source},
                                 {"status", response.status},
                                 {"ms", ms},
                                 {"error", answered ? "the provider refused it" : response.error}});
}

void report_unsent(const LateReply& late, const Status& why) {
  late_replies("unsent").add();
  log_info("late_reply.unsent", {{"event", late.event.text()}, {"source", late.source}, {"reason", why.message()}});
}

}  // namespace hookonce

#include "dispatch/delivery_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "provider/time_stamp.h"

namespace hookonce {
namespace {

constexpr std::string_view kId = "Webhook-Id";
constexpr std::string_view kTimestamp = "Webhook-Timestamp";
constexpr std::string_view kSignature = "Webhook-Signature";
constexpr std::string_view kIdempotencyKey = "Idempotency-Key";
constexpr std::string_view kOwnPrefix = "Hookonce-";

// Between two neighbours on the wire only, or decided anew by the client (RFC 9110, section 7.6.1).
constexpr std::array<std::string_view, 9> kHopByHop = {
    "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "Expect",
};

bool has_prefix(std::string_view name, std::string_view prefix) {
  return name.size() >= prefix.size() && equals_ignore_case(name.substr(0, prefix.size()), prefix);
}

bool has_suffix(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() && equals_ignore_case(name.substr(name.size() - suffix.size()), suffix);
}

bool is_webhook_header(std::string_view name) {
  return equals_ignore_case(name, kId) || equals_ignore_case(name, kTimestamp) || equals_ignore_case(name, kSignature);
}

bool has_value(const Headers& headers, std::string_view name) {
  const auto values = headers.all(name);
  return std::any_of(values.begin(), values.end(), [](std::string_view value) { return !value.empty(); });
}

// Which of the arrived headers travel on. A backend behind CGI or WSGI takes `_` and `-` in a name for the same, so a
// name of ours that is spelt with `_` never travels: nobody vouches for it, and it would spoil the value that we set.
class Travelling {
 public:
  // `fresh` (may be null) outlives this: what the provider signs anew.
  Travelling(const Headers& arrived, const Headers* fresh, bool forwarded_trusted, bool keeps_webhook_headers)
      : fresh_(fresh), forwarded_trusted_(forwarded_trusted), keeps_webhook_headers_(keeps_webhook_headers) {
    for (const std::string_view list : arrived.all("Connection")) {
      for (const std::string_view name : split(list, ',')) named_by_connection_.push_back(trim(name));
    }
  }

  bool operator()(std::string_view name) const {
    if (name.find('_') == std::string_view::npos) return travels(name, true);
    std::string dashed(name);
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    return travels(dashed, false) && (fresh_ == nullptr || !fresh_->has(dashed));
  }

 private:
  bool travels(std::string_view name, bool as_sent) const {
    if (contains(kHopByHop, name) || contains(named_by_connection_, name) || has_prefix(name, "Proxy-")) return false;
    if (equals_ignore_case(name, kIdempotencyKey) || has_prefix(name, kOwnPrefix)) return false;
    if (is_webhook_header(name)) return as_sent && keeps_webhook_headers_;
    if (equals_ignore_case(name, "Forwarded") || has_prefix(name, "X-Forwarded-")) return as_sent && forwarded_trusted_;
    return true;
  }

  template <typename Names>
  static bool contains(const Names& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view item) { return equals_ignore_case(item, name); });
  }

  const Headers* const fresh_;
  const bool forwarded_trusted_;
  const bool keeps_webhook_headers_;
  std::vector<std::string_view> named_by_connection_;  // views into the arrived headers
};

// The value of the first header whose name ends so; a Standard Webhook's fresh headers come under either family's
// names.
std::string value_by_suffix(const Headers& headers, std::string_view suffix) {
  for (const Header& header : headers.items()) {
    if (has_suffix(header.name, suffix)) return header.value;
  }
  return {};
}

// Id, time stamp and signature of what goes out, where the contract asks for them.
void set_webhook_headers(Headers& headers, const Lease& lease, const DeliveryContext& context,
                         const std::optional<Headers>& resigned, Time wall) {
  const bool is_one = context.carries_webhook_id.value_or(false);
  // A removed source's event keeps what it came with, as its earlier attempts did.
  const bool keeps_own = headers.has(kId) && context.signer == nullptr && !(is_one && resigned);
  if (keeps_own) return;

  std::string id = lease.idempotency_key();
  if (is_one && context.destination->resign) id = arrived_webhook_id(*lease.headers).value_or(id);
  std::string timestamp = unix_seconds(wall);
  std::vector<std::string> signatures;
  if (is_one && resigned) {
    // One time stamp for all, so that the values of both sides' secrets stand in one list.
    timestamp = value_by_suffix(*resigned, "-timestamp");
    signatures.push_back(value_by_suffix(*resigned, "-signature"));
  }
  if (context.signer != nullptr) signatures.push_back(context.signer->signature(id, timestamp, *lease.body));

  headers.set(kId, id);
  if (signatures.empty()) return;
  headers.set(kTimestamp, timestamp);
  headers.set(kSignature, join(signatures, " "));
}

}  // namespace

ClientRequest delivery_request(const Lease& lease, const DeliveryContext& context, Time wall) {
  HK_CHECK(context.destination != nullptr && lease.headers != nullptr && lease.body != nullptr);
  const DestinationConfig& destination = *context.destination;
  const Headers& arrived = *lease.headers;

  std::optional<Headers> resigned;
  if (destination.resign && context.provider != nullptr)
    resigned = context.provider->resign(arrived, *lease.body, wall);

  // Only a complete set can be a Standard Webhook's own; anything else under these names is an intruder.
  const bool complete = has_value(arrived, kId) && has_value(arrived, kTimestamp) && has_value(arrived, kSignature);
  const Travelling travels(arrived, resigned ? &*resigned : nullptr, lease.forwarded_trusted,
                           complete && context.carries_webhook_id.value_or(true));
  Headers headers;
  for (const Header& header : arrived.items()) {
    if (travels(header.name)) headers.add(header.name, header.value);
  }
  if (resigned) {
    for (const Header& fresh : resigned->items()) headers.set(fresh.name, fresh.value);
  }

  headers.set(kIdempotencyKey, lease.idempotency_key());
  set_webhook_headers(headers, lease, context, resigned, wall);
  headers.add("Hookonce-Source", lease.source);
  headers.add("Hookonce-Event", lease.event.text());
  headers.add("Hookonce-Attempt", fmt::format("{}", lease.attempt));
  headers.add("Hookonce-Received-At", to_rfc3339(lease.received_at));
  if (!lease.new_items.empty()) headers.add("Hookonce-New-Items", lease.new_items);
  if (lease.replay) headers.add("Hookonce-Replay", "true");

  ClientRequest request;
  request.method = "POST";
  request.url = destination.url;
  request.headers = std::move(headers);
  request.body = lease.body;
  request.timeout = destination.timeout;
  request.allow_private = destination.allow_private;
  request.ca_file = destination.ca_file;
  request.client_cert = destination.client_cert;
  request.client_key = destination.client_key;
  request.proxy = destination.proxy;
  return request;
}

}  // namespace hookonce

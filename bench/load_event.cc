#include "bench/load_event.h"

#include <fmt/format.h>

#include <array>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"

namespace hookonce {
namespace {

constexpr std::size_t kBodySize = 1536;
constexpr std::size_t kNumberWidth = 10;

// Ids of one run begin alike and unlike those of any other run, so that a kept store has no duplicates but those meant.
std::string id_prefix() {
  std::array<std::uint8_t, 8> bytes;
  fill_random(bytes);
  return "evt_bench" + to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// What an invoice event looks like, filled up with lines to the size.
std::string sample_body(const std::string& id) {
  std::string body = fmt::format(
      R"({{"id":"{}","object":"event","api_version":"2024-06-20","created":1767323045,"livemode":false,)"
      R"("pending_webhooks":1,"request":{{"id":null,"idempotency_key":null}},"type":"invoice.paid",)"
      R"("data":{{"object":{{"id":"in_bench","object":"invoice","currency":"eur","amount_due":1999,"amount_paid":1999,)"
      R"("customer":"cus_bench","customer_email":null,"paid":true,"status":"paid","lines":{{"object":"list","data":[)",
      id);
  constexpr std::string_view kEnd = "]}}}}";
  constexpr std::string_view kLine =
      R"({"id":"il_bench","object":"line_item","amount":1999,"currency":"eur","description":"One month","quantity":1})";
  while (body.size() + kLine.size() + 1 + kEnd.size() < kBodySize) {
    body += kLine;
    body += ',';
  }
  body.pop_back();
  body += kEnd;
  body.append(kBodySize - body.size(), ' ');
  return body;
}

}  // namespace

LoadBody::LoadBody() {
  const std::string id = id_prefix() + std::string(kNumberWidth, '0');
  body_ = sample_body(id);
  HK_CHECK(body_.size() == kBodySize);
  id_at_ = body_.find(id);
  id_size_ = id.size();
}

std::string_view LoadBody::of(std::uint64_t number) {
  const std::size_t digits_at = id_at_ + id_size_ - kNumberWidth;
  for (std::size_t i = kNumberWidth; i-- > 0; number /= 10) body_[digits_at + i] = static_cast<char>('0' + number % 10);
  return body_;
}

LoadEvent::LoadEvent(const LoadTarget& target)
    : head_front_(fmt::format("POST {} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: hookonce-bench\r\n"
                              "Content-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n",
                              target.path, target.host, target.port, kBodySize)),
      scheme_(target.scheme),
      key_(HmacKey::make(HmacKey::Algorithm::kSha256, target.secret)) {}

std::string_view LoadEvent::request(std::uint64_t number) {
  const std::string_view body = body_.of(number);
  request_ = head_front_;
  request_ += signature_line(body);
  request_ += "\r\n\r\n";
  request_ += body;
  return request_;
}

std::string LoadEvent::signature_line(std::string_view body) const {
  if (scheme_ == LoadScheme::kBodyDigest) return "X-Signature: sha256=" + to_hex(key_.sign({body}));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(system_clock().wall()).time_since_epoch().count();
  const std::string timestamp = std::to_string(seconds);
  return "Stripe-Signature: t=" + timestamp + ",v1=" + to_hex(key_.sign({timestamp, ".", body}));
}

}  // namespace hookonce

// Makes signed Stripe events of about 1.5 KB, each with an id of its own, as whole HTTP/1.1 requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/crypto.h"

namespace hookonce {

// How a request shows who sent it.
enum class LoadScheme {
  kStripe,      // Stripe-Signature: t=SECONDS,v1=HMAC of "SECONDS.BODY"
  kBodyDigest,  // X-Signature: sha256=HMAC of the body, for servers that know no more
};

struct LoadTarget {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string path = "/in/stripe";
  std::string secret;
  LoadScheme scheme = LoadScheme::kStripe;
};

// Bodies of one run, each with an id of its own that no other run gives.
class LoadBody {
 public:
  LoadBody();

  // The body of event `number`. Valid until the next call, as id() is.
  std::string_view of(std::uint64_t number);
  // The id in the body as it stands now.
  std::string_view id() const { return std::string_view(body_).substr(id_at_, id_size_); }

 private:
  std::string body_;
  std::size_t id_at_ = 0;
  std::size_t id_size_ = 0;
};

class LoadEvent {
 public:
  explicit LoadEvent(const LoadTarget& target);

  // The request that carries event `number`; the same number is the same event, signed anew. Valid until the next call.
  std::string_view request(std::uint64_t number);

 private:
  std::string signature_line(std::string_view body) const;

  const std::string head_front_;
  const LoadScheme scheme_;
  const HmacKey key_;
  LoadBody body_;
  std::string request_;
};

}  // namespace hookonce

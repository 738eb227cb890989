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

class LoadEvent {
 public:
  explicit LoadEvent(const LoadTarget& target);

  // The request that carries event `number`; the same number is the same event, signed anew. Valid until the next call.
  std::string_view request(std::uint64_t number);

 private:
  // The signature's header line of the body as it stands now.
  std::string signature_line() const;

  const std::string head_front_;
  const LoadScheme scheme_;
  const HmacKey key_;
  std::string body_;
  std::size_t id_at_ = 0;  // where the id's variable digits stand in body_
  std::string request_;
};

}  // namespace hookonce

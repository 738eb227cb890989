// What identifies an event where nothing is known of its sender: the configured fields, and `type` of a JSON body.
#pragma once

#include "provider/identity_reader.h"
#include "provider/provider.h"

namespace hookonce {

class PlainIdentity {
 public:
  explicit PlainIdentity(const BindSettings& settings)
      : reader_(settings, {json_field("/type")}, BodyKind::kAnything) {}

  Identity read(const HttpRequest& request) const {
    auto [identity, own] = reader_.read(request);
    identity.type = own[0].value_or("");
    return std::move(identity);
  }

 private:
  IdentityReader reader_;
};

}  // namespace hookonce

// What identifies an event where nothing is known of its sender: the configured fields, and `type` of a JSON body. With
// `items`, each item of the body is one, and the configured key is read within it.
#pragma once

#include <optional>

#include "provider/identity_reader.h"
#include "provider/item_reader.h"
#include "provider/provider.h"

namespace hookonce {

class PlainIdentity {
 public:
  explicit PlainIdentity(const BindSettings& settings)
      : reader_(of_the_whole(settings), {json_field("/type")}, BodyKind::kAnything) {
    if (settings.items) items_.emplace(*settings.items, settings.dedup_key);
  }

  Identity read(const HttpRequest& request) const {
    auto [identity, own] = reader_.read(request);
    identity.type = own[0].value_or("");
    if (items_) items_->read(request, identity);
    return std::move(identity);
  }

 private:
  static BindSettings of_the_whole(BindSettings settings) {
    if (settings.items) settings.dedup_key.clear();
    return settings;
  }

  IdentityReader reader_;
  std::optional<ItemReader> items_;
};

}  // namespace hookonce

// Events as the JSON of contract section 7. Pure.
#pragma once

#include <string_view>

#include "admin/cursor_mark.h"
#include "base/json.h"
#include "core/cause.h"
#include "core/config.h"
#include "core/model.h"
#include "store/store.h"

namespace hookonce {

json::object summary_view(const EventSummary& event);

struct DetailOptions {
  const Config& config;  // says which destinations are orphaned
  bool reveal = false;   // show the values of secret-bearing headers
  Clocks clocks = Clocks::kOne;
};
// [name, value] in order, with what bears a secret masked, and what the source's `redact` names redacted in any case.
json::array headers_view(const Headers& headers, std::string_view source, const DetailOptions& options);
// Adds `body`, or `body_base64` where the bytes are not UTF-8, redacted as the source wants it and then cut to `limit`
// bytes. What may not be shown at all is `"body":null` with the reason in `body_hidden`. Whether it was cut.
bool add_body(json::object& view, std::string_view body, std::string_view source, const Config& config,
              std::size_t limit = std::string_view::npos);
json::object detail_view(const EventDetail& event, const DetailOptions& options);

json::object delivery_view(const DeliverySummary& delivery, const Config& config);
json::value next_cursor_view(const CursorMark& mark, const std::optional<std::string>& next);
json::object replayed_view(const ReplayedDelivery& delivery);

}  // namespace hookonce

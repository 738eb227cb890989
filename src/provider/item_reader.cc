#include "provider/item_reader.h"

#include <fmt/format.h>

#include <utility>

#include "base/json_items.h"

namespace hookonce {

namespace {

std::vector<std::string> pointers_of(const std::vector<FieldSpec>& specs) {
  std::vector<std::string> pointers;
  for (const FieldSpec& spec : specs) {
    HK_CHECK(spec.kind == FieldSpec::Kind::kJson);
    pointers.push_back(spec.pointer);
  }
  return pointers;
}

}  // namespace

ItemReader::ItemReader(std::string pointer, const std::vector<FieldSpec>& key)
    : pointer_(std::move(pointer)), key_parts_(key.size()), whole_({}), key_(pointers_of(key)) {}

void ItemReader::read(const HttpRequest& request, Identity& identity) const {
  identity.body = whole_.scan(request.body).status();
  if (!identity.body.ok()) return;
  const auto items = json_items(request.body, pointer_);
  if (!items) return;
  if (items->size() > kItemsMax) {
    identity.body = invalid(fmt::format("the batch has {} items; at most {} are possible", items->size(), kItemsMax));
    return;
  }
  for (const std::string_view text : *items) {
    ItemIdentity& item = identity.items.emplace_back();
    item.offset = static_cast<std::size_t>(text.data() - request.body.data());
    item.size = text.size();
    if (key_parts_ == 0) continue;
    Result<JsonValues> values = key_.scan(text);
    if (!values.ok()) continue;  // Part of a valid document, so it is one itself.
    std::vector<std::string> parts;
    for (std::optional<JsonScalar>& value : *values) {
      if (auto part = id_text(std::move(value))) parts.push_back(*std::move(part));
    }
    if (parts.size() == key_parts_) item.key = std::move(parts);
  }
}

}  // namespace hookonce

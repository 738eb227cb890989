#include "admin/cursor_mark.h"

#include <string_view>

#include "base/bytes.h"
#include "core/dedup.h"

namespace hookonce {

namespace {

constexpr std::size_t kHashBytes = 4;  // mistakes are to be found, nobody gains by a forgery
constexpr std::size_t kHashEnd = 1 + 2 * kHashBytes;

char letter_of(ListKind kind) {
  switch (kind) {
    case ListKind::kEvents:
      return 'e';
    case ListKind::kDeliveries:
      return 'd';
    case ListKind::kRejected:
      return 'r';
    case ListKind::kReplays:
      return 'p';
  }
  return '?';
}

std::string_view name_of(char letter) {
  switch (letter) {
    case 'e':
      return "the list of events";
    case 'd':
      return "the list of deliveries";
    case 'r':
      return "the list of rejected requests";
    case 'p':
      return "a replay in parts";
    default:
      return "";
  }
}

bool has_form(std::string_view cursor) {
  return cursor.size() > kHashEnd && cursor[kHashEnd] == '-' && !name_of(cursor[0]).empty() &&
         from_hex(cursor.substr(1, kHashEnd - 1)).has_value();
}

}  // namespace

CursorMark::CursorMark(ListKind kind, const std::vector<std::string>& filters) {
  const KeyHash hash = key_hash("cursor", filters);
  text_ = letter_of(kind) + to_hex(std::string(hash.begin(), hash.begin() + kHashBytes)) + '-';
}

Result<std::string> CursorMark::remove_from(const std::string& cursor) const {
  if (!has_form(cursor))
    return invalid("`cursor` is \"" + to_utf8(cursor) + "\", which is none of ours; begin without one");
  if (cursor[0] != text_[0]) {
    return invalid("`cursor` is of " + std::string(name_of(cursor[0])) + ", not of " + std::string(name_of(text_[0])) +
                   "; begin without one");
  }
  if (cursor.compare(0, text_.size(), text_) != 0) {
    return invalid("`cursor` was given for other filters; repeat those, or begin without one");
  }
  return cursor.substr(text_.size());
}

std::vector<std::string> marked_filters(const EventFilter& filter) {
  return {filter.source.value_or(""), filter.type.value_or(""),
          filter.state ? std::string(to_string(*filter.state)) : std::string(), filter.key.value_or(""), filter.query};
}

}  // namespace hookonce

#include "base/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hookonce {
namespace {

constexpr std::string_view kHexLower = "0123456789abcdef";
constexpr std::string_view kHexUpper = "0123456789ABCDEF";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr int kForeign = -1;  // in a decoding table: not a character of the alphabet

constexpr std::array<std::int8_t, 256> decoding_table(std::string_view alphabet) {
  std::array<std::int8_t, 256> table{};
  for (auto& entry : table) entry = kForeign;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return table;
}

constexpr auto kBase64Values = decoding_table(kBase64);

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return kForeign;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// The pairs of bits of a base64 group's four characters; nullopt where one is foreign.
std::optional<std::uint32_t> base64_group(std::string_view four) {
  std::uint32_t bits = 0;
  for (const char c : four) {
    const int value = kBase64Values[static_cast<unsigned char>(c)];
    if (value == kForeign) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
  }
  return bits;
}

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 5> kDurationUnits = {{{"d", 86'400'000'000},  // largest first: format takes the first exact
                                                 {"h", 3'600'000'000},
                                                 {"m", 60'000'000},
                                                 {"s", 1'000'000},
                                                 {"ms", 1'000}}};
constexpr std::array<Unit, 4> kSizeUnits = {
    {{"GiB", std::int64_t{1} << 30}, {"MiB", std::int64_t{1} << 20}, {"KiB", 1024}, {"B", 1}}};

// A hundred years: longer ones are typing mistakes, and a Time plus any duration below it can't overflow.
constexpr std::int64_t kDurationMax = 36'500 * std::int64_t{86'400'000'000};
constexpr std::int64_t kSizeMax = std::int64_t{1} << 50;  // 1 PiB, far above any memory or disk this runs on

// Digits followed by one of the units, as a product of at most `max`.
template <std::size_t N>
std::optional<std::int64_t> parse_quantity(std::string_view text, const std::array<Unit, N>& units, std::int64_t max) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_digits(text.substr(0, end));
  if (!count) return std::nullopt;
  for (const Unit& unit : units) {
    if (text.substr(end) != unit.name) continue;
    if (*count > max / unit.factor) return std::nullopt;
    return *count * unit.factor;
  }
  return std::nullopt;
}

// Edit distance with neighbours swapped as one edit, over three rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kHexLower[byte >> 4]);
    out.push_back(kHexLower[byte & 15]);
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_value(hex[i]);
    const int low = hex_value(hex[i + 1]);
    if (high == kForeign || low == kForeign) return std::nullopt;
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < present ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out.push_back(j <= present ? kBase64[bits >> (18 - 6 * j) & 63] : '=');
    }
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::string group(text.substr(i, 4));
    std::size_t padding = 0;
    const bool last = i + 4 == text.size();
    while (last && padding < 2 && group[3 - padding] == '=') group[3 - padding++] = 'A';
    const auto bits = base64_group(group);
    if (!bits) return std::nullopt;
    const std::size_t present = 3 - padding;
    // Bits that padding cuts off must be zero, or two texts would be one secret.
    if ((*bits & ((std::uint32_t{1} << 8 * padding) - 1)) != 0) return std::nullopt;
    for (std::size_t j = 0; j < present; ++j) out.push_back(static_cast<char>(*bits >> (16 - 8 * j)));
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out.push_back(' ');
    } else if (text[i] == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high == kForeign || low == kForeign) return std::nullopt;
      out.push_back(static_cast<char>(high << 4 | low));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string percent_encode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    if (is_unreserved(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHexUpper[byte >> 4]);
    out.push_back(kHexUpper[byte & 15]);
  }
  return out;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_form(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view piece : split(body, '&')) {
    if (piece.empty()) continue;
    const std::size_t equals = std::min(piece.find('='), piece.size());
    auto name = percent_decode(piece.substr(0, equals), true);
    auto value = percent_decode(piece.substr(std::min(equals + 1, piece.size())), true);
    if (!name || !value) return std::nullopt;
    pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

bool equals_ignore_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return x == y || lower(x) == lower(y); });
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::optional<std::int64_t> parse_digits(std::string_view text) {
  constexpr std::size_t kDigitsMax = 18;  // any number of that many digits fits 64 bits
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto micros = parse_quantity(text, kDurationUnits, kDurationMax);
  if (!micros) return std::nullopt;
  return Duration(*micros);
}

std::string format_duration(Duration duration) {
  const std::int64_t count = duration.count();
  for (const Unit& unit : kDurationUnits) {
    if (count != 0 && count % unit.factor == 0) return std::to_string(count / unit.factor) + std::string(unit.name);
  }
  // Nothing below a millisecond can be written in these forms; it is cut off.
  const std::int64_t milliseconds = count / kDurationUnits.back().factor;
  return milliseconds == 0 ? "0s" : std::to_string(milliseconds) + "ms";
}

std::optional<std::size_t> parse_size(std::string_view text) {
  if (const auto bare = parse_digits(text)) {
    if (*bare > kSizeMax) return std::nullopt;
    return static_cast<std::size_t>(*bare);
  }
  const auto bytes = parse_quantity(text, kSizeUnits, kSizeMax);
  if (!bytes) return std::nullopt;
  return static_cast<std::size_t>(*bytes);
}

std::string format_size(std::size_t bytes) {
  for (const Unit& unit : kSizeUnits) {
    const auto factor = static_cast<std::size_t>(unit.factor);
    if (bytes != 0 && bytes % factor == 0) return std::to_string(bytes / factor) + std::string(unit.name);
  }
  return "0B";
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kWordMax = 64;  // no name of ours is longer, and the comparison is quadratic
  if (word.size() > kWordMax) return std::nullopt;
  // One slip for every three letters: more, and the proposal would be a guess.
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kWordMax) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      found = &candidate;
    }
  }
  if (found == nullptr) return std::nullopt;
  return *found;
}

}  // namespace hookonce

// Bytes as text and back: hex, base64, percent encoding, UTF-8, ASCII letter case, sizes and durations for people.
//
// Bodies, header values and keys are bytes: std::string holds them, std::string_view passes them; nothing here assumes
// that they are text unless its name says so. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace hookonce {

std::string to_hex(std::string_view bytes);
// Either letter case; nullopt on odd length or a foreign character.
std::optional<std::string> from_hex(std::string_view hex);

std::string to_base64(std::string_view bytes);
// Strict RFC 4648 standard alphabet with padding, no blanks; nullopt for anything else. A broken secret must never
// become an empty key, so there is no lenient mode.
std::optional<std::string> from_base64(std::string_view text);

// Decodes %XX, and `+` as a blank where plus_is_blank; nullopt on a bad escape.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_blank);
std::string percent_encode(std::string_view bytes);  // all but RFC 3986 unreserved characters
// application/x-www-form-urlencoded into decoded pairs in order; nullopt where one escape is broken.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_form(std::string_view body);

bool is_utf8(std::string_view bytes);  // RFC 3629; surrogates and overlong forms are not
// The bytes as valid UTF-8 for people and JSON: each broken sequence becomes U+FFFD.
std::string to_utf8(std::string_view bytes);

bool equals_ignore_case(std::string_view a, std::string_view b);  // ASCII only
std::string to_lower(std::string_view text);                      // ASCII only
std::string_view trim(std::string_view text);                     // blanks and tabs at both ends
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Unsigned decimal digits only (no sign, no blanks), at most 18 of them; nullopt for anything else.
std::optional<std::int64_t> parse_digits(std::string_view text);

// "250ms" "10s" "5m" "24h" "30d" (also "1.5h" is refused: whole numbers only).
std::optional<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration duration);  // the shortest exact of the forms above
// "64KiB" "1MiB" "25MiB", also "B" and "GiB", and bare digits are bytes.
std::optional<std::size_t> parse_size(std::string_view text);
std::string format_size(std::size_t bytes);

// The candidate nearest to `word` by edit distance, or nullopt where none is near enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hookonce

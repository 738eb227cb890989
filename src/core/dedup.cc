#include "core/dedup.h"

#include <algorithm>

#include "base/crypto.h"

namespace hookonce {

namespace {

KeyHash first_half(const Sha256& digest) {
  KeyHash hash{};
  std::copy_n(digest.begin(), hash.size(), hash.begin());
  return hash;
}

// Eight bytes, big end first.
void append_number(std::string& material, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) material.push_back(static_cast<char>(number >> shift));
}

void append_counted(std::string& material, std::string_view bytes) {
  append_number(material, bytes.size());
  material.append(bytes);
}

// The inverse of key_text() for several parts; empty where a `\` escapes nothing that is escaped.
std::vector<std::string> split_text(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') {
      parts.emplace_back();
    } else if (text[i] != '\\') {
      parts.back().push_back(text[i]);
    } else {
      ++i;
      if (i == text.size() || (text[i] != ':' && text[i] != '\\')) return {};
      parts.back().push_back(text[i]);
    }
  }
  return parts;
}

}  // namespace

KeyHash key_hash(std::string_view space, const std::vector<std::string>& parts) {
  std::string material;
  append_counted(material, space);
  append_number(material, parts.size());
  for (const std::string& part : parts) append_counted(material, part);
  return first_half(sha256({material}));
}

std::string key_text(const std::vector<std::string>& parts) {
  if (parts.size() == 1) return parts.front();
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text.push_back(':');
    for (const char c : parts[i]) {
      if (c == ':' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
  }
  return text;
}

std::vector<KeyHash> hashes_of_text(std::string_view text) {
  std::vector<KeyHash> hashes = {key_hash("", {std::string(text)})};
  const std::vector<std::string> parts = split_text(text);
  if (parts.size() > 1) hashes.push_back(key_hash("", parts));
  return hashes;
}

KeyHash signature_hash(const std::vector<std::string_view>& parts) {
  std::string text;
  for (std::string_view part : parts) text.append(std::to_string(part.size())).append(":").append(part);
  return first_half(sha256({text}));
}

KeyHash body_hash(std::string_view body) {
  return first_half(sha256({body}));
}

}  // namespace hookonce

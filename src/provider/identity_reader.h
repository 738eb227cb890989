// Reads from a request all fields that a source's settings and its provider look at, each body once.
//
// The provider names its own fields and says where its default dedup key lies; the settings may replace the key, add
// further keys, and name the ordering key. Whether an unreadable body matters follows from that: it does exactly where
// the dedup key in force must come from it. A configured key header with differing values matters as much. Immutable;
// read() may run on several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "provider/provider.h"

namespace hookonce {

FieldSpec header_field(std::string_view name);
FieldSpec json_field(std::string_view pointer);
FieldSpec form_field(std::string_view name);
FieldSpec form_json_field(std::string_view name, std::string_view pointer);

enum class BodyKind { kAnything, kJson, kForm };

// What the content type says: kForm for application/x-www-form-urlencoded, else kJson, which is what providers send
// without one too.
BodyKind body_kind(const HttpRequest& request);

class IdentityReader {
 public:
  // `default_key_in`: what the body must be for the provider's default key (kAnything: the key does not lie in the
  // body).
  IdentityReader(const BindSettings& settings, std::vector<FieldSpec> own, BodyKind default_key_in);

  struct Reading {
    Identity identity;  // key, also, ordering_key as configured; body; the rest is the provider's
    std::vector<std::optional<std::string>> own;  // one per own field
  };
  Reading read(const HttpRequest& request) const;

  bool key_is_configured() const { return key_count_ > 0; }
  // Whether the key in force is read out of the body, so that an unreadable body is malformed.
  bool key_lies_in_body() const { return key_lies_in_json_ || key_lies_in_form_; }
  bool ordering_is_configured() const { return has_ordering_; }

 private:
  std::size_t key_count_;
  std::size_t also_count_;
  bool has_ordering_;
  bool key_lies_in_json_;
  bool key_lies_in_form_;
  std::vector<std::string> key_headers_;
  // The fields are read in two groups, so that only the group that holds the key can make a request malformed.
  std::vector<std::size_t> key_group_;    // positions of the fields that key_reader_ reads
  std::vector<std::size_t> other_group_;  // and of those that other_reader_ reads
  FieldReader key_reader_;
  FieldReader other_reader_;
};

// The values as parts of one key; nullopt where one is missing.
std::optional<std::vector<std::string>> key_of(const std::vector<std::optional<std::string>>& values);

// The first value that is there.
std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> values);

}  // namespace hookonce

#include "base/json_scan.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cstdint>
#include <limits>

#include "base/bytes.h"
#include "base/check.h"
#include "base/json_mend.h"

namespace hookonce {
namespace {

using Path = std::vector<std::string>;
using boost::json::error_code;

// Array elements are named by their index in decimal, without leading zeros (RFC 6901, section 4).
bool names_index(const std::string& component, std::size_t index) {
  char text[std::numeric_limits<std::size_t>::digits10 + 1];
  const auto end = std::to_chars(std::begin(text), std::end(text), index).ptr;
  return component == std::string_view(text, static_cast<std::size_t>(end - text));
}

// Takes the parser's events and keeps the values that the paths lead to. For each path it knows how many of its
// components lead to where the parser stands; a path is "on the way" while that is all of the open containers.
class Picker {
 public:
  // The parser asks for these; the body's own limit is what bounds the document.
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  // `parsed` is what the parser reads, `original` what arrived: of one length, and they differ at most in mended
  // places.
  Picker(const std::vector<Path>& paths, std::string_view parsed, std::string_view original)
      : paths_(paths),
        parsed_(parsed),
        original_(original),
        mended_(parsed.data() != original.data()),
        matched_(paths.size(), 0),
        values_(paths.size()) {}

  JsonValues take_values() { return std::move(values_); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_object_begin(error_code&) { return open(JsonScalar::Kind::kObject); }
  bool on_object_end(std::size_t, error_code&) { return close(); }
  bool on_array_begin(error_code&) { return open(JsonScalar::Kind::kArray); }
  bool on_array_end(std::size_t, error_code&) { return close(); }

  bool on_key_part(boost::json::string_view part, std::size_t, error_code&) {
    if (any_on_way(open_.size() - 1)) text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(boost::json::string_view part, std::size_t size, error_code& error) {
    on_key_part(part, size, error);
    step([this](const std::string& component) { return component == text_; });
    text_.clear();
    return true;
  }

  bool on_string_part(boost::json::string_view part, std::size_t, error_code&) {
    begin_value();
    string_begun_ = true;
    if (wanted()) text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(boost::json::string_view part, std::size_t size, error_code& error) {
    on_string_part(part, size, error);
    string_begun_ = false;
    if (mended_) text_ = unmend_text(std::move(text_));
    keep(JsonScalar::Kind::kString, text_);
    text_.clear();
    return true;
  }

  bool on_number_part(boost::json::string_view, error_code&) { return true; }  // the whole comes with the number itself
  bool on_int64(std::int64_t, boost::json::string_view text, error_code&) { return number(text); }
  bool on_uint64(std::uint64_t, boost::json::string_view text, error_code&) { return number(text); }
  bool on_double(double, boost::json::string_view text, error_code&) { return number(text); }
  bool on_bool(bool value, error_code&) { return word(JsonScalar::Kind::kBool, value ? "true" : "false"); }
  bool on_null(error_code&) { return word(JsonScalar::Kind::kNull, {}); }

  bool on_comment_part(boost::json::string_view, error_code&) { return true; }
  bool on_comment(boost::json::string_view, error_code&) { return true; }

 private:
  struct Container {
    bool is_array = false;
    std::size_t elements = 0;  // begun so far; valid for arrays
  };

  bool open(JsonScalar::Kind kind) {
    begin_value();
    keep(kind, {});
    open_.push_back({kind == JsonScalar::Kind::kArray, 0});
    return true;
  }
  bool close() {
    open_.pop_back();
    if (deepest_ > open_.size()) retreat(open_.size());
    return true;
  }
  bool number(boost::json::string_view text) {
    begin_value();
    // What was mended for the parser is read as it arrived; the text lies in the document's own buffer.
    const auto offset = static_cast<std::size_t>(text.data() - parsed_.data());
    HK_CHECK(offset <= parsed_.size() && text.size() <= parsed_.size() - offset);
    keep(JsonScalar::Kind::kNumber, original_.substr(offset, text.size()));
    return true;
  }
  bool word(JsonScalar::Kind kind, std::string_view text) {
    begin_value();
    keep(kind, text);
    return true;
  }

  // An array's value has no key that would say where the parser stands.
  void begin_value() {
    if (string_begun_ || open_.empty() || !open_.back().is_array) return;
    const std::size_t index = open_.back().elements++;
    step([index](const std::string& component) { return names_index(component, index); });
  }

  // The parser goes to a member or element of the innermost container.
  template <typename Names>
  void step(Names names) {
    const std::size_t depth = open_.size();
    if (deepest_ + 1 < depth) return;  // far from any path, as most of a large document is
    retreat(depth - 1);
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (matched_[i] != depth - 1 || paths_[i].size() < depth || !names(paths_[i][depth - 1])) continue;
      matched_[i] = deepest_ = depth;
      values_[i].reset();  // a repeated name replaces all that was below the first
    }
  }

  void retreat(std::size_t depth) {
    for (std::size_t& matched : matched_) matched = std::min(matched, depth);
    deepest_ = std::min(deepest_, depth);
  }

  bool leads_here(std::size_t path) const {
    return paths_[path].size() == open_.size() && matched_[path] == open_.size();
  }
  bool wanted() const {
    if (deepest_ < open_.size()) return false;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (leads_here(i)) return true;
    }
    return false;
  }
  bool any_on_way(std::size_t depth) const {
    if (deepest_ < depth) return false;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (matched_[i] >= depth && paths_[i].size() > depth) return true;
    }
    return false;
  }
  void keep(JsonScalar::Kind kind, std::string_view text) {
    if (deepest_ < open_.size()) return;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (leads_here(i)) values_[i] = JsonScalar{kind, std::string(text)};
    }
  }

  const std::vector<Path>& paths_;
  const std::string_view parsed_;
  const std::string_view original_;
  const bool mended_;
  std::vector<std::size_t> matched_;  // per path: components that lead to where the parser stands
  std::size_t deepest_ = 0;           // the largest of matched_
  std::vector<Container> open_;       // outermost first
  std::string text_;                  // parts of the key or string that is being read, if somebody wants it
  bool string_begun_ = false;         // between the parts of one string
  JsonValues values_;
};

boost::json::parse_options strict_options() {
  boost::json::parse_options options;
  options.max_depth = kJsonDepthMax;
  return options;
}

// The values, or why `parsed` is not JSON.
Result<JsonValues> parse(const std::vector<Path>& paths, std::string_view parsed, std::string_view original) {
  boost::json::basic_parser<Picker> parser(strict_options(), paths, parsed, original);
  error_code error;
  const std::size_t read = parser.write_some(false, parsed.data(), parsed.size(), error);
  if (error) return invalid("not valid JSON: " + error.message());
  if (read != parsed.size()) return invalid("not valid JSON: more behind the end of the document");
  return parser.handler().take_values();
}

Path components_of(std::string_view pointer) {
  Path path;
  if (pointer.empty()) return path;
  for (const std::string_view raw : split(pointer.substr(1), '/')) {
    std::string component;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '~') {
        component.push_back(raw[++i] == '0' ? '~' : '/');
      } else {
        component.push_back(raw[i]);
      }
    }
    path.push_back(std::move(component));
  }
  return path;
}

}  // namespace

JsonScanner::JsonScanner(std::vector<std::string> pointers) {
  for (const std::string& pointer : pointers) {
    HK_CHECK(is_json_pointer(pointer));
    paths_.push_back(components_of(pointer));
  }
}

Result<JsonValues> JsonScanner::scan(std::string_view document) const {
  Result<JsonValues> values = parse(paths_, document, document);
  if (values.ok()) return values;
  // Two things are valid by the grammar and refused by the parser; both are rare enough to be read on a second way.
  const auto mended = mend_json(document);
  if (!mended) return values;
  return parse(paths_, *mended, document);
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

}  // namespace hookonce

#include "base/json_redact.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_scan.h"

namespace hookonce {

namespace {

using Path = std::vector<std::string>;
using Ways = std::vector<const Path*>;  // the paths that lead through the value at hand

constexpr std::string_view kEvery = "*";

Path components_of(std::string_view pointer) {
  Path path;
  for (const std::string_view raw : split(pointer.substr(1), '/')) {
    std::string component;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      component.push_back(raw[i] != '~' ? raw[i] : raw[++i] == '0' ? '~' : '/');
    }
    path.push_back(std::move(component));
  }
  return path;
}

bool fits(const std::string& component, std::string_view name) {
  return component == kEvery || component == name;
}

// The text of a name, its escapes read.
std::string name_of(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) return std::string(quoted.substr(1, quoted.size() - 2));
  static const JsonScanner whole({""});
  const Result<JsonValues> values = whole.scan(quoted);
  return values.ok() && (*values)[0] ? (*values)[0]->text : std::string();
}

// Goes through the document once. It is known to be valid, so brackets, quotes and commas stand where they must; the
// recursion is as deep as the longest path.
class Redactor {
 public:
  Redactor(std::string_view document, std::string_view replacement) : text_(document), replacement_(replacement) {}

  std::string run(const Ways& ways) {
    take_space();
    take_value(ways, 0);
    take_space();
    return std::move(out_);
  }

 private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void copy_from(std::size_t begin) { out_.append(text_.substr(begin, at_ - begin)); }

  void take_space() {
    const std::size_t begin = at_;
    while (at(' ') || at('\t') || at('\n') || at('\r')) ++at_;
    copy_from(begin);
  }
  void take_mark() {
    if (at_ < text_.size()) out_.push_back(text_[at_++]);
    take_space();
  }

  // `depth` components of each way lead here.
  void take_value(const Ways& ways, std::size_t depth) {
    for (const Path* way : ways) {
      if (way->size() > depth) continue;
      skip_value();
      out_.append("\"").append(replacement_).append("\"");
      return;
    }
    if (!ways.empty() && at('{')) return take_object(ways, depth);
    if (!ways.empty() && at('[')) return take_array(ways, depth);
    const std::size_t begin = at_;
    skip_value();
    copy_from(begin);
  }

  void take_object(const Ways& ways, std::size_t depth) {
    take_mark();
    while (at('"')) {
      const std::size_t begin = at_;
      skip_string();
      const std::string name = name_of(text_.substr(begin, at_ - begin));
      copy_from(begin);
      take_space();
      take_mark();  // the colon
      take_value(through(ways, depth, name), depth + 1);
      take_space();
      if (at(',')) take_mark();
    }
    if (at_ < text_.size()) out_.push_back(text_[at_++]);
  }

  void take_array(const Ways& ways, std::size_t depth) {
    take_mark();
    for (std::size_t index = 0; at_ < text_.size() && !at(']'); ++index) {
      take_value(through(ways, depth, std::to_string(index)), depth + 1);
      take_space();
      if (at(',')) take_mark();
    }
    if (at_ < text_.size()) out_.push_back(text_[at_++]);
  }

  static Ways through(const Ways& ways, std::size_t depth, std::string_view name) {
    Ways on;
    for (const Path* way : ways) {
      if (fits((*way)[depth], name)) on.push_back(way);
    }
    return on;
  }

  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  // Up to what ends the value in its container.
  void skip_value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '[' || c == '{') {
        ++depth;
        ++at_;
      } else if (depth > 0 && (c == ']' || c == '}')) {
        --depth;
        ++at_;
      } else if (depth == 0 && std::string_view(",]} \t\n\r").find(c) != std::string_view::npos) {
        return;
      } else {
        ++at_;
        continue;  // within a number or a word, or between the values of a container
      }
      if (depth == 0) return;
    }
  }

  const std::string_view text_;
  const std::string_view replacement_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> redact_json(std::string_view document, const std::vector<std::string>& pointers,
                                std::string_view replacement) {
  static const JsonScanner grammar({});
  HK_TRY(grammar.scan(document).status());
  std::vector<Path> paths;
  for (const std::string& pointer : pointers) paths.push_back(components_of(pointer));
  Ways ways;
  for (const Path& path : paths) ways.push_back(&path);
  return Redactor(document, replacement).run(ways);
}

bool json_pointer_covers(std::string_view outer, std::string_view inner) {
  const Path whole = components_of(outer);
  const Path part = components_of(inner);
  if (whole.size() > part.size()) return false;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (!fits(whole[i], part[i])) return false;
  }
  return true;
}

}  // namespace hookonce

#include "ingest/json_rewriting.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace hookonce {

namespace {

constexpr std::size_t kEscapeSize = 6;     // \uXXXX
constexpr std::size_t kGrowthFree = 4096;  // bytes: a short document may be all brackets

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_between(std::uint32_t value, std::uint32_t first, std::uint32_t last) {
  return value >= first && value <= last;
}

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

void put_utf8(std::string& out, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto put_rest = [&](std::uint32_t shift) { put(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put_rest(6);
  } else {
    put(0xf0 | point >> 18);
    put_rest(12);
    put_rest(6);
  }
  put_rest(0);
}

class Writer {
 public:
  Writer(std::string_view document, const JsonStyle& style) : text_(document), style_(style) {}

  std::optional<std::string> write() {
    out_.reserve(text_.size());
    const std::size_t limit = kGrowthFree + text_.size() * kJsonGrowthMax;
    while (at_ < text_.size()) {
      if (out_.size() > limit) return std::nullopt;
      if (text_[at_] == '"') {
        write_string();
      } else if (style_.space == JsonStyle::Space::kAsIs) {
        out_.push_back(text_[at_++]);
      } else {
        write_part();
      }
    }
    return std::move(out_);
  }

 private:
  bool indents() const {
    return style_.space == JsonStyle::Space::kIndentTwo || style_.space == JsonStyle::Space::kIndentFour;
  }

  void start_line() {
    if (!indents()) return;
    out_.push_back('\n');
    out_.append(depth_ * (style_.space == JsonStyle::Space::kIndentTwo ? 2 : 4), ' ');
  }

  // One character outside of strings.
  void write_part() {
    const char c = text_[at_++];
    if (is_space(c)) return;
    if (c == '}' || c == ']') {
      --depth_;
      if (!is_empty_) start_line();
      is_empty_ = false;
    }
    out_.push_back(c);
    if (c == '{' || c == '[') {
      ++depth_;
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      is_empty_ = at_ < text_.size() && (text_[at_] == '}' || text_[at_] == ']');
      if (!is_empty_) start_line();
    } else if (c == ',') {
      if (style_.space == JsonStyle::Space::kAfterEach) out_.push_back(' ');
      start_line();
    } else if (c == ':' && style_.space != JsonStyle::Space::kNone) {
      out_.push_back(' ');
    }
  }

  void write_string() {
    out_.push_back(text_[at_++]);
    while (text_[at_] != '"') {
      if (text_[at_] == '\\') {
        write_escape();
      } else {
        write_character();
      }
    }
    out_.push_back(text_[at_++]);
  }

  void copy(std::size_t size) {
    out_.append(text_.substr(at_, size));
    at_ += size;
  }

  void write_escape() {
    if (text_[at_ + 1] == '/') {
      if (style_.slashes == JsonStyle::Slashes::kPlain) ++at_;
      return copy(style_.slashes == JsonStyle::Slashes::kPlain ? 1 : 2);
    }
    if (text_[at_ + 1] != 'u') return copy(2);
    if (style_.letters == JsonStyle::Letters::kAsIs) return copy(kEscapeSize);
    std::size_t size = kEscapeSize;
    std::uint32_t point = unit_at(at_);
    if (is_between(point, 0xd800, 0xdbff) && text_.substr(at_ + size, 2) == "\\u" &&
        is_between(unit_at(at_ + size), 0xdc00, 0xdfff)) {
      point = 0x10000 + ((point - 0xd800) << 10) + (unit_at(at_ + size) - 0xdc00);
      size += kEscapeSize;
    }
    const bool stays =
        point < ' ' || point == '"' || point == '\\' || point == '/' || is_between(point, 0xd800, 0xdfff);
    if (stays) return copy(size);
    at_ += size;
    put(point);
  }

  void write_character() {
    const std::uint32_t lead = byte_at(text_, at_);
    if (lead == '/' && style_.slashes == JsonStyle::Slashes::kEscaped) out_.push_back('\\');
    if (style_.letters == JsonStyle::Letters::kAsIs) return copy(1);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t point = size == 1 ? lead : lead & (0x7fu >> size);
    for (std::size_t i = 1; i < size; ++i) point = point << 6 | (byte_at(text_, at_ + i) & 0x3f);
    at_ += size;
    put(point);
  }

  std::uint32_t unit_at(std::size_t at) const {
    const std::string bytes = from_hex(text_.substr(at + 2, 4)).value();
    return byte_at(bytes, 0) << 8 | byte_at(bytes, 1);
  }

  bool must_escape(std::uint32_t point) const {
    if (style_.letters == JsonStyle::Letters::kPlain) return false;
    if (style_.letters != JsonStyle::Letters::kHtmlSafe) return point > 0x7f;
    return point == '<' || point == '>' || point == '&' || point == 0x2028 || point == 0x2029;
  }

  void put(std::uint32_t point) {
    if (!must_escape(point)) return put_utf8(out_, point);
    if (point < 0x10000) return put_unit(point);
    put_unit(0xd800 + ((point - 0x10000) >> 10));
    put_unit(0xdc00 + ((point - 0x10000) & 0x3ff));
  }

  void put_unit(std::uint32_t unit) {
    const bool upper = style_.letters == JsonStyle::Letters::kAsciiUpper;
    out_ += upper ? fmt::format("\\u{:04X}", unit) : fmt::format("\\u{:04x}", unit);
  }

  std::string_view text_;
  JsonStyle style_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool is_empty_ = false;  // the object or array that was opened last, until it is closed
  std::string out_;
};

std::string_view describe(JsonStyle::Space space) {
  switch (space) {
    case JsonStyle::Space::kAsIs:
      return "";
    case JsonStyle::Space::kNone:
      return "without white space";
    case JsonStyle::Space::kAfterEach:
      return "with a blank behind each comma and colon";
    case JsonStyle::Space::kIndentTwo:
      return "indented by two blanks";
    case JsonStyle::Space::kIndentFour:
      return "indented by four blanks";
  }
  return "";
}

std::string_view describe(JsonStyle::Letters letters) {
  switch (letters) {
    case JsonStyle::Letters::kAsIs:
      return "";
    case JsonStyle::Letters::kPlain:
      return "with characters in place of \\u escapes";
    case JsonStyle::Letters::kAscii:
    case JsonStyle::Letters::kAsciiUpper:
      return "with \\u escapes for what is not ASCII";
    case JsonStyle::Letters::kHtmlSafe:
      return "with \\u escapes for `<`, `>` and `&`";
  }
  return "";
}

std::string_view describe(JsonStyle::Slashes slashes) {
  switch (slashes) {
    case JsonStyle::Slashes::kAsIs:
      return "";
    case JsonStyle::Slashes::kPlain:
      return "with `/` for `\\/`";
    case JsonStyle::Slashes::kEscaped:
      return "with `\\/` for `/`";
  }
  return "";
}

}  // namespace

std::string describe(const JsonStyle& style) {
  std::vector<std::string> parts;
  for (const std::string_view part : {describe(style.space), describe(style.letters), describe(style.slashes)}) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return join(parts, ", ");
}

std::optional<std::string> rewrite_json(std::string_view document, const JsonStyle& style) {
  return Writer(document, style).write();
}

}  // namespace hookonce

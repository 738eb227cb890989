#include "ingest/rewriting.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "ingest/json_rewriting.h"

namespace hookonce {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

using Visit = std::function<bool(const Rewriting&)>;

// Each once; `more()` is false when the visitor has seen enough.
class Shown {
 public:
  Shown(std::string_view body, const Visit& visit) : visit_(visit) { seen_.insert(hash(body)); }

  bool more() const { return more_; }
  void show(std::string body, std::string how) {
    if (!more_ || !seen_.insert(hash(body)).second) return;
    more_ = visit_({std::move(body), std::move(how)});
  }

 private:
  static std::size_t hash(std::string_view text) { return std::hash<std::string_view>()(text); }

  const Visit& visit_;
  std::unordered_set<std::size_t> seen_;
  bool more_ = true;
};

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, from.size()) == from) {
      out += to;
      at += from.size();
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

void show_edges(std::string_view body, Shown& shown) {
  const std::string text(body);
  if (body.ends_with("\r\n")) shown.show(text.substr(0, text.size() - 2), "the same bytes without the line end behind");
  if (body.ends_with('\n')) shown.show(text.substr(0, text.size() - 1), "the same bytes without the line end behind");
  shown.show(text + "\n", "the same bytes with a line end behind");
  shown.show(text + "\r\n", "the same bytes with a line end behind (CR LF)");
  shown.show(replaced(body, "\r\n", "\n"), "the same text with LF for CR LF");
  shown.show(replaced(replaced(body, "\r\n", "\n"), "\n", "\r\n"), "the same text with CR LF for LF");
  if (body.starts_with(kByteOrderMark)) {
    shown.show(text.substr(kByteOrderMark.size()), "the same bytes without the byte order mark");
  } else {
    shown.show(std::string(kByteOrderMark) + text, "the same bytes with a byte order mark in front");
  }
}

void show_wrapped(std::string_view body, Shown& shown) {
  if (auto bytes = from_base64(trim(body)); bytes && !bytes->empty())
    shown.show(*std::move(bytes), "what this body holds as base64");
  if (!body.starts_with('"')) return;
  const auto text = parse_json(body);
  if (text.ok() && text->is_string())
    shown.show(std::string(text->get_string()), "the text that this body holds as one JSON string");
}

int changes(const JsonStyle& style) {
  return static_cast<int>(style.space != JsonStyle::Space::kAsIs) +
         static_cast<int>(style.letters != JsonStyle::Letters::kAsIs) +
         static_cast<int>(style.slashes != JsonStyle::Slashes::kAsIs);
}

// One change before two, and two before three.
std::vector<JsonStyle> json_styles() {
  using Space = JsonStyle::Space;
  using Letters = JsonStyle::Letters;
  using Slashes = JsonStyle::Slashes;
  std::vector<JsonStyle> styles;
  for (const Space space : {Space::kAsIs, Space::kNone, Space::kAfterEach, Space::kIndentTwo, Space::kIndentFour}) {
    for (const Letters letters :
         {Letters::kAsIs, Letters::kPlain, Letters::kAscii, Letters::kHtmlSafe, Letters::kAsciiUpper}) {
      for (const Slashes slashes : {Slashes::kAsIs, Slashes::kPlain, Slashes::kEscaped}) {
        styles.push_back({space, letters, slashes});
      }
    }
  }
  std::stable_sort(styles.begin(), styles.end(),
                   [](const JsonStyle& one, const JsonStyle& other) { return changes(one) < changes(other); });
  return styles;
}

void show_json(std::string_view document, Shown& shown) {
  static const std::vector<JsonStyle> styles = json_styles();
  for (const JsonStyle& style : styles) {
    if (!shown.more()) return;
    if (changes(style) == 0) continue;
    if (auto rewritten = rewrite_json(document, style))
      shown.show(*std::move(rewritten), "the same JSON " + describe(style));
  }
  using Space = JsonStyle::Space;
  for (const Space space : {Space::kNone, Space::kAfterEach, Space::kIndentTwo, Space::kIndentFour}) {
    if (!shown.more()) return;
    JsonStyle style;
    style.space = space;
    if (const auto rewritten = rewrite_json(document, style))
      shown.show(*rewritten + "\n", "the same JSON " + describe(style) + ", with a line end behind");
  }
}

struct FormStyle {
  std::string_view plain;  // what is written as itself, beside letters and digits
  bool plus_is_blank = false;
  bool upper = true;  // the letters of an escape
};

std::string encode_form_text(std::string_view text, const FormStyle& style) {
  std::string out;
  for (const char c : text) {
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_alphanumeric || style.plain.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else if (c == ' ' && style.plus_is_blank) {
      out.push_back('+');
    } else {
      std::string hex = to_hex(std::string_view(&c, 1));
      if (style.upper)
        std::transform(hex.begin(), hex.end(), hex.begin(), [](char d) { return d >= 'a' ? d - 32 : d; });
      out += "%" + hex;
    }
  }
  return out;
}

// As PHP and RFC 3986, browsers' forms, encodeURIComponent, and what escapes all but letters, digits and few more.
constexpr std::array<std::string_view, 4> kPlainInForms = {"-_.~", "-_.*", "-_.!~*'()", "-_."};

void show_form(std::string_view body, Shown& shown) {
  const auto fields = parse_form(body);
  if (!fields || body.find('=') == std::string_view::npos) return;
  shown.show(replaced(body, "+", "%20"), "the same form with `%20` for `+`");
  shown.show(replaced(body, "%20", "+"), "the same form with `+` for `%20`");
  for (const bool upper : {true, false}) {
    for (const bool plus_is_blank : {true, false}) {
      for (const std::string_view plain : kPlainInForms) {
        if (!shown.more()) return;
        std::string form;
        for (const auto& [name, value] : *fields) {
          const FormStyle style{plain, plus_is_blank, upper};
          if (!form.empty()) form += "&";
          form += encode_form_text(name, style) + "=" + encode_form_text(value, style);
        }
        shown.show(std::move(form), "the same form with other percent escapes");
      }
    }
  }
}

}  // namespace

void for_each_rewriting(std::string_view body, const Visit& visit) {
  if (body.empty() || body.size() > kRewrittenMax) return;
  static const JsonScanner whole({""});
  Shown shown(body, visit);
  const std::string_view document = body.starts_with(kByteOrderMark) ? body.substr(kByteOrderMark.size()) : body;
  const bool is_json = whole.scan(document).ok();
  show_edges(body, shown);
  if (is_json) {
    show_json(document, shown);
  } else {
    show_form(body, shown);
  }
  show_wrapped(body, shown);
}

}  // namespace hookonce

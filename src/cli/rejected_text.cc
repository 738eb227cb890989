#include "cli/rejected_text.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr std::size_t kIndent = 4;    // of everything behind an item's first line
constexpr std::size_t kRoomMin = 24;  // columns below which wrapping makes nothing more readable

std::string member(const json::value& item, std::string_view name) {
  return printable(json_string(item, name).value_or("-"));
}

// Pieces with `between` them, broken between pieces where a line would be too long.
class Lines {
 public:
  Lines(std::string_view between, const RejectedTextOptions& options)
      : between_(between), colour_(options.colour), columns_(options.columns < kRoomMin ? 0 : options.columns) {}

  void add(std::string_view piece, Paint paint = Paint::kNone) {
    const std::size_t width = width_of(piece);
    if (!fresh_ && columns_ > 0 && column_ + between_.size() + width > columns_) {
      text_ += "\n";
      indent();
    }
    if (!fresh_) text_ += between_;
    column_ += width + (fresh_ ? 0 : between_.size());
    text_ += painted(piece, paint, colour_);
    fresh_ = false;
  }
  void indent() {
    text_.append(kIndent, ' ');
    column_ = kIndent;
    fresh_ = true;
  }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string_view between_;
  bool colour_;
  std::size_t columns_;  // 0: never broken
  std::size_t column_ = 0;
  bool fresh_ = true;  // nothing stands in this line yet
  std::string text_;
};

// Without the source's name in front, which stands in the line above.
std::string reason_of(const json::value& item) {
  const std::string reason = member(item, "reason");
  const std::string named = fmt::format("source \"{}\": ", member(item, "source"));
  return reason.starts_with(named) ? reason.substr(named.size()) : reason;
}

}  // namespace

std::string rejected_text(const json::array& items, const RejectedTextOptions& options) {
  std::string text;
  for (const json::value& item : items) {
    Lines head("  ", options);
    head.add(local_time(json_string(item, "first_at").value_or("")));
    head.add(member(item, "source"), Paint::kStrong);
    head.add(member(item, "code"), Paint::kBad);
    head.add(size_text(static_cast<std::uint64_t>(json_int(item, "size").value_or(0))));
    head.add("from " + member(item, "remote"));
    head.add(member(item, "id"));
    const std::int64_t count = json_int(item, "count").value_or(1);
    if (count > 1)
      head.add(fmt::format("{} times, last {}", count, local_time(json_string(item, "last_at").value_or(""))));
    text += head.take();

    Lines reason(" ", options);
    reason.indent();
    const std::string words = reason_of(item);
    for (const std::string_view word : split(words, ' ')) reason.add(word);
    text += reason.take();
  }
  return text;
}

}  // namespace hookonce

#include "cli/table.h"

#include <algorithm>

#include "base/check.h"

namespace hookonce {

namespace {
constexpr std::size_t kGap = 2;  // blanks between columns
}  // namespace

void Table::add(std::vector<Cell> row) {
  HK_CHECK(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text(bool colour) const {
  std::vector<Cell> head;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    head.push_back({column.head, Paint::kDim});
    widths.push_back(width_of(column.head));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
  }
  std::string out = line(head, widths, colour);
  for (const auto& row : rows_) out += line(row, widths, colour);
  return out;
}

std::string Table::line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths, bool colour) const {
  std::string out;
  std::size_t owed = 0;  // blanks that are written only if something follows
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::size_t blanks = widths[i] - width_of(row[i].text);
    const bool right = columns_[i].align == Align::kRight;
    if (right) owed += blanks;
    if (!row[i].text.empty()) {
      out.append(owed, ' ');
      owed = 0;
      out += painted(row[i].text, row[i].paint, colour);
    }
    if (!right) owed += blanks;
    owed += kGap;
  }
  return out + "\n";
}

}  // namespace hookonce

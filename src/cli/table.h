// Rows of text in aligned columns.
//
//   Table table({{"TIME"}, {"SIZE", Table::Align::kRight}});
//   table.add({{"12:00"}, {"1 KiB", Paint::kDim}});
//   say(table.text(colour));
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace hookonce {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string head;
    Align align = Align::kLeft;
  };
  struct Cell {
    std::string text;  // printable() already
    Paint paint = Paint::kNone;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // REQUIRES: one cell per column.
  void add(std::vector<Cell> row);
  // Lines with a head line above them; no blanks at a line's end.
  std::string text(bool colour) const;

 private:
  std::string line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths, bool colour) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace hookonce

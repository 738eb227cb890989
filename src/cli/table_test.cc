#include "cli/table.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

TEST(Table, AlignsColumnsToTheirWidestCell) {
  Table table({{"NAME"}, {"SIZE", Table::Align::kRight}, {"ID"}});
  table.add({{"a"}, {"12 B"}, {"1"}});
  table.add({{"longer"}, {"1.5 KiB"}, {"2"}});
  EXPECT_EQ(table.text(false),
            "NAME       SIZE  ID\n"
            "a          12 B  1\n"
            "longer  1.5 KiB  2\n");
}

TEST(Table, LeavesNoBlanksAtALinesEnd) {
  Table table({{"A"}, {"B"}});
  table.add({{"x"}, {""}});
  table.add({{"y"}, {"long"}});
  EXPECT_EQ(table.text(false), "A  B\nx\ny  long\n");
}

TEST(Table, MeasuresTextWithoutItsColour) {
  Table table({{"A"}, {"B"}});
  table.add({{"ok", Paint::kGood}, {"x"}});
  EXPECT_EQ(table.text(true), "\033[2mA\033[0m   \033[2mB\033[0m\n\033[32mok\033[0m  x\n");
}

TEST(Table, AlignsWideCharacters) {
  Table table({{"A"}, {"B"}});
  table.add({{"事件"}, {"x"}});
  table.add({{"abcd"}, {"y"}});
  EXPECT_EQ(table.text(false), "A     B\n事件  x\nabcd  y\n");
}

}  // namespace
}  // namespace hookonce

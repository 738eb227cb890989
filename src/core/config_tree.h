// A configuration file as a tree of plain values, each with the line it stands on. Only config_load.cc knows that it
// was TOML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hookonce {

struct ConfigEntry;

struct ConfigNode {
  enum class Kind { kString, kInteger, kFloat, kBool, kTime, kList, kTable };
  Kind kind = Kind::kTable;
  int line = 0;                      // 0: stands nowhere (the file's own table)
  std::string text;                  // kString
  std::int64_t integer = 0;          // kInteger
  double number = 0;                 // kInteger, kFloat
  bool flag = false;                 // kBool
  std::vector<ConfigNode> items;     // kList
  std::vector<ConfigEntry> entries;  // kTable, in the order of the file
};

struct ConfigEntry {
  std::string name;
  int line = 0;
  ConfigNode value;
};

// "a string", "a list", ...: never the value, which may be a secret.
std::string_view kind_name(ConfigNode::Kind kind);

}  // namespace hookonce

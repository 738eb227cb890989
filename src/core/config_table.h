// One table of the configuration: reads typed values by key, and notes every mistake with its line, key path and mend.
//
//   ConfigTable table(node, "destinations.backend", ConfigSection::kDestination, problems);
//   table.read("url", config.url);
//   table.read("timeout", {kTimeoutMin, kTimeoutMax}, config.timeout);
//   table.report_unknown();                       // whatever no read() asked for
//
// A read() leaves its target as it is where the key is missing or its value is wrong, and says true only for a value
// that was there and good, so that reading goes on and every mistake of a file is named at once. REQUIRES: `node` and
// `problems` outlive the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_hints.h"
#include "core/config_load.h"
#include "core/config_tree.h"

namespace hookonce {

template <typename T>
struct Limits {
  T min;
  T max;
};

class ConfigTable {
 public:
  // A `node` that is no table is a mistake, and then reads as an empty one.
  ConfigTable(const ConfigNode& node, std::string path, ConfigSection section, std::vector<ConfigProblem>& problems);

  // nullptr where the key is missing. Asking makes a key known to report_unknown().
  const ConfigNode* find(std::string_view name);

  bool read(std::string_view name, std::string& out);  // an empty string is a mistake
  bool read(std::string_view name, bool& out);
  bool read(std::string_view name, Limits<Duration> limits, Duration& out);
  bool read(std::string_view name, Limits<std::size_t> limits, std::size_t& out);  // a size such as "1MiB"
  bool read(std::string_view name, Limits<std::int64_t> limits, std::int64_t& out);
  bool read(std::string_view name, Limits<double> limits, double& out);
  bool read(std::string_view name, std::vector<std::string>& out);  // a list of strings, none of them empty
  bool read(std::string_view name, std::optional<FieldSpec>& out);
  bool read(std::string_view name, std::vector<FieldSpec>& out);  // one string or a list of them
  // One of `words`; out is its index.
  bool read(std::string_view name, const std::vector<std::string>& words, std::size_t& out);

  // At the key's line, or at the table's own where the key is missing. `name` may be empty: the table itself.
  void error(std::string_view name, std::string message) { note(name, std::move(message), false); }
  void warn(std::string_view name, std::string message) { note(name, std::move(message), true); }
  void error_at(int line, std::string_view name, std::string message);
  // A required key that is not there. Held back until report_unknown(), which drops it where an unknown key was meant
  // for it.
  void missing(std::string_view name, std::string message);
  // Names whatever no read() asked for, then what is missing.
  void report_unknown();

  int line(std::string_view name) const;
  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const;
  std::vector<ConfigProblem>& problems() { return problems_; }  // for the tables inside this one

 private:
  const ConfigNode* find(std::string_view name, ConfigNode::Kind kind, std::string_view mend);
  std::optional<FieldSpec> spec_of(std::string_view name, const ConfigNode& node);
  void note(std::string_view name, std::string message, bool warning);

  const ConfigNode& node_;
  const std::string path_;
  const ConfigSection section_;
  std::vector<ConfigProblem>& problems_;
  std::vector<std::string> known_;
  std::vector<ConfigProblem> missing_;
};

// A value as it stands in a message: quoted, and cut where it is long. Never for what may be a secret.
std::string shown(std::string_view value);

}  // namespace hookonce

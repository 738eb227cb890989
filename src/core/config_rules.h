// What only several tables of a configuration together show: references, paths that collide, times that do not fit.
#pragma once

#include <map>
#include <string>

#include "core/config.h"
#include "core/config_table.h"

namespace hookonce {

using ConfigTables = std::map<std::string, ConfigTable, std::less<>>;  // by the name of the source or destination

// REQUIRES: a table for each source and destination of `config`.
void check_paths(const Config& config, ConfigTables& sources);
void check_references(const Config& config, ConfigTables& sources);
void warn_of_unused(const Config& config, ConfigTables& destinations);
void check_sync(const Config& config, ConfigTables& sources);
void check_ordering(const Config& config, ConfigTables& sources);
void check_retention(const Config& config, ConfigTable& store);
void check_body_limits(const Config& config, ConfigTable& server);

}  // namespace hookonce

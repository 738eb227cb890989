// Reads the tables of a configuration, one function each: keys, types, ranges, and what a table can judge by itself.
// What only several tables together show is in config_rules.h.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"
#include "core/config_load.h"
#include "core/config_table.h"

namespace hookonce {

ServerConfig read_server(ConfigTable& table, const ConfigWorld& world);
StoreConfig read_store(ConfigTable& table, const ConfigWorld& world);
// `server` decides max_body where it sets one.
SourceConfig read_source(ConfigTable& table, const std::string& name, const ServerConfig& server,
                         const ConfigWorld& world);
DestinationConfig read_destination(ConfigTable& table, const std::string& name, const ConfigWorld& world);
// `mode` and what belongs to synchronous sources. REQUIRES: `destinations` has been read. `traits` may be null:
// unknown.
void read_mode(ConfigTable& table, const ProviderTraits* traits, const ConfigWorld& world, SourceConfig& source);
// `when` of one entry of a source's `destinations`.
std::vector<Condition> read_when(ConfigTable& destination);

// The key `secrets`, resolved; false where it is missing or an entry is wrong, which is reported by position, never by
// value.
bool read_secrets(ConfigTable& table, ConfigSection section, const std::string& name, const ConfigWorld& world,
                  std::vector<std::string>& out);

// The key `name`, a PEM file that must hold `what`; its name goes to `out`, since it is read again for each connection.
void read_pem(ConfigTable& table, std::string_view name, std::string_view what, const ConfigWorld& world,
              std::string& out);
// The key `proxy`, resolved; false where it is missing or wrong.
bool read_proxy(ConfigTable& table, const ConfigWorld& world, std::string& out);

// The provider that the configuration calls `name`, by name or alias; nullptr where there is none.
const ProviderTraits* find_traits(std::string_view name, const ConfigWorld& world);

// The longest time that any key takes: sums of a few of them stay far from what a Duration holds.
inline constexpr Duration kLongest = std::chrono::hours(24 * 3650);

}  // namespace hookonce

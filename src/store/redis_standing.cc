#include "store/redis_standing.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "store/redis_errors.h"

namespace hookonce {

namespace {

// The value behind `name:` in what INFO answers.
std::string info_field(std::string_view info, std::string_view name) {
  for (std::string_view line : split(info, '\n')) {
    if (line.substr(0, name.size()) != name || line.substr(name.size(), 1) != ":") continue;
    std::string_view value = line.substr(name.size() + 1);
    if (!value.empty() && value.back() == '\r') value.remove_suffix(1);
    return std::string(value);
  }
  return {};
}

std::optional<std::string> config_value(RedisReply reply) {
  return reply.size() == 2 ? std::optional(std::string(reply[1].text())) : std::nullopt;
}

struct Wanted {
  std::string_view name;
  std::string_view value;
  std::string_view why;
};

constexpr Wanted kAppendOnly{"appendonly", "yes",
                             "without the append-only file a restart forgets what was acknowledged"};
constexpr Wanted kAppendFsync{"appendfsync", "always", "otherwise a power loss forgets the newest acknowledged events"};
constexpr Wanted kOnRewrite{"no-appendfsync-on-rewrite", "no",
                            "otherwise nothing is synced while the file is rewritten"};
constexpr Wanted kPolicy{"maxmemory-policy", "noeviction", "otherwise a full server drops events and keys by itself"};

void compare(const Wanted& wanted, const std::optional<std::string>& found, RedisStanding& standing) {
  if (found == wanted.value) return;
  standing.shortcomings.push_back(
      found ? fmt::format("{} is `{}`; set it to `{}`: {}", wanted.name, *found, wanted.value, wanted.why)
            : fmt::format("{} cannot be seen (is CONFIG forbidden?); it must be `{}`: {}", wanted.name, wanted.value,
                          wanted.why));
}

Result<RedisSettings> read_settings(RedisConnection& connection) {
  std::vector<RedisCommand> commands;
  for (const Wanted& wanted : {kAppendOnly, kAppendFsync, kOnRewrite, kPolicy}) {
    commands.push_back({"CONFIG", "GET", wanted.name});
  }
  commands.push_back({"INFO"});
  const Result<std::vector<RedisAnswer>> answers = connection.call_all(commands);
  if (!answers.ok()) return unavailable(answers.status().message());
  RedisSettings settings;
  // An error of CONFIG is no answer; that of INFO is one about the server.
  settings.appendonly = config_value(*(*answers)[0]);
  settings.appendfsync = config_value(*(*answers)[1]);
  settings.no_appendfsync_on_rewrite = config_value(*(*answers)[2]);
  settings.maxmemory_policy = config_value(*(*answers)[3]);
  const RedisReply info = *(*answers)[4];
  HK_TRY(error_of(info));
  settings.replica = info_field(info.text(), "role") != "master";
  settings.cluster = info_field(info.text(), "cluster_enabled") == "1";
  settings.replicas = parse_digits(info_field(info.text(), "connected_slaves")).value_or(0);
  settings.version = info_field(info.text(), "redis_version");
  return settings;
}

}  // namespace

RedisStanding judge(const RedisSettings& settings) {
  RedisStanding standing;
  if (settings.replica) standing.refusals.push_back("the server is a replica; let store.url name the primary");
  if (settings.cluster) {
    standing.refusals.push_back("the server is part of a Redis Cluster; give the inbox a server of its own");
  }
  compare(kAppendOnly, settings.appendonly, standing);
  compare(kAppendFsync, settings.appendfsync, standing);
  compare(kOnRewrite, settings.no_appendfsync_on_rewrite, standing);
  compare(kPolicy, settings.maxmemory_policy, standing);
  if (settings.replicas > 0) {
    standing.notes.push_back(
        "redis: replicas follow asynchronously, so a failover may lose the newest acknowledged events");
  }
  return standing;
}

Result<std::vector<std::string>> check_server(RedisConnection& connection, bool relaxed) {
  HK_ASSIGN(const RedisSettings settings, read_settings(connection));
  RedisStanding standing = judge(settings);
  if (!standing.refusals.empty()) return precondition(join(standing.refusals, "; "));
  std::vector<std::string> weaknesses;
  if (relaxed) {
    weaknesses.push_back("redis: durability=relaxed, so acknowledged events may be lost in a crash of the server");
    for (const std::string& shortcoming : standing.shortcomings) weaknesses.push_back("redis: " + shortcoming);
  } else if (!standing.shortcomings.empty()) {
    return precondition(fmt::format("{}; or accept that acknowledged events can be lost: ?durability=relaxed",
                                    join(standing.shortcomings, "; ")));
  }
  weaknesses.insert(weaknesses.end(), standing.notes.begin(), standing.notes.end());
  return weaknesses;
}

}  // namespace hookonce

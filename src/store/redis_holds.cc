#include "store/redis_holds.h"

#include <set>
#include <vector>

#include "store/delivery_record.h"
#include "store/redis_codec.h"

namespace hookonce {

Status add_holds(RedisServer& server, std::span<const RedisWaiting> waiting) {
  if (waiting.empty()) return {};
  std::vector<RedisCommand> commands;
  commands.push_back({"SMEMBERS"});
  commands.back().add_own(server.paused_name());
  for (const RedisWaiting& one : waiting) {
    if (!one.ordering_key) continue;
    commands.push_back({"ZRANGE"});
    commands.back().add_own(server.line_name(one.source, one.destination, *one.ordering_key)).add("0").add("0");
  }
  HK_ASSIGN(const std::vector<RedisAnswer> answers, server.read(commands));
  for (const RedisAnswer& answer : answers) {
    if ((*answer).is_error()) return unavailable(std::string((*answer).text()));
  }
  std::set<std::string_view> paused;
  const RedisReply names = *answers[0];
  for (std::size_t i = 0; i < names.size(); ++i) paused.insert(names[i].text());
  std::size_t next = 1;
  for (const RedisWaiting& one : waiting) {
    std::optional<EventId> head;
    if (one.ordering_key) {
      const RedisReply first = *answers[next++];
      if (first.size() > 0) {
        HK_ASSIGN(head, decode_id(first[0].text()));
      }
      if (head == one.event) head.reset();
    }
    one.held = hold_of(paused.contains(one.destination), head);
  }
  return {};
}

}  // namespace hookonce

// The scripts that run inside Redis: one per verb, each an atomic step of the inbox.
//
// Where everything lies. PREFIX is `prefix` of the URL (`hookonce`), T is `PREFIX:{SOURCE}:`, ID an event's 16 bytes,
// SEQ its place in the order of acceptance, KEY a dedup key's 16 bytes. Times are microseconds since 1970 by the
// server's clock.
//
//   PREFIX:inbox    string  version of this layout and the inbox's own id; a script that finds another one does nothing
//   PREFIX:copy     string  how far a copy into this inbox has come; only while it is not finished. The marker is
//                           another one for as long, so that no gateway writes here
//   PREFIX:seq      string  the last SEQ given out
//   PREFIX:sources  set     the sources that have anything here
//   PREFIX:paused   set     the destinations that are paused
//   T e:ID          hash    one event: `s` what never changes, `h` headers, `b` body, `d` its deliveries' records,
//                           `n` duplicates, `a1` `a2` ... their arrivals, `t:DESTINATION:N` attempt N, `j` keys that
//                           joined it, `r` the reply of a synchronous source's destination
//   T k:KEY         string  who holds a dedup key and until when; it outlives its event
//   T l:KEY         zset    events that held the key before and are still here, by SEQ: most keys have none
//   T i             zset    all events, by SEQ
//   T o             zset    events with an open delivery, by SEQ
//   T c             zset    all others, by the time their last delivery ended
//   T d             zset    events with a dead delivery, by SEQ
//   T q:DESTINATION zset    SEQ and ID of open deliveries, by the time they are due (in flight: the lease's end)
//   T Q             set     destinations that have a queue
//   T w:DESTINATION:ORDERING_KEY  zset  one line of an ordered destination, by SEQ
//   T W:DESTINATION zset    the events in any line of the destination, by SEQ
//   T n             hash    counts of deliveries: `in_flight`, `dead`
//
// How an event moves: accept puts it into i, into o or (without a destination) into c, into the queues of its
// destinations (of an ordered one into its line too), and its keys into k. A claim and a retry move it within its
// queue. The end of a delivery takes it out of the queue; that of the last one moves it from o to c, a replay or a
// rearm back. prune() takes from c what ended before a time; a key whose event is gone gets an expiry, which only
// sweeps up: whether a key is taken is read from its value.
//
// All keys of a source have one hash tag and there is no index across sources (verbs that span them merge), so that a
// source could be placed on one slot of a cluster. A batch spans sources, however, and PREFIX:seq and PREFIX:sources
// have no tag: what is supported is a single primary, and a cluster is refused at the opening.
//
// A script that fails midway keeps what it wrote, so each decides everything first, on copies, and writes at its end.
// What it writes reaches the append-only file as one MULTI block, of which a crash keeps all or nothing.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace hookonce {

enum class RedisScript {
  kCommit,
  kFindDuplicate,
  kClaim,
  kNextDue,
  kSetPaused,
  kReply,
  kGet,
  kList,
  kStats,
  kReplay,
  kLineRule,
  kPrune,
  kCopy,
  kCopyEnd
};
inline constexpr std::size_t kRedisScripts = 14;

// Every script's first arguments: the inbox's marker, and the time where the caller gives it (tests), else nothing.
std::string redis_script_text(RedisScript script);

namespace redis_lua {
extern const std::string_view kBasics;      // time, keys, the guard; in front of all others
extern const std::string_view kDeliveries;  // delivery records and what changes with them
extern const std::string_view kCommit;
extern const std::string_view kFindDuplicate;
extern const std::string_view kClaim;
extern const std::string_view kNextDue;
extern const std::string_view kSetPaused;
extern const std::string_view kReply;
extern const std::string_view kGet;
extern const std::string_view kList;
extern const std::string_view kStats;
extern const std::string_view kReplay;
extern const std::string_view kLineRule;
extern const std::string_view kPrune;
extern const std::string_view kCopy;
extern const std::string_view kCopyEnd;
}  // namespace redis_lua

}  // namespace hookonce

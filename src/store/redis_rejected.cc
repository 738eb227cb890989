#include "store/redis_rejected.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/sync.h"
#include "store/event_filter.h"
#include "store/redis_connection.h"
#include "store/redis_errors.h"
#include "store/rejected_record.h"

namespace hookonce {

namespace {

// Where it lies. R is `PREFIX:{rejected}:`; all of it is on one slot.
//
//   R seq        string  the last number given out
//   R all        zset    ids by number
//   R s:SOURCE   zset    ids of one source by number
//   R d          hash    digest to id
//   R e:ID       hash    `r` the request, `c` how many, `l` the last one's time, `z` size, `g` digest, `s` source
//
// ARGV: R, the limits, then of each request: id, digest, source, last_at, count, size, request.
constexpr std::string_view kKeep = R"lua(
local R, most, most_bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local function drop(id)
  local source, digest = unpack(redis.call('HMGET', R .. 'e:' .. id, 's', 'g'))
  if source then redis.call('ZREM', R .. 's:' .. source, id) end
  if digest then redis.call('HDEL', R .. 'd', digest) end
  redis.call('ZREM', R .. 'all', id)
  redis.call('DEL', R .. 'e:' .. id)
end
local sources = {}
for i = 4, #ARGV, 7 do
  local id, digest, source, last, count, size, request = unpack(ARGV, i, i + 6)
  sources[source] = true
  local same = redis.call('HGET', R .. 'd', digest)
  if same then
    redis.call('HINCRBY', R .. 'e:' .. same, 'c', count)
    local before = redis.call('HGET', R .. 'e:' .. same, 'l')
    if #last > #before or (#last == #before and last > before) then redis.call('HSET', R .. 'e:' .. same, 'l', last) end
  else
    local seq = redis.call('INCR', R .. 'seq')
    redis.call('HSET', R .. 'e:' .. id, 'r', request, 'c', count, 'l', last, 'z', size, 'g', digest, 's', source)
    redis.call('HSET', R .. 'd', digest, id)
    redis.call('ZADD', R .. 's:' .. source, seq, id)
    redis.call('ZADD', R .. 'all', seq, id)
  end
end
for source in pairs(sources) do
  local bytes = 0
  for place, id in ipairs(redis.call('ZREVRANGE', R .. 's:' .. source, 0, -1)) do
    bytes = bytes + tonumber(redis.call('HGET', R .. 'e:' .. id, 'z'))
    if place > most or bytes > most_bytes then drop(id) end
  end
end
return redis.status_reply('OK')
)lua";

// ARGV: R, source or nothing, the number below which the page begins, how many, how many bytes.
constexpr std::string_view kList = R"lua(
local R, index = ARGV[1], ARGV[1] .. (ARGV[2] == '' and 'all' or 's:' .. ARGV[2])
local most, most_bytes = tonumber(ARGV[4]), tonumber(ARGV[5])
local rows = redis.call('ZREVRANGEBYSCORE', index, '(' .. ARGV[3], '-inf', 'WITHSCORES', 'LIMIT', 0, most + 1)
local page, bytes = {0}, 0
for i = 1, #rows, 2 do
  local request, count, last, size = unpack(redis.call('HMGET', R .. 'e:' .. rows[i], 'r', 'c', 'l', 'z'))
  bytes = bytes + tonumber(size)
  if i > 1 and (i > 2 * most or bytes > most_bytes) then
    page[1] = 1
    break
  end
  page[#page + 1] = {rows[i + 1], request, count, last}
end
return page
)lua";

constexpr std::string_view kRemove = R"lua(
local R, id = ARGV[1], ARGV[2]
local source, digest = unpack(redis.call('HMGET', R .. 'e:' .. id, 's', 'g'))
if not source then return 0 end
redis.call('ZREM', R .. 's:' .. source, id)
redis.call('HDEL', R .. 'd', digest)
redis.call('ZREM', R .. 'all', id)
redis.call('DEL', R .. 'e:' .. id)
return 1
)lua";

std::string bytes_of(const std::array<std::uint8_t, 16>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<RejectedRequest> read(RedisReply request, RedisReply count, RedisReply last) {
  HK_ASSIGN(RejectedRequest read, decode_rejected(request.text()));
  read.count = std::atoll(std::string(count.text()).c_str());
  read.last_at = Time(Duration(std::atoll(std::string(last.text()).c_str())));
  return read;
}

class RedisRejected final : public RejectedStore {
 public:
  explicit RedisRejected(RedisTarget target) : target_(std::move(target)), root_(target_.prefix + ":{rejected}:") {}

  Status keep(std::span<const RejectedRequest> requests, const RejectedLimits& limits) override {
    if (requests.empty()) return {};
    RedisCommand call({"EVAL", kKeep, "0", root_});
    call.add_integer(limits.requests).add_integer(limits.bytes);
    for (const RejectedRequest& request : requests) {
      call.add_own(bytes_of(request.id.bytes())).add_own(bytes_of(digest_of(request))).add(request.source);
      call.add_integer(request.last_at.time_since_epoch().count()).add_integer(request.count);
      call.add_integer(request.size()).add_own(encode_rejected(request));
    }
    return run(call).status();
  }

  Result<RejectedPage> list(const std::optional<std::string>& source, int limit,
                            const std::optional<std::string>& cursor) override {
    HK_ASSIGN(const std::int64_t below, parse_cursor(cursor));
    RedisCommand call({"EVAL", kList, "0", root_});
    call.add_own(source.value_or("")).add_integer(below).add_integer(limit).add_integer(kRejectedPageBytes);
    HK_ASSIGN(const RedisAnswer answer, run(call));
    RejectedPage page;
    const RedisReply rows = *answer;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      HK_ASSIGN(RejectedRequest request, read(rows[i][1], rows[i][2], rows[i][3]));
      page.items.push_back(std::move(request));
    }
    if (rows[0].integer() == 1) {
      page.next = format_cursor(std::atoll(std::string(rows[rows.size() - 1][0].text()).c_str()));
    }
    return page;
  }

  Result<std::optional<RejectedRequest>> get(const EventId& id) override {
    RedisCommand call({"HMGET"});
    call.add_own(root_ + "e:" + bytes_of(id.bytes())).add("r").add("c").add("l");
    HK_ASSIGN(const RedisAnswer answer, run(call));
    const RedisReply row = *answer;
    if (row[0].is_nil()) return std::optional<RejectedRequest>();
    HK_ASSIGN(RejectedRequest request, read(row[0], row[1], row[2]));
    return std::optional(std::move(request));
  }

  Result<bool> remove(const EventId& id) override {
    RedisCommand call({"EVAL", kRemove, "0", root_});
    call.add_own(bytes_of(id.bytes()));
    HK_ASSIGN(const RedisAnswer answer, run(call));
    return (*answer).integer() == 1;
  }

 private:
  // One call at a time: nothing here is in a hurry. A connection that broke is made anew, once.
  Result<RedisAnswer> run(const RedisCommand& call) {
    MutexLock lock(mutex_);
    if (connection_ != nullptr && !connection_->alive()) connection_ = nullptr;
    if (connection_ == nullptr) {
      HK_ASSIGN(connection_, RedisConnection::open(target_));
    }
    Result<RedisAnswer> answer = connection_->call(call);
    if (!answer.ok()) {
      connection_ = nullptr;
      return unavailable(answer.status().message());
    }
    HK_TRY(error_of(**answer));
    return answer;
  }

  const RedisTarget target_;
  const std::string root_;
  Mutex mutex_;
  std::unique_ptr<RedisConnection> connection_ GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<RejectedStore>> open_redis_rejected(std::string_view url) {
  HK_ASSIGN(RedisTarget target, parse_redis_url(url));
  return std::unique_ptr<RejectedStore>(std::make_unique<RedisRejected>(std::move(target)));
}

}  // namespace hookonce

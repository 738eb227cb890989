#include <hiredis/hiredis.h>

#include <deque>
#include <string>
#include <vector>

#include "bench/store_writer.h"

namespace hookonce {
namespace {

// KEYS[1] is `PREFIX:`, ARGV[1] the source's part of all names, ARGV[2] the time; then what the rows share (headers and
// the delivery's record) and five arguments a row. The layout is that of an inbox: event, key, indexes, queue.
constexpr const char* kWriteBatch = R"lua(
local call, pack = redis.call, struct.pack
local t, now, headers, delivery = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local seq, taken = tonumber(call('GET', KEYS[1] .. 'seq') or '0'), 0
local all, queue = {}, {}
for i = 5, #ARGV, 5 do
  local key, id, holder, fixed, body = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local place = pack('>i8', seq + 1)
  if call('SET', t .. 'k:' .. key, place .. holder, 'NX') then
    seq, taken = seq + 1, taken + 1
    call('HSET', t .. 'e:' .. id, 's', place .. fixed, 'h', headers, 'b', body, 'd', delivery)
    all[2 * taken - 1], all[2 * taken] = seq, id
    queue[2 * taken - 1], queue[2 * taken] = now, place .. id
  end
end
if taken > 0 then
  call('SET', KEYS[1] .. 'seq', string.format('%.0f', seq))
  call('ZADD', t .. 'i', unpack(all))
  call('ZADD', t .. 'o', unpack(all))
  call('ZADD', t .. 'q:backend', unpack(queue))
  call('SADD', t .. 'Q', 'backend')
  call('SADD', KEYS[1] .. 'sources', 'stripe')
end
return taken)lua";

void put_number(std::string& out, std::uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size(), 4);
  out.append(text);
}

std::string bytes_of(const std::array<std::uint8_t, 16>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

std::uint64_t micros(Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

// What a dedup key holds behind the event's place: first arrival, end of the window, id, body hash.
std::string holder_of(const StoreRow& row, Time now) {
  std::string out;
  put_number(out, micros(now), 8);
  put_number(out, micros(now + kRowWindow), 8);
  return out + bytes_of(row.id) + bytes_of(row.body_hash);
}

// What never changes of an event behind its place: acceptance, keys, type, key, no ordering key, size; its arrival.
std::string fixed_of(const StoreRow& row, Time now) {
  std::string out;
  put_number(out, micros(now), 8);
  put_text(out, bytes_of(row.key));
  put_text(out, kRowType);
  put_number(out, 1, 1);
  put_text(out, row.provider_id);
  put_number(out, 0, 1);
  put_text(out, {});
  put_number(out, row.body.size(), 8);
  put_number(out, 0, 1);
  put_number(out, micros(now), 8);
  put_text(out, kRowRemote);
  put_number(out, 0, 1 + 4);  // no word of the provider's about a retry
  put_text(out, {});
  put_number(out, micros(now), 8);
  put_number(out, 0, 4);
  return out + bytes_of(row.body_hash);
}

// A pending delivery: name, state, due, attempt, counted, armed, claimed, unsettled, delivered, ended, replay, new
// keys.
std::string delivery_of(Time now) {
  std::string out;
  put_number(out, kRowDestination.size(), 1);
  out.append(kRowDestination);
  put_number(out, 0, 1);
  put_number(out, micros(now), 8);
  put_number(out, 0, 4 + 4);
  put_number(out, micros(now), 8);
  put_number(out, 0, 8);
  put_number(out, 0, 1);
  put_number(out, ~std::uint64_t{0}, 8);
  put_number(out, 0, 8);
  put_number(out, 0, 1);
  put_number(out, 0, 4 + 4);
  put_number(out, 0, 1);
  return out;
}

class Command {
 public:
  void add(std::string_view argument) {  // REQUIRES: outlives this
    texts_.push_back(argument.data());
    sizes_.push_back(argument.size());
  }
  void add_own(std::string argument) { add(owned_.emplace_back(std::move(argument))); }
  redisReply* call(redisContext* context) {
    return static_cast<redisReply*>(
        redisCommandArgv(context, static_cast<int>(texts_.size()), texts_.data(), sizes_.data()));
  }

 private:
  std::vector<const char*> texts_;
  std::vector<std::size_t> sizes_;
  std::deque<std::string> owned_;  // a deque does not move what it holds
};

class RedisWriter final : public StoreWriter {
 public:
  RedisWriter(redisContext* context, const std::string& prefix)
      : context_(context), names_(prefix + ":"), source_(names_ + "{stripe}:"), headers_(StoreRows::headers()) {}
  ~RedisWriter() override { redisFree(context_); }

  Status load() {
    Command command;
    command.add("SCRIPT");
    command.add("LOAD");
    command.add(kWriteBatch);
    redisReply* const reply = command.call(context_);
    HK_TRY(check(reply, REDIS_REPLY_STRING));
    hash_.assign(reply->str, reply->len);
    freeReplyObject(reply);
    return {};
  }

  Result<std::int64_t> write(std::span<const StoreRow> rows, Time now) override {
    Command command;
    for (const std::string_view argument : {std::string_view("EVALSHA"), std::string_view(hash_), std::string_view("1"),
                                            std::string_view(names_), std::string_view(source_)}) {
      command.add(argument);
    }
    command.add_own(std::to_string(micros(now)));
    command.add(headers_);
    command.add_own(delivery_of(now));
    for (const StoreRow& row : rows) {
      command.add_own(bytes_of(row.key));
      command.add_own(bytes_of(row.id));
      command.add_own(holder_of(row, now));
      command.add_own(fixed_of(row, now));
      command.add(row.body);
    }
    redisReply* const reply = command.call(context_);
    HK_TRY(check(reply, REDIS_REPLY_INTEGER));
    const std::int64_t taken = reply->integer;
    freeReplyObject(reply);
    return taken;
  }

 private:
  // Frees an answer that is not the wanted one.
  Status check(redisReply* reply, int wanted) {
    if (reply == nullptr) return unavailable(std::string("redis: ") + context_->errstr);
    if (reply->type == wanted) return {};
    const Status refused = unavailable("redis: " + std::string(reply->str == nullptr ? "" : reply->str, reply->len));
    freeReplyObject(reply);
    return refused;
  }

  redisContext* const context_;
  const std::string names_;
  const std::string source_;
  const std::string headers_;
  std::string hash_;
};

}  // namespace

Result<std::unique_ptr<StoreWriter>> open_redis_writer(std::uint16_t port, const std::string& prefix) {
  redisContext* const context = redisConnect("127.0.0.1", port);
  if (context == nullptr) return unavailable("redis: no memory");
  auto writer = std::make_unique<RedisWriter>(context, prefix);
  if (context->err != 0) return unavailable(std::string("redis: ") + context->errstr);
  HK_TRY(writer->load());
  return std::unique_ptr<StoreWriter>(std::move(writer));
}

}  // namespace hookonce

// The newest dedup keys and who holds them, in memory: what decides first or duplicate without touching a random page
// of the file. Rows of event_keys are the durable side of it; sqlite_keys.h says how keys come in and go out.
//
// What a transaction changes is staged, seen by the writing thread alone, and published once it is durable.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "core/model.h"

namespace hookonce {

// A dedup key is a key of one source.
struct KeyPlace {
  std::int64_t source = 0;
  KeyHash key{};
  auto operator<=>(const KeyPlace&) const = default;
};

struct KeyHolder {
  std::int64_t seq = 0;
  Time expires_at{};  // the key is free from this moment on
};

class SqliteHotKeys {
 public:
  // Keys that begin with one byte are neighbours in the table of older keys, and are moved there together.
  static constexpr std::size_t kShards = 256;

  // Any thread: what is durable.
  std::optional<KeyHolder> find(const KeyPlace& place) const LOCKS_EXCLUDED(mutex_);

  // The writing thread only.
  std::optional<KeyHolder> find_staged(const KeyPlace& place) const LOCKS_EXCLUDED(mutex_);
  void set(const KeyPlace& place, const KeyHolder& holder);
  void erase(const KeyPlace& place);
  std::size_t staged() const { return staged_.size(); }
  void publish() LOCKS_EXCLUDED(mutex_);
  void discard() { staged_.clear(); }

  // At opening: a key that is durable already.
  void load(const KeyPlace& place, const KeyHolder& holder) LOCKS_EXCLUDED(mutex_);

  std::size_t size() const LOCKS_EXCLUDED(mutex_);
  // The places of one shard, descending: the next one stands at the end.
  std::vector<KeyPlace> shard(std::size_t number) const LOCKS_EXCLUDED(mutex_);

 private:
  struct Hash {
    // The key is a piece of a SHA-256, so any part of it is as good as a hash.
    std::size_t operator()(const KeyPlace& place) const {
      std::size_t value = 0;
      std::memcpy(&value, place.key.data() + 1, sizeof value);
      return value ^ static_cast<std::size_t>(place.source);
    }
  };
  using Shard = std::unordered_map<KeyPlace, KeyHolder, Hash>;

  mutable Mutex mutex_;
  std::array<Shard, kShards> shards_ GUARDED_BY(mutex_);
  std::size_t size_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<KeyPlace, std::optional<KeyHolder>, Hash> staged_;  // nullopt: erased
};

}  // namespace hookonce

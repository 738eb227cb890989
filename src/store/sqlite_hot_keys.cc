#include "store/sqlite_hot_keys.h"

#include <algorithm>
#include <functional>

namespace hookonce {

std::optional<KeyHolder> SqliteHotKeys::find(const KeyPlace& place) const {
  MutexLock lock(mutex_);
  const Shard& shard = shards_[place.key[0]];
  const auto found = shard.find(place);
  return found == shard.end() ? std::nullopt : std::optional(found->second);
}

std::optional<KeyHolder> SqliteHotKeys::find_staged(const KeyPlace& place) const {
  const auto staged = staged_.find(place);
  return staged == staged_.end() ? find(place) : staged->second;
}

void SqliteHotKeys::set(const KeyPlace& place, const KeyHolder& holder) {
  staged_.insert_or_assign(place, holder);
}

void SqliteHotKeys::erase(const KeyPlace& place) {
  staged_.insert_or_assign(place, std::nullopt);
}

void SqliteHotKeys::publish() {
  if (staged_.empty()) return;
  MutexLock lock(mutex_);
  for (const auto& [place, holder] : staged_) {
    Shard& shard = shards_[place.key[0]];
    size_ -= shard.size();
    if (holder) {
      shard.insert_or_assign(place, *holder);
    } else {
      shard.erase(place);
    }
    size_ += shard.size();
  }
  staged_.clear();
}

void SqliteHotKeys::load(const KeyPlace& place, const KeyHolder& holder) {
  MutexLock lock(mutex_);
  if (shards_[place.key[0]].insert_or_assign(place, holder).second) ++size_;
}

std::size_t SqliteHotKeys::size() const {
  MutexLock lock(mutex_);
  return size_;
}

std::vector<KeyPlace> SqliteHotKeys::shard(std::size_t number) const {
  std::vector<KeyPlace> places;
  {
    MutexLock lock(mutex_);
    places.reserve(shards_[number].size());
    for (const auto& [place, holder] : shards_[number]) places.push_back(place);
  }
  std::sort(places.begin(), places.end(), std::greater<>());
  return places;
}

}  // namespace hookonce

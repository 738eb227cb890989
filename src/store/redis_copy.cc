#include "store/redis_copy.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "store/headers_codec.h"
#include "store/redis_codec.h"
#include "store/redis_errors.h"
#include "store/redis_read.h"

namespace hookonce {

namespace {

constexpr std::size_t kKeySize = sizeof(KeyHash);
constexpr std::size_t kNameMax = 255;           // a destination's name in its record has one byte for its length
constexpr std::string_view kScanStep = "1000";  // keys that one SCAN looks at: some hundred microseconds of the server

// What a source's keys begin with: `PREFIX:{SOURCE}:`.
std::string tag_of(const RedisServer& server, std::string_view source) {
  return server.target().prefix + ":{" + std::string(source) + "}:";
}

std::string text_of(const KeyHash& key) {
  return {key.begin(), key.end()};
}

Result<std::vector<RedisAnswer>> read_all(RedisServer& server, std::span<const RedisCommand> commands) {
  if (commands.empty()) return std::vector<RedisAnswer>();
  HK_ASSIGN(std::vector<RedisAnswer> answers, server.read(commands));
  for (const RedisAnswer& answer : answers) HK_TRY(error_of(*answer));
  return answers;
}

Result<RedisAnswer> read_one(RedisServer& server, const RedisCommand& command) {
  HK_ASSIGN(std::vector<RedisAnswer> answers, read_all(server, {&command, 1}));
  return std::move(answers.front());
}

// A key that is taken though its event is gone.
struct PrunedKey {
  std::int64_t seq = 0;
  std::uint32_t source = 0;  // its place among the reader's names
  KeyHash key{};
  auto operator<=>(const PrunedKey&) const = default;
};

// All PrunedKeys with a seq behind `after` and a window that lasts beyond `as_of`. There is no index of them, so the
// whole database is looked through once.
class PrunedKeyScan {
 public:
  PrunedKeyScan(RedisServer& server, std::int64_t after, Time as_of, std::vector<std::string>& sources)
      : server_(server), after_(after), as_of_(as_of), sources_(sources) {}

  Result<std::vector<PrunedKey>> run() {
    const std::string pattern = tag_of(server_, "*") + "k:*";
    std::string cursor = "0";
    do {
      HK_ASSIGN(const RedisAnswer page, read_one(server_, {"SCAN", cursor, "MATCH", pattern, "COUNT", kScanStep}));
      cursor = (*page)[0].text();
      std::vector<std::string> names;
      for (std::size_t i = 0; i < (*page)[1].size(); ++i) names.emplace_back((*page)[1][i].text());
      HK_TRY(look_at(names));
    } while (cursor != "0");
    // SCAN may show a key twice.
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  struct Candidate {
    PrunedKey key;
    EventId event;
  };

  Status look_at(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    RedisCommand get({"MGET"});
    for (const std::string& name : names) get.add(name);
    HK_ASSIGN(const RedisAnswer values, read_one(server_, get));
    std::vector<Candidate> candidates;
    std::vector<RedisCommand> commands;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto source = source_of(names[i]);
      if (!source || (*values)[i].is_nil()) continue;
      HK_ASSIGN(const RedisHolder holder, decode_holder((*values)[i].text()));
      if (holder.seq <= after_ || holder.expires_at <= as_of_) continue;
      Candidate& candidate = candidates.emplace_back();
      candidate.key.seq = holder.seq;
      candidate.key.source = place_of(*source);
      std::copy_n(names[i].end() - kKeySize, kKeySize, candidate.key.key.begin());
      commands.push_back({"EXISTS"});
      commands.back().add_own(server_.event_name(*source, encode_id(holder.id)));
    }
    HK_ASSIGN(const std::vector<RedisAnswer> exist, read_all(server_, commands));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((*exist[i]).integer() == 0) found_.push_back(candidates[i].key);
    }
    return {};
  }

  // The pattern fits other keys too: a line's name may hold anything. A source's name has no `}`.
  std::optional<std::string> source_of(const std::string& name) const {
    const std::size_t begin = server_.target().prefix.size() + 2;
    const std::size_t end = name.find('}', begin);
    if (end == std::string::npos || name.compare(end, 4, "}:k:") != 0 || name.size() != end + 4 + kKeySize) return {};
    return name.substr(begin, end - begin);
  }

  std::uint32_t place_of(const std::string& source) {
    const auto found = std::find(sources_.begin(), sources_.end(), source);
    const auto place = static_cast<std::uint32_t>(found - sources_.begin());
    if (found == sources_.end()) sources_.push_back(source);
    return place;
  }

  RedisServer& server_;
  const std::int64_t after_;
  const Time as_of_;
  std::vector<std::string>& sources_;
  std::vector<PrunedKey> found_;
};

class Reader final : public InboxReader {
 public:
  Reader(RedisServer& server, std::int64_t after, Time as_of) : server_(server), after_(after), as_of_(as_of) {}

  Result<std::vector<InboxRecord>> next() override {
    if (!begun_) HK_TRY(begin());
    while (true) {
      HK_TRY(look_ahead());
      if (ahead_.empty()) return std::vector<InboxRecord>();
      HK_ASSIGN(std::vector<InboxRecord> page, read_page());
      // A run of pruned events whose keys were swept meanwhile is no end.
      if (!page.empty()) return page;
    }
  }

 private:
  // One record's place in the order of acceptance.
  struct Place {
    std::int64_t seq = 0;
    std::size_t source = 0;
    std::string id;             // empty: pruned
    std::vector<KeyHash> keys;  // of a pruned one
    std::int64_t size = -1;     // of the body, where it is known already
  };

  // The events of one source that come next.
  struct Lane {
    std::size_t source = 0;
    std::deque<Place> places;
    std::int64_t read_to = 0;
    bool at_end = false;
  };

  Status begin() {
    HK_ASSIGN(const RedisAnswer names, read_one(server_, {"SMEMBERS", server_.target().prefix + ":sources"}));
    for (std::size_t i = 0; i < (*names).size(); ++i) {
      sources_.emplace_back((*names)[i].text());
      lanes_.push_back({i, {}, after_, false});
    }
    PrunedKeyScan scan(server_, after_, as_of_, sources_);
    HK_ASSIGN(pruned_, scan.run());
    begun_ = true;
    return {};
  }

  // Fills ahead_ with what comes next, across sources and kinds.
  Status look_ahead() {
    while (ahead_.size() < static_cast<std::size_t>(kCopiedRecords)) {
      HK_TRY(refill());
      Lane* first = nullptr;
      for (Lane& lane : lanes_) {
        if (!lane.places.empty() && (first == nullptr || lane.places.front().seq < first->places.front().seq)) {
          first = &lane;
        }
      }
      const bool pruned_first =
          pruned_at_ < pruned_.size() && (first == nullptr || pruned_[pruned_at_].seq < first->places.front().seq);
      if (pruned_first) {
        take_pruned();
      } else if (first != nullptr) {
        ahead_.push_back(std::move(first->places.front()));
        first->places.pop_front();
      } else {
        return {};
      }
    }
    return {};
  }

  void take_pruned() {
    const PrunedKey& first = pruned_[pruned_at_];
    Place& place = ahead_.emplace_back();
    place.seq = first.seq;
    place.source = first.source;
    while (pruned_at_ < pruned_.size() && pruned_[pruned_at_].seq == place.seq) {
      place.keys.push_back(pruned_[pruned_at_++].key);
    }
  }

  Status refill() {
    std::vector<RedisCommand> commands;
    std::vector<Lane*> empty;
    for (Lane& lane : lanes_) {
      if (!lane.places.empty() || lane.at_end) continue;
      empty.push_back(&lane);
      commands.push_back({"ZRANGEBYSCORE"});
      commands.back().add_own(tag_of(server_, sources_[lane.source]) + "i").add_own("(" + std::to_string(lane.read_to));
      commands.back().add("+inf").add("WITHSCORES").add("LIMIT").add("0").add_integer(kCopiedRecords);
    }
    HK_ASSIGN(const std::vector<RedisAnswer> answers, read_all(server_, commands));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const RedisReply events = *answers[i];
      Lane& lane = *empty[i];
      lane.at_end = events.size() == 0;
      for (std::size_t at = 0; at + 1 < events.size(); at += 2) {
        const auto seq = parse_digits(events[at + 1].text());
        if (!seq) return internal("a place in the order of acceptance that is no number");
        lane.places.push_back({*seq, lane.source, std::string(events[at].text()), {}, -1});
        lane.read_to = *seq;
      }
    }
    return {};
  }

  Result<std::vector<InboxRecord>> read_page() {
    HK_TRY(read_sizes());
    std::vector<Place> places;
    std::int64_t bytes = 0;
    while (!ahead_.empty() && bytes < static_cast<std::int64_t>(kCopiedBytes)) {
      bytes += std::max<std::int64_t>(0, ahead_.front().size);
      places.push_back(std::move(ahead_.front()));
      ahead_.pop_front();
    }
    HK_ASSIGN(std::vector<InboxRecord> records, read_events(places));
    HK_TRY(read_holders(records));
    std::erase_if(records, [](const InboxRecord& record) { return !record.content && record.keys.empty(); });
    return records;
  }

  Status read_sizes() {
    std::vector<RedisCommand> commands;
    std::vector<Place*> unknown;
    for (Place& place : ahead_) {
      if (place.id.empty() || place.size >= 0) continue;
      unknown.push_back(&place);
      commands.push_back({"HSTRLEN"});
      commands.back().add_own(server_.event_name(sources_[place.source], place.id)).add("b");
    }
    HK_ASSIGN(const std::vector<RedisAnswer> answers, read_all(server_, commands));
    for (std::size_t i = 0; i < answers.size(); ++i) unknown[i]->size = (*answers[i]).integer();
    return {};
  }

  Result<std::vector<InboxRecord>> read_events(const std::vector<Place>& places) {
    std::vector<RedisCommand> commands;
    for (const Place& place : places) {
      if (place.id.empty()) continue;
      commands.push_back({"HGETALL"});
      commands.back().add_own(server_.event_name(sources_[place.source], place.id));
    }
    HK_ASSIGN(const std::vector<RedisAnswer> answers, read_all(server_, commands));
    std::vector<InboxRecord> records;
    std::size_t at = 0;
    for (const Place& place : places) {
      InboxRecord& record = records.emplace_back();
      if (place.id.empty()) {
        for (const KeyHash& key : place.keys) record.keys.push_back({key, false});
      } else {
        const RedisReply fields = *answers[at++];
        if (fields.size() == 0) return internal("the content of an event is missing");
        HK_ASSIGN(record, read_record(fields));
        HK_ASSIGN(record.id, decode_id(place.id));
      }
      record.position = place.seq;
      record.source = sources_[place.source];
    }
    return records;
  }

  // Which of its keys each event holds; all else of a pruned one.
  Status read_holders(std::vector<InboxRecord>& records) {
    std::vector<RedisCommand> commands;
    for (const InboxRecord& record : records) {
      if (record.keys.empty()) continue;
      commands.push_back({"MGET"});
      const std::string names = tag_of(server_, record.source) + "k:";
      for (const RecordedKey& key : record.keys) commands.back().add_own(names + text_of(key.key));
    }
    HK_ASSIGN(const std::vector<RedisAnswer> answers, read_all(server_, commands));
    std::size_t at = 0;
    for (InboxRecord& record : records) {
      if (record.keys.empty()) continue;
      const RedisReply values = *answers[at++];
      for (std::size_t i = 0; i < record.keys.size(); ++i) HK_TRY(read_holder(values[i], record, record.keys[i]));
      if (!record.content) std::erase_if(record.keys, [](const RecordedKey& key) { return !key.held; });
    }
    return {};
  }

  Status read_holder(RedisReply value, InboxRecord& record, RecordedKey& key) const {
    if (value.is_nil()) return {};
    HK_ASSIGN(const RedisHolder holder, decode_holder(value.text()));
    if (holder.seq != record.position || holder.expires_at <= as_of_) return {};
    key.held = true;
    record.keys_until = holder.expires_at;
    if (record.content) return {};
    record.id = holder.id;
    record.received_at = holder.first_at;
    record.body_hash = holder.body_hash;
    return {};
  }

  RedisServer& server_;
  const std::int64_t after_;
  const Time as_of_;
  bool begun_ = false;
  std::vector<std::string> sources_;
  std::vector<Lane> lanes_;
  std::vector<PrunedKey> pruned_;  // 32 bytes for each, while the server needs some 200
  std::size_t pruned_at_ = 0;
  std::deque<Place> ahead_;
};

std::string joined_keys(const InboxRecord& record, bool held) {
  std::vector<KeyHash> keys;
  for (const RecordedKey& key : record.keys) {
    if (key.held == held) keys.push_back(key.key);
  }
  return encode_keys(keys);
}

void add_content(RedisCommand& call, const InboxRecord& record, const RecordedContent& content) {
  call.add_own(encode_fixed(record, content) + encode_arrival(content.arrivals.at(0).arrival));
  call.add_own(encode_headers(content.headers)).add(content.body).add_own(encode_deliveries(content.deliveries));
  std::vector<std::string> fields;
  if (content.duplicates > 0) fields.insert(fields.end(), {"n", std::to_string(content.duplicates)});
  if (content.reply) fields.insert(fields.end(), {"r", encode_reply(*content.reply)});
  if (!content.new_items.empty()) fields.insert(fields.end(), {"i", content.new_items});
  for (std::size_t i = 1; i < content.arrivals.size(); ++i) {
    fields.insert(fields.end(), {"a" + std::to_string(i), encode_stored_arrival(content.arrivals[i])});
  }
  for (const RecordedDelivery& delivery : content.deliveries) {
    for (const Attempt& attempt : delivery.attempts) {
      fields.insert(fields.end(),
                    {"t:" + delivery.destination + ":" + std::to_string(attempt.number), encode_attempt(attempt)});
    }
  }
  call.add_integer(static_cast<std::int64_t>(fields.size()));
  for (std::string& field : fields) call.add_own(std::move(field));
}

Status add_record(RedisCommand& call, const InboxRecord& record) {
  call.add(record.source).add_own(encode_id(record.id)).add_integer(record.received_at.time_since_epoch().count());
  call.add_integer(record.keys_until.time_since_epoch().count()).add_own(text_of(record.body_hash));
  call.add_own(joined_keys(record, true)).add_own(joined_keys(record, false)).add_flag(record.content.has_value());
  if (!record.content) return {};
  for (const RecordedDelivery& delivery : record.content->deliveries) {
    if (delivery.destination.size() > kNameMax) return internal("a destination's name of more than 255 bytes");
  }
  add_content(call, record, *record.content);
  return {};
}

}  // namespace

Result<std::unique_ptr<InboxReader>> RedisRecords::read(std::int64_t after, Time as_of) {
  return std::unique_ptr<InboxReader>(std::make_unique<Reader>(server_, after, as_of));
}

Status RedisRecords::write(std::span<const InboxRecord> records, const CopyMark& mark) {
  RedisCommand call = server_.new_call(RedisScript::kCopy, Time());
  const std::string marker = server_.marker(true);
  call.add(marker).add_own(encode_mark(mark)).add_integer(static_cast<std::int64_t>(records.size()));
  for (const InboxRecord& record : records) HK_TRY(add_record(call, record));
  HK_TRY(server_.run(call, RedisServer::Use::kWrite).status());
  server_.set_marker(marker);
  return {};
}

Result<std::optional<CopyMark>> RedisRecords::mark() {
  HK_ASSIGN(const RedisAnswer answer, read_one(server_, {"GET", server_.copy_mark_name()}));
  if ((*answer).is_nil()) return std::optional<CopyMark>();
  HK_ASSIGN(CopyMark mark, decode_mark((*answer).text()));
  return std::optional(std::move(mark));
}

Status RedisRecords::remove_mark() {
  RedisCommand call = server_.new_call(RedisScript::kCopyEnd, Time());
  const std::string marker = server_.marker(false);
  call.add(marker);
  HK_TRY(server_.run(call, RedisServer::Use::kWrite).status());
  server_.set_marker(marker);
  return {};
}

}  // namespace hookonce

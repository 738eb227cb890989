#include "store/memory_store.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/sync.h"
#include "core/dedup.h"
#include "store/delivery_list.h"
#include "store/delivery_record.h"
#include "store/event_filter.h"
#include "store/inbox_records.h"
#include "store/memory_event.h"

namespace hookonce {

namespace {

using Seq = std::int64_t;  // the order of acceptance

// Who holds a dedup key. It outlives its event, so it knows what a duplicate is told.
struct TakenKey {
  Seq seq = 0;
  EventId id;
  Time first_at{};
  Time expires_at{};
  KeyHash body_hash{};
};

class MemoryStore final : public Store, private InboxRecords {
 public:
  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override LOCKS_EXCLUDED(mutex_) {
    HK_ASSIGN(CommitAndClaimFacts facts, commit_and_claim(events, settlements, {}, now));
    return std::move(facts.commit);
  }

  bool claims_with_commit() const override { return true; }
  Result<CommitAndClaimFacts> commit_and_claim(std::span<const NewEvent> events,
                                               std::span<const Settlement> settlements, const ClaimRequest& request,
                                               Time now) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::set<EventId> ids;
    for (const NewEvent& event : events) {
      if (by_id_.contains(event.id) || !ids.insert(event.id).second)
        return internal("event id " + event.id.text() + " exists");
    }
    CommitAndClaimFacts facts;
    for (const NewEvent& event : events) facts.commit.accepts.push_back(accept(event, now));
    for (const Settlement& settlement : settlements) facts.commit.settles.push_back(settle_one(settlement, now));
    for (const ClaimDestination& destination : request.destinations) claim_for(destination, now, facts.claimed);
    return facts;
  }

  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::optional<TakenKey> oldest;
    for (const KeyHash& key : event.keys) {
      const auto taken = keys_.find({event.source, key});
      const bool held = taken != keys_.end() && taken->second.expires_at > now;
      if (!held && event.rule == KeyRule::kEach) return std::optional<AcceptFacts>();
      if (held && (!oldest || taken->second.seq < oldest->seq)) oldest = taken->second;
    }
    if (!oldest) return std::optional<AcceptFacts>();
    const auto found = events_.find(oldest->seq);
    if (event.rearm && found != events_.end()) {
      for (const auto& [name, delivery] : found->second.deliveries) {
        DeliveryRecord record = delivery.record;
        if (rearm(record, now)) return std::optional<AcceptFacts>();
      }
    }
    return std::optional(AcceptFacts{Verdict::kDuplicate, oldest->id, oldest->first_at,
                                     oldest->body_hash == event.arrival.body_hash, false});
  }

  Result<Claimed> claim(const ClaimRequest& request, Time now) override LOCKS_EXCLUDED(mutex_) {
    HK_ASSIGN(CommitAndClaimFacts facts, commit_and_claim({}, {}, request, now));
    return std::move(facts.claimed);
  }

  Result<std::optional<Time>> next_due(const std::vector<std::string>& destinations, Time now) override
      LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::optional<Time> next;
    for (const std::string& name : destinations) {
      const auto queue = open_.find(name);
      if (paused_.contains(name) || queue == open_.end() || queue->second.empty()) continue;
      if (queue->second.begin()->first == kHeld) continue;
      const Time due = std::max(now, queue->second.begin()->first);
      if (!next || due < *next) next = due;
    }
    return next;
  }

  Result<bool> set_paused(const std::string& destination, bool paused) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return paused ? paused_.insert(destination).second : paused_.erase(destination) > 0;
  }

  Result<std::optional<ReplyState>> reply(const EventId& id) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return std::optional<ReplyState>();
    const StoredEvent& event = events_.at(found->second);
    return std::optional(ReplyState{state_of(event), event.reply});
  }

  Result<std::optional<EventDetail>> get(const EventId& id) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return std::optional<EventDetail>();
    EventDetail detail = detail_of(events_.at(found->second));
    for (Delivery& delivery : detail.deliveries) delivery.held = hold_at(found->second, delivery.destination);
    return std::optional(std::move(detail));
  }

  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override
      LOCKS_EXCLUDED(mutex_) {
    HK_ASSIGN(const Seq before, parse_cursor(cursor));
    MutexLock lock(mutex_);
    EventPage page;
    const std::vector<Seq> found = find(filter, before, limit + 1);
    for (Seq seq : found) {
      if (page.items.size() == static_cast<std::size_t>(limit)) {
        page.next = format_cursor(found[static_cast<std::size_t>(limit) - 1]);
        page.searched_until = page.items.back().received_at;
        break;
      }
      page.items.push_back(summary_of(events_.at(seq)));
    }
    return page;
  }

  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override LOCKS_EXCLUDED(mutex_) {
    HK_ASSIGN(DeliveryPlaceInList place, parse_delivery_cursor(cursor));
    DeliveryList list{filter, static_cast<std::size_t>(limit), std::move(place), {}, {}};
    MutexLock lock(mutex_);
    auto it = std::make_reverse_iterator(events_.lower_bound(list.place.below()));
    for (; it != events_.rend() && !list.is_full(); ++it) {
      add_rows(list, it->first, it->second.summary, records_of(it->second));
    }
    for (ListedDelivery& listed : list.found) {
      listed.row.held = hold_at(listed.seq, listed.row.destination);
      const auto& attempts = events_.at(listed.seq).deliveries.at(listed.row.destination).attempts;
      if (attempts.empty()) continue;
      listed.row.last_status = attempts.rbegin()->second.status;
      listed.row.last_error = attempts.rbegin()->second.error;
    }
    return page_of(std::move(list), true);
  }

  Result<StoreStats> stats(Time) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    StoreStats stats;
    stats.events = static_cast<std::int64_t>(events_.size());
    for (const auto& [seq, event] : events_) {
      for (const auto& [name, delivery] : event.deliveries) {
        const DeliveryState state = delivery.record.state;
        if (state == DeliveryState::kDead) ++stats.dead;
        if (state == DeliveryState::kInFlight) ++stats.in_flight;
        if (state != DeliveryState::kPending) continue;
        ++stats.pending;
        if (!stats.oldest_pending) stats.oldest_pending = event.summary.received_at;
      }
    }
    for (const auto& [name, queue] : open_) {
      if (!queue.empty()) stats.pending_by_destination.emplace_back(name, static_cast<std::int64_t>(queue.size()));
    }
    stats.paused.assign(paused_.begin(), paused_.end());
    return stats;
  }

  Result<Replayed> replay(const ReplayRequest& request, Time now) override LOCKS_EXCLUDED(mutex_) {
    HK_ASSIGN(const Seq before, parse_cursor(request.cursor));
    if (request.ids.size() > static_cast<std::size_t>(kListMax)) return invalid("replay: at most 500 ids at once");
    MutexLock lock(mutex_);
    std::vector<Seq> chosen;
    Replayed replayed;
    if (!request.ids.empty()) {
      for (const EventId& id : request.ids) {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) return not_found("event " + id.text() + ": no such event");
        if (std::find(chosen.begin(), chosen.end(), found->second) == chosen.end()) chosen.push_back(found->second);
      }
    } else {
      chosen = find(request.filter, before, request.limit + 1);
      if (chosen.size() > static_cast<std::size_t>(request.limit)) {
        chosen.pop_back();
        replayed.next = format_cursor(chosen.back());
      }
    }
    for (Seq seq : chosen) replay_event(seq, request, now, replayed);
    return replayed;
  }

  Result<std::int64_t> prune(const PruneRequest& request) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::int64_t removed = 0;
    for (auto it = events_.begin(); it != events_.end() && removed < request.limit;) {
      if (!ended_before(it->second, request.before(it->second.summary.source))) {
        ++it;
        continue;
      }
      by_id_.erase(it->second.summary.id);
      for (const auto& [name, delivery] : it->second.deliveries) leave_line(it->first, name, request.keys_now);
      it = events_.erase(it);
      ++removed;
    }
    for (auto it = keys_.begin(); it != keys_.end() && removed < request.limit;) {
      const bool over = it->second.expires_at <= request.keys_now && !events_.contains(it->second.seq);
      it = over ? keys_.erase(it) : std::next(it);
      removed += over ? 1 : 0;
    }
    return removed;
  }

  Result<bool> apply_line_rule(const LineRule& rule, Time now) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::vector<Seq> leaving;
    for (const auto& [line, seqs] : lines_) {
      if (line.destination != rule.destination) continue;
      for (Seq seq : seqs) {
        const DeliveryRecord& record = events_.at(seq).deliveries.at(rule.destination).record;
        if (!rule.ordered || leaves_line(record, rule.skip_dead)) leaving.push_back(seq);
      }
    }
    for (Seq seq : leaving) leave_line(seq, rule.destination, now);
    return false;
  }

  Status health() override { return {}; }
  Status recover(Time) override { return {}; }
  std::vector<std::string> weaknesses() override {
    return {"the memory store keeps nothing: acknowledged events are lost when the process ends"};
  }
  InboxRecords* records() override { return this; }

 private:
  using KeyName = std::pair<std::string, KeyHash>;  // source and key
  struct LineName {
    std::string destination;
    std::string source;
    std::string ordering_key;
    auto operator<=>(const LineName&) const = default;
  };

  AcceptFacts accept(const NewEvent& event, Time now) LOCKS_REQUIRED(mutex_) {
    std::optional<TakenKey> oldest;  // of the live hits
    std::vector<KeyHash> missing;
    for (const KeyHash& key : event.keys) {
      const auto taken = keys_.find({event.source, key});
      if (taken == keys_.end() || taken->second.expires_at <= now) {
        missing.push_back(key);
      } else if (!oldest || taken->second.seq < oldest->seq) {
        oldest = taken->second;
      }
    }
    const bool is_new = !oldest || (event.rule == KeyRule::kEach && !missing.empty());
    const Seq seq = next_seq_;
    const TakenKey holder =
        is_new ? TakenKey{seq, event.id, now, now + event.window, event.arrival.body_hash} : *oldest;
    if (is_new || event.rule == KeyRule::kAny) {
      for (const KeyHash& key : missing) keys_[{event.source, key}] = holder;
    }
    const AcceptFacts facts = is_new ? insert(event, new_items_of(event, missing), now) : duplicate(event, holder, now);
    const auto found = events_.find(holder.seq);
    if (found != events_.end() && (is_new || event.rule == KeyRule::kAny)) {
      found->second.keys.insert(missing.begin(), missing.end());
    }
    return facts;
  }

  AcceptFacts insert(const NewEvent& event, const std::string& new_items, Time now) LOCKS_REQUIRED(mutex_) {
    const Seq seq = next_seq_++;
    StoredEvent& stored = events_[seq];
    stored.summary.id = event.id;
    stored.summary.source = event.source;
    stored.summary.type = event.type;
    stored.summary.key = event.key;
    stored.summary.received_at = now;
    stored.summary.size = event.body.size();
    stored.ordering_key = event.ordering_key;
    stored.forwarded_trusted = event.forwarded_trusted;
    stored.new_items = new_items;
    stored.headers = std::make_shared<const Headers>(event.headers);
    stored.body = std::make_shared<const std::string>(event.body);
    stored.arrivals.push_back({event.arrival, Verdict::kAccepted, true});
    by_id_[event.id] = seq;
    for (const std::string& name : event.destinations) {
      const bool first = !is_ordered(event, name) || join_line(seq, name);
      set_record(seq, name, first ? new_delivery(now) : held_delivery(now));
    }
    AcceptFacts facts{Verdict::kAccepted, event.id, now, true, !event.destinations.empty()};
    if (event.first_lease && !paused_.contains(event.destinations.at(0)))
      facts.lease = lease_first(seq, event.destinations.at(0), *event.first_lease, now);
    facts.new_delivery = facts.new_delivery && !facts.lease;
    return facts;
  }

  std::shared_ptr<Lease> lease_first(Seq seq, const std::string& name, Duration length, Time now)
      LOCKS_REQUIRED(mutex_) {
    DeliveryRecord record = events_.at(seq).deliveries.at(name).record;
    auto lease = std::make_shared<Lease>(take_lease(record, length, now));
    set_record(seq, name, record);
    lease->destination = name;
    add_event(*lease, events_.at(seq));
    return lease;
  }

  static bool is_ordered(const NewEvent& event, const std::string& name) {
    return event.ordering_key && std::find(event.ordered.begin(), event.ordered.end(), name) != event.ordered.end();
  }

  // Whether it is the first.
  bool join_line(Seq seq, const std::string& name) LOCKS_REQUIRED(mutex_) {
    const StoredEvent& event = events_.at(seq);
    std::set<Seq>& line = lines_[{name, event.summary.source, *event.ordering_key}];
    line.insert(seq);
    return line.size() == 1;
  }

  std::optional<Hold> hold_at(Seq seq, const std::string& name) LOCKS_REQUIRED(mutex_) {
    const StoredEvent& event = events_.at(seq);
    const DeliveryRecord& record = event.deliveries.at(name).record;
    if (record.state != DeliveryState::kPending) return std::nullopt;
    std::optional<EventId> head;
    if (record.is_held()) {
      head = events_.at(*lines_.at({name, event.summary.source, *event.ordering_key}).begin()).summary.id;
    }
    return hold_of(paused_.contains(name), head);
  }

  // Whether the next one became due.
  bool leave_line(Seq seq, const std::string& name, Time now) LOCKS_REQUIRED(mutex_) {
    const StoredEvent& event = events_.at(seq);
    if (!event.ordering_key) return false;
    const auto line = lines_.find({name, event.summary.source, *event.ordering_key});
    if (line == lines_.end() || line->second.erase(seq) == 0) return false;
    if (line->second.empty()) {
      lines_.erase(line);
      return false;
    }
    const Seq next = *line->second.begin();
    DeliveryRecord record = events_.at(next).deliveries.at(name).record;
    if (!free_held(record, now)) return false;
    set_record(next, name, record);
    return true;
  }

  AcceptFacts duplicate(const NewEvent& event, const TakenKey& holder, Time now) LOCKS_REQUIRED(mutex_) {
    AcceptFacts facts{Verdict::kDuplicate, holder.id, holder.first_at, holder.body_hash == event.arrival.body_hash,
                      false};
    const auto found = events_.find(holder.seq);
    if (found == events_.end()) return facts;  // Pruned before its key's window was over.
    for (auto& [name, delivery] : found->second.deliveries) {
      DeliveryRecord record = delivery.record;
      if (!event.rearm || !rearm(record, now)) continue;
      set_record(holder.seq, name, record);
      facts.verdict = Verdict::kRearmed;
      facts.new_delivery = true;
    }
    if (event.first_lease) facts.reply = found->second.reply;
    const Arrival& first = found->second.arrivals.front().arrival;
    facts.first = FirstArrival{first.at, first.secret, first.signature_hash};
    facts.same_key = event.key == found->second.summary.key;
    ++found->second.summary.duplicates;
    if (found->second.arrivals.size() < static_cast<std::size_t>(kArrivalsMax)) {
      found->second.arrivals.push_back({event.arrival, facts.verdict, facts.same_body, facts.same_key});
    }
    return facts;
  }

  SettleFacts settle_one(const Settlement& settlement, Time now) LOCKS_REQUIRED(mutex_) {
    const auto id = by_id_.find(settlement.event);
    if (id == by_id_.end()) return {};
    StoredEvent& event = events_.at(id->second);
    const auto found = event.deliveries.find(settlement.destination);
    if (found == event.deliveries.end()) return {false, state_of(event)};
    DeliveryRecord record = found->second.record;
    const bool taken = settle(record, settlement, now);
    bool freed = false;
    if (taken) {
      set_record(id->second, settlement.destination, record);
      record_attempt(found->second, settled_attempt(settlement));
      if (settlement.next == Next::kDelivered && settlement.reply && !event.reply) event.reply = settlement.reply;
      if (leaves_line(record, settlement.skip_dead)) freed = leave_line(id->second, settlement.destination, now);
    } else {
      // A later attempt has replaced it: what is shown as unknown gets its real outcome, and nothing else changes.
      const auto shown = found->second.attempts.find(settlement.attempt);
      if (shown != found->second.attempts.end() && shown->second.outcome == Outcome::kUnknown) {
        shown->second = settled_attempt(settlement);
      }
    }
    return {taken || had_settled(record, settlement), state_of(event), freed};
  }

  void claim_for(const ClaimDestination& destination, Time now, Claimed& claimed) LOCKS_REQUIRED(mutex_) {
    if (paused_.contains(destination.name)) return;
    RetryPolicy policy;
    policy.attempts = destination.attempts;
    policy.give_up = destination.give_up;
    std::vector<Seq> skipped;
    for (int leased = 0; leased < destination.slots;) {
      const auto queue = open_.find(destination.name);
      if (queue == open_.end() || queue->second.empty() || queue->second.begin()->first > now) break;
      const Seq seq = queue->second.begin()->second;
      StoredEvent& event = events_.at(seq);
      StoredDelivery& delivery = event.deliveries.at(destination.name);
      DeliveryRecord record = delivery.record;
      if (lease_ran_out(record, now)) {
        record_attempt(delivery, attempt_without_outcome(record));
        if (used_up(policy, record.counted, now - record.armed_at)) {
          bury(record, now);
          set_record(seq, destination.name, record);
          claimed.dead.push_back({event.summary.id, destination.name});
          if (leaves_line(record, destination.skip_dead)) skipped.push_back(seq);
          continue;
        }
      }
      Lease lease = take_lease(record, destination.lease, now);
      set_record(seq, destination.name, record);
      lease.destination = destination.name;
      add_event(lease, event);
      claimed.leases.push_back(std::move(lease));
      ++leased;
    }
    for (Seq seq : skipped) leave_line(seq, destination.name, now);
  }

  void replay_event(Seq seq, const ReplayRequest& request, Time now, Replayed& replayed) LOCKS_REQUIRED(mutex_) {
    const StoredEvent& event = events_.at(seq);
    std::vector<std::pair<std::string, DeliveryRecord>> chosen;  // set_record() changes what is walked here
    for (const auto& [name, delivery] : event.deliveries) {
      if (request.destination && *request.destination != name) continue;
      if (request.dead_only && delivery.record.state != DeliveryState::kDead) continue;
      chosen.emplace_back(name, delivery.record);
    }
    const bool create = request.destination && request.create_missing && !request.dead_only;
    if (create && !event.deliveries.contains(*request.destination)) {
      chosen.emplace_back(*request.destination, new_delivery(now));
    }
    for (auto& [name, record] : chosen) {
      replayed.deliveries.push_back({event.summary.id, name, record.state});
      const bool changed = hookonce::replay(record, request.new_key, now);
      if (changed && !request.dry_run) set_record(seq, name, record);
    }
  }

  // Newest first, at most `limit`.
  std::vector<Seq> find(const EventFilter& filter, Seq before, int limit) const LOCKS_REQUIRED(mutex_) {
    std::vector<Seq> found;
    for (auto it = events_.rbegin(); it != events_.rend() && found.size() < static_cast<std::size_t>(limit); ++it) {
      const StoredEvent& event = it->second;
      if (it->first >= before || !matches_fields(filter, event.summary)) continue;
      if (filter.key && !has_held(event, hashes_of_text(*filter.key))) continue;
      if (filter.state && *filter.state != state_of(event)) continue;
      if (matches_names(filter, event.summary) || contains(*event.body, filter.query)) found.push_back(it->first);
    }
    return found;
  }

  // Writes a record and keeps `open_` in step with it.
  void set_record(Seq seq, const std::string& name, const DeliveryRecord& record) LOCKS_REQUIRED(mutex_) {
    StoredDelivery& delivery = events_.at(seq).deliveries[name];
    open_[name].erase({delivery.record.due_at, seq});
    delivery.record = record;
    if (record.is_open()) open_[name].insert({record.due_at, seq});
  }

  // InboxRecords, from here on.

  class Reader final : public InboxReader {
   public:
    Reader(MemoryStore& store, Seq after, Time as_of) : store_(store), after_(after), as_of_(as_of) {}
    Result<std::vector<InboxRecord>> next() override {
      std::vector<InboxRecord> records = store_.records_behind(after_, as_of_);
      if (!records.empty()) after_ = records.back().position;
      return records;
    }

   private:
    MemoryStore& store_;
    Seq after_;
    const Time as_of_;
  };

  Result<std::unique_ptr<InboxReader>> read(std::int64_t after, Time as_of) override {
    return std::unique_ptr<InboxReader>(std::make_unique<Reader>(*this, after, as_of));
  }

  std::vector<InboxRecord> records_behind(Seq after, Time as_of) LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::map<Seq, InboxRecord> records;
    for (auto it = events_.upper_bound(after); it != events_.end(); ++it) records[it->first] = whole_record(it->second);
    for (const auto& [name, taken] : keys_) {
      if (taken.seq <= after || taken.expires_at <= as_of) continue;
      InboxRecord& record = records[taken.seq];
      record.id = taken.id;
      record.source = name.first;
      record.received_at = taken.first_at;
      record.keys_until = taken.expires_at;
      record.body_hash = taken.body_hash;
      const auto shown = std::find(record.keys.begin(), record.keys.end(), RecordedKey{name.second, false});
      if (shown == record.keys.end()) {
        record.keys.push_back({name.second, true});  // Of a pruned event; they come in order.
      } else {
        shown->held = true;
      }
    }
    std::vector<InboxRecord> page;
    std::size_t bytes = 0;
    for (auto& [seq, record] : records) {
      if (page.size() == static_cast<std::size_t>(kCopiedRecords) || bytes >= kCopiedBytes) break;
      if (record.content) bytes += record.content->body.size();
      record.position = seq;
      page.push_back(std::move(record));
    }
    return page;
  }

  InboxRecord whole_record(const StoredEvent& event) LOCKS_REQUIRED(mutex_) {
    InboxRecord record = record_of(event);
    for (RecordedDelivery& delivery : record.content->deliveries) {
      delivery.in_line = stands_in_line(event, delivery.destination);
    }
    return record;
  }

  bool stands_in_line(const StoredEvent& event, const std::string& name) LOCKS_REQUIRED(mutex_) {
    if (!event.ordering_key) return false;
    const auto line = lines_.find({name, event.summary.source, *event.ordering_key});
    return line != lines_.end() && line->second.contains(by_id_.at(event.summary.id));
  }

  Status write(std::span<const InboxRecord> records, const CopyMark& mark) override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    for (const InboxRecord& record : records) write_record(record);
    mark_ = mark;
    return {};
  }

  void write_record(const InboxRecord& record) LOCKS_REQUIRED(mutex_) {
    const TakenKey holder{next_seq_, record.id, record.received_at, record.keys_until, record.body_hash};
    if (by_id_.contains(record.id)) return;
    for (const RecordedKey& key : record.keys) {
      if (!key.held) continue;
      TakenKey& taken = keys_[{record.source, key.key}];
      if (taken.id == record.id) return;  // Pruned, and here already.
      taken = holder;
    }
    if (record.content) write_event(record, *record.content);
    ++next_seq_;
  }

  void write_event(const InboxRecord& record, const RecordedContent& content) LOCKS_REQUIRED(mutex_) {
    const Seq seq = next_seq_;
    by_id_[record.id] = seq;
    StoredEvent& stored = events_[seq] = event_of(record, content);
    for (const RecordedDelivery& delivery : content.deliveries) {
      if (delivery.in_line) (void)join_line(seq, delivery.destination);
      set_record(seq, delivery.destination, delivery.record);
      for (const Attempt& attempt : delivery.attempts) record_attempt(stored.deliveries[delivery.destination], attempt);
    }
  }

  Result<std::optional<CopyMark>> mark() override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return mark_;
  }

  Status remove_mark() override LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    mark_.reset();
    return {};
  }

  Mutex mutex_;
  std::optional<CopyMark> mark_ GUARDED_BY(mutex_);
  Seq next_seq_ GUARDED_BY(mutex_) = 1;
  std::map<Seq, StoredEvent> events_ GUARDED_BY(mutex_);
  std::map<EventId, Seq> by_id_ GUARDED_BY(mutex_);
  std::map<KeyName, TakenKey> keys_ GUARDED_BY(mutex_);
  std::map<std::string, std::set<std::pair<Time, Seq>>> open_
      GUARDED_BY(mutex_);  // pending and in flight, by destination
  std::map<LineName, std::set<Seq>> lines_ GUARDED_BY(mutex_);
  std::set<std::string> paused_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Store> make_memory_store() {
  return std::make_unique<MemoryStore>();
}

}  // namespace hookonce

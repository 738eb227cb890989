#include "app/live_feed.h"

#include "base/bytes.h"
#include "base/json.h"

namespace hookonce {

namespace {

LiveFact delivery_fact(std::string_view name, const Lease& lease, std::string_view event) {
  LiveFact fact;
  fact.name = name;
  fact.source = lease.source;
  fact.type = lease.type;
  fact.destination = lease.destination;
  fact.event = event;
  fact.more["attempt"] = lease.attempt;
  return fact;
}

void describe(LiveFact& fact, const AttemptResult& result) {
  fact.more["status"] = result.status == 0 ? json::value(nullptr) : json::value(result.status);
  fact.more["ms"] = result.duration / std::chrono::milliseconds(1);
  fact.more["error"] = result.error.empty() ? json::value(nullptr) : json::value(to_utf8(result.error));
}

}  // namespace

void LiveFeed::arrived(const Ingest::Arrived& arrived) {
  if (ingest_ != nullptr) ingest_->arrived(arrived);
  if (!hub_.wants_fact()) return;
  const Verdict verdict = arrived.facts.verdict;
  const std::string event = arrived.facts.id.text();
  LiveFact fact;
  fact.name = verdict == Verdict::kAccepted ? "accepted" : "duplicate";
  fact.source = arrived.source;
  fact.type = arrived.type;
  fact.key = arrived.key;
  fact.event = event;
  fact.more["verdict"] = json::string(to_string(verdict));
  if (verdict != Verdict::kAccepted) {
    fact.more["cause"] = json::string(to_string(arrived.cause));
    fact.more["since_first_ms"] = arrived.since_first / std::chrono::milliseconds(1);
    fact.more["same_body"] = arrived.facts.same_body;
  }
  hub_.publish(std::move(fact));
}

void LiveFeed::rejected(const std::string& source, const std::string& code, const std::string& message) {
  if (ingest_ != nullptr) ingest_->rejected(source, code, message);
  if (!hub_.wants_fact()) return;
  LiveFact fact;
  fact.name = "rejected";
  fact.source = source;
  fact.more["code"] = json::string(code);
  fact.more["reason"] = json::string(to_utf8(message));
  hub_.publish(std::move(fact));
}

// Not a fact of the stream, which has told of the request; the list of rejected requests has this.
void LiveFeed::explained(const std::string& source, const std::string& reason) {
  if (ingest_ != nullptr) ingest_->explained(source, reason);
}

// Not a fact of the stream: it is no source's.
void LiveFeed::misdirected(const std::string& method, const std::string& path) {
  if (ingest_ != nullptr) ingest_->misdirected(method, path);
}

void LiveFeed::keep(RejectedRequest request) {
  if (keeper_ != nullptr) keeper_->put(std::move(request));
}

void LiveFeed::settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts) {
  if (delivery_ != nullptr) delivery_->settled(lease, settlement, facts);
  if (!hub_.wants_fact()) return;
  const std::string event = lease.event.text();
  LiveFact attempt = delivery_fact("attempt", lease, event);
  describe(attempt, settlement.result);
  attempt.more["outcome"] = json::string(to_string(settlement.result.outcome));
  attempt.more["late"] = !facts.taken;  // a later attempt has replaced it
  hub_.publish(std::move(attempt));
  const bool ended = settlement.next == Next::kDelivered || settlement.next == Next::kDead;
  if (!facts.taken || !ended || !hub_.wants_fact()) return;
  LiveFact end = delivery_fact(settlement.next == Next::kDelivered ? "delivered" : "dead", lease, event);
  describe(end, settlement.result);
  hub_.publish(std::move(end));
}

void LiveFeed::buried(const DeadDelivery& dead) {
  if (delivery_ != nullptr) delivery_->buried(dead);
  if (!hub_.wants_fact()) return;
  const std::string event = dead.event.text();
  LiveFact fact;
  fact.name = "dead";
  fact.destination = dead.destination;
  fact.event = event;
  fact.more["error"] = "the last attempt's lease ran out, and the retry policy is used up";
  hub_.publish(std::move(fact));
}

}  // namespace hookonce

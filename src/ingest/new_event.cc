#include "ingest/new_event.h"

#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "core/dedup.h"

namespace hookonce {

namespace {

// Of a batch. An item without a key is taken under `accept`, as a request without one is: by a key that no other has.
void fill_item_keys(const IngestSource& source, const Identity& identity, NewEvent& event) {
  event.rule = KeyRule::kEach;
  for (const ItemIdentity& item : identity.items) {
    if (item.key) {
      event.keys.push_back(key_hash("", *item.key));
    } else if (source.config->missing_key == MissingKey::kHash) {
      event.keys.push_back(key_hash("", {"sha256:" + sha256_hex(event.body.substr(item.offset, item.size))}));
    } else {
      event.keys.push_back(key_hash("item", {event.id.text(), std::to_string(event.keys.size())}));
    }
  }
}

void fill_keys(const IngestSource& source, Identity& identity, NewEvent& event) {
  if (!identity.items.empty()) return fill_item_keys(source, identity, event);
  if (!identity.key && source.config->missing_key == MissingKey::kHash) {
    identity.key = {"sha256:" + sha256_hex(event.body)};
  }
  // Without its own key under `accept` an arrival is a duplicate of nothing, whatever dedup_also would find: swallowing
  // is the worse error.
  if (!identity.key) return;
  event.key = key_text(*identity.key);
  event.keys.push_back(key_hash("", *identity.key));
  for (std::size_t i = 0; i < identity.also.size(); ++i) {
    if (identity.also[i]) event.keys.push_back(key_hash(source.also_spaces[i], {*identity.also[i]}));
  }
}

}  // namespace

bool lacks_key(const IngestSource& source, const Identity& identity) {
  if (source.config->missing_key != MissingKey::kReject) return false;
  if (identity.items.empty()) return !identity.key;
  return std::any_of(identity.items.begin(), identity.items.end(), [](const ItemIdentity& item) { return !item.key; });
}

std::string missing_key_message(const IngestSource& source) {
  std::string fields;
  for (const FieldSpec& spec : source.config->dedup_key) fields += (fields.empty() ? "`" : ", `") + spec.text() + "`";
  const bool is_batch = source.config->items.has_value();
  return "source \"" + source.config->name +
         "\": " + (is_batch ? "the batch has no items, or one without a dedup key" : "the request has no dedup key") +
         (fields.empty() ? " where its provider puts it" : " at " + fields) +
         "; correct `dedup_key`, or take such requests with `missing_key = \"accept\"` or \"hash\"";
}

NewEvent new_event(const IngestSource& source, VerifiedRequest verified, const EventId& id) {
  HttpRequest& request = verified.request;
  Identity& identity = verified.identity;
  NewEvent event;
  event.id = id;
  event.source = source.config->name;
  event.window = source.config->dedup_window;
  event.rearm = source.config->rearm;
  event.body = std::move(request.body);
  event.headers = std::move(request.headers);
  event.charge = std::move(request.charge);
  event.forwarded_trusted = verified.client.forwarded_trusted;
  fill_keys(source, identity, event);
  event.destinations = source.choice.choose(identity.type, event.headers, event.body);
  event.ordered = source.ordered;
  if (!event.destinations.empty()) event.first_lease = source.first_lease;
  event.type = std::move(identity.type);
  event.ordering_key = std::move(identity.ordering_key);

  Arrival& arrival = event.arrival;
  arrival.at = request.head_at;
  arrival.remote = std::move(verified.client.address);
  arrival.retry = std::move(identity.retry);
  arrival.provider_time = verified.verification.provider_time;
  arrival.secret = verified.verification.secret;
  arrival.body_hash = body_hash(event.body);
  arrival.signature_hash = verified.verification.signature_hash;
  return event;
}

}  // namespace hookonce

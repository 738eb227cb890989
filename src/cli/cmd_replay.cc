// `hookonce replay`: sends events again, by id or by filter.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/clock.h"
#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct Replay {
  AdminOptions admin;
  EventFilterOptions filter;
  std::vector<std::string> ids;
  std::string destination;
  bool dead = false;
  bool new_key = false;
  bool yes = false;
};

Status check_usage(const Replay& options) {
  const bool filtered = options.dead || !options.filter.empty();
  if (options.ids.empty() && !filtered) return invalid("which events? name ids, --dead or a filter");
  if (!options.ids.empty() && filtered) return invalid("ids and filters do not go together; leave one of them out");
  if (filtered && !options.yes && !stdin_is_terminal()) {
    return invalid("a replay by filter asks before it sends, and there is no terminal; pass --yes");
  }
  return {};
}

json::object wishes(const Replay& options) {
  json::object body;
  if (!options.destination.empty()) body["destination"] = options.destination;
  if (options.new_key) body["new_key"] = true;
  return body;
}

// The gateway's ids that are meant; complains and gives nothing unless each of them is one event. Nothing is sent
// before all are known, so that a slip in the last id does not leave half a replay.
std::vector<std::string> resolve(const AdminClient& client, const std::vector<std::string>& ids) {
  std::vector<std::string> events;
  bool good = true;
  for (const std::string& id : ids) {
    const Result<json::array> found = client.find(id);
    if (!found.ok()) {
      complain(found.status().message());
      good = false;
      if (found.code() == Code::kUnavailable) break;  // The next one would say the same.
    } else if (found->size() > 1) {
      complain(fmt::format("{} have the id {}; name one by the gateway's id", counted(found->size(), "event"),
                           printable(id)));
      std::fputs(events_text(*found, false).c_str(), stderr);
      good = false;
    } else {
      std::string event = json_string(found->front(), "id").value_or("");
      // Named twice, perhaps once by each of its ids, it is still meant once.
      if (std::find(events.begin(), events.end(), event) == events.end()) events.push_back(std::move(event));
    }
  }
  if (!good) {
    complain("nothing was sent");
    events.clear();
  }
  return events;
}

std::string delivery_line(const json::value& delivery) {
  const json::object* object = delivery.if_object();
  const json::value* replayed = object != nullptr ? object->if_contains("replayed") : nullptr;
  const bool left_alone = replayed != nullptr && replayed->is_bool() && !replayed->get_bool();
  const char* what = left_alone ? "in flight, left alone" : "sent again";
  return fmt::format("{}  {}  {}\n", printable(json_string(delivery, "event").value_or("-")),
                     printable(json_string(delivery, "destination").value_or("-")), what);
}

int replay_ids(const AdminClient& client, const Replay& options) {
  const std::vector<std::string> events = resolve(client, options.ids);
  if (events.empty()) return kExitFailed;
  if (!options.admin.json) say(fmt::format("replaying {}\n", counted(events.size(), "event")));
  json::array deliveries;
  for (const std::string& event : events) {
    const Result<json::value> answer =
        client.post("/api/v1/events/" + percent_encode(event) + "/replay", wishes(options));
    if (!answer.ok()) {
      // What went before is on its way, so it is shown before the failure.
      if (options.admin.json) say(printable_json(json::object{{"deliveries", deliveries}}) + "\n");
      return failed(answer.status());
    }
    const json::value* part = answer->is_object() ? answer->get_object().if_contains("deliveries") : nullptr;
    if (part == nullptr || !part->is_array()) return failed(unavailable("the gateway's answer names no deliveries"));
    for (const json::value& delivery : part->get_array()) {
      if (!options.admin.json) say(delivery_line(delivery));
      deliveries.push_back(delivery);
    }
  }
  if (options.admin.json) say(printable_json(json::object{{"deliveries", deliveries}}) + "\n");
  if (deliveries.empty() && !options.admin.json) say("no deliveries: no destination wanted these events\n");
  return kExitDone;
}

Result<std::int64_t> replay_filtered(const AdminClient& client, json::object body, bool dry_run) {
  body["dry_run"] = dry_run;
  HK_ASSIGN(const json::value answer, client.post("/api/v1/replays", body));
  const std::optional<std::int64_t> matched = json_int(answer, "matched");
  if (!matched) return unavailable("the gateway's answer does not say how many deliveries matched");
  return *matched;
}

std::string deliveries_text(std::int64_t count) {
  return counted(static_cast<std::size_t>(count), "delivery");
}

int replay_matching(const AdminClient& client, const Replay& options, const FilterTerms& terms) {
  json::object body = wishes(options);
  for (const auto& [name, value] : terms) body[name] = value;
  if (options.dead) body["dead"] = true;
  const Result<std::int64_t> would = replay_filtered(client, body, true);
  if (!would.ok()) return failed(would.status());
  std::int64_t matched = 0;
  if (*would > 0) {
    if (!options.admin.json) say(deliveries_text(*would) + (*would == 1 ? " matches\n" : " match\n"));
    if (!options.yes && !confirmed("send again?")) {
      complain("nothing was sent");
      return kExitFailed;
    }
    const Result<std::int64_t> did = replay_filtered(client, body, false);
    if (!did.ok()) return failed(did.status());
    matched = *did;
  }
  if (options.admin.json) {
    say(printable_json(json::object{{"matched", matched}}) + "\n");
  } else {
    say(*would == 0 ? "nothing matches, nothing was sent\n" : deliveries_text(matched) + " sent again\n");
  }
  return kExitDone;
}

int replay(const Replay& options) {
  const Status usage = check_usage(options);
  if (!usage.ok()) return complain(usage.message()), kExitUsage;
  const Result<FilterTerms> terms = filter_terms(options.filter, system_clock().wall());
  if (!terms.ok()) return complain(terms.status().message()), kExitUsage;
  const Result<AdminClient> client = AdminClient::make(options.admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  return options.ids.empty() ? replay_matching(*client, options, *terms) : replay_ids(*client, options);
}

}  // namespace

Run add_replay(CLI::App& root) {
  CLI::App* command = root.add_subcommand("replay", "Send events again");
  const auto options = std::make_shared<Replay>();
  command->add_option("ID", options->ids, "Events by the gateway's id or the provider's; these are sent without asking")
      ->check(refuse_empty)
      ->type_name("");
  command->add_flag("--dead", options->dead, "Dead deliveries, all or those of the filtered events");
  command->add_option("--destination", options->destination, "Only to this destination")
      ->check(refuse_empty)
      ->type_name("D");
  command->add_flag("--new-key", options->new_key,
                    "Under a new Idempotency-Key, so that a destination that dedups acts on it again");
  command->add_flag("--yes", options->yes, "Do not ask; needed with filters where there is no terminal");
  add_event_filter(*command, options->filter);
  add_admin_options(*command, options->admin);
  command->footer(
      "A replay keeps the Idempotency-Key and bears `Hookonce-Replay: true`. With filters it says how many deliveries\n"
      "match, and asks. A replayed delivery does not wait for others of its ordering key: replay a line's dead head\n"
      "alone, and the rest follows in order by itself.\n"
      "\n"
      "Examples:\n"
      "  hookonce replay evt_1LP4n0BB5Q5Dr2x7\n"
      "  hookonce replay --dead --destination billing\n"
      "  hookonce replay --source stripe --since 2h --yes");
  return [options] { return replay(*options); };
}

}  // namespace hookonce

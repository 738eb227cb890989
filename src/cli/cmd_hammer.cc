// `hookonce hammer`: does an endpoint take each event once, however many copies of it arrive at the same moment?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "cli/commands.h"
#include "cli/hammer_verdict.h"
#include "cli/option_checks.h"
#include "cli/progress_bar.h"
#include "cli/sample_sender.h"
#include "cli/terminal.h"
#include "cli/volley.h"

namespace hookonce {

namespace {

constexpr int kEventsMax = 1'000'000;
constexpr int kCopiesMax = 1'000;
// Requests on their way at once: enough for a storm, few enough for the usual limit of open files.
constexpr int kInFlightMax = 512;
constexpr Duration kEffectsWithin = std::chrono::seconds(30);  // until each event has an effect
constexpr Duration kDoublesWithin = std::chrono::seconds(2);   // and then for a second one to show
constexpr Duration kEffectsEvery = std::chrono::milliseconds(200);
constexpr Duration kEffectsTimeout = std::chrono::seconds(10);
constexpr std::size_t kEffectsAnswerMax = 256 * kMiB;  // the effects of every event that the counter has ever seen

struct Hammer {
  SampleOptions sample;
  int events = 10;
  int copies = 16;
  std::string spread = "0ms";
  std::string effects;
  bool yes = false;
  bool json = false;
};

Status check(const Hammer& given) {
  if (!parse_duration(given.spread)) {
    return invalid(fmt::format("--spread {}: must be a duration such as 5ms or 1s", given.spread));
  }
  if (!given.effects.empty() && url_host(given.effects).empty()) {
    return invalid(fmt::format("--effects {}: must be a URL such as http://127.0.0.1:9000/effects", given.effects));
  }
  const std::string_view host = url_host(given.sample.to);
  if (!is_loopback_host(host) && !given.yes) {
    return invalid(
        fmt::format("{} is not this machine; hammering it sends {} requests there: pass --yes if it is yours",
                    printable(host), static_cast<std::int64_t>(given.events) * given.copies));
  }
  return {};
}

void note(HammeredEvent& event, const ClientResponse& response) {
  ++event.answers[answer_text(response)];
  if (response.result != ClientResponse::Result::kAnswered && event.error.empty()) event.error = response.error;
  if (!is_success(response)) return;
  ++event.successes;
  if (response.headers.first("Hookonce-Status") == "accepted") ++event.accepted;
}

// Fires all copies of some events, spread evenly over the time from the first to the last.
void fire(const SampleSender& sender, HttpClient& client, Duration spread, std::span<HammeredEvent> events,
          const std::function<void()>& event_done) {
  const int copies = events.front().copies;
  std::vector<Shot> shots;
  std::vector<std::size_t> event_of;
  const auto add = [&](std::size_t event, Duration at) {
    shots.push_back({at, [&sender, id = events[event].id] {
                       SampleRequest sample;
                       sample.id = id;
                       // A sender that has signed once signs again: make() has tried.
                       return sender.request(sample, system_clock().wall()).value();
                     }});
    event_of.push_back(event);
  };
  if (spread == Duration::zero()) {
    // One event after the other, so that its copies leave as close together as they can.
    for (std::size_t event = 0; event < events.size(); ++event) {
      for (int copy = 0; copy < copies; ++copy) add(event, {});
    }
  } else {
    for (int copy = 0; copy < copies; ++copy) {
      for (std::size_t event = 0; event < events.size(); ++event)
        add(event, copies > 1 ? spread * copy / (copies - 1) : spread * 0);
    }
  }
  std::vector<int> answers(events.size(), 0);
  Volley(client).run(shots, [&](std::size_t shot, const ClientResponse& response) {
    const std::size_t i = event_of[shot];
    note(events[i], response);
    if (++answers[i] == copies) event_done();
  });
}

// The counted effects of our events; a counter that can't be read leaves them as they were.
Status count_effects(const std::string& url, std::vector<HammeredEvent>& events) {
  ClientRequest request;
  request.method = "GET";
  request.url = url;
  request.timeout = kEffectsTimeout;
  request.response_limit = kEffectsAnswerMax;
  const ClientResponse response = fetch(request);
  if (!is_success(response)) {
    return unavailable(
        fmt::format("--effects {}: {}", url, response.error.empty() ? answer_text(response) : response.error));
  }
  auto effects = parse_effects(response.body);
  if (!effects.ok()) return effects.status().with_context(fmt::format("--effects {}", url));
  for (HammeredEvent& event : events) {
    const auto found = effects->find(event.id);
    event.effects = found == effects->end() ? 0 : found->second;
  }
  return {};
}

std::size_t events_with_effect(const std::vector<HammeredEvent>& events) {
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(), [](const HammeredEvent& event) { return event.effects.value_or(0) > 0; }));
}

// Until each event has an effect, and then a little longer, because a second one may come late.
Status watch_effects(const Hammer& given, std::vector<HammeredEvent>& events) {
  ProgressBar bar("effects", events.size(), given.json || !stdout_is_terminal());
  const Duration end = steady_now() + kEffectsWithin;
  Status last;
  for (;;) {
    last = count_effects(given.effects, events);
    if (last.code() == Code::kInvalid) return last;
    bar.show(events_with_effect(events));
    if (events_with_effect(events) == events.size() || steady_now() >= end) break;
    pause_for(kEffectsEvery);
  }
  bar.end();
  HK_TRY(last);
  pause_for(kDoublesWithin);
  return count_effects(given.effects, events);
}

int hammer(const Hammer& given) {
  auto sender = SampleSender::make(given.sample);
  const Status status = sender.ok() ? check(given) : sender.status();
  if (!status.ok()) {
    complain(status.message());
    return kExitUsage;
  }
  auto client = HttpClient::start({});
  if (!client.ok()) {
    complain(client.status().message());
    return kExitFailed;
  }
  std::vector<HammeredEvent> events(static_cast<std::size_t>(given.events));
  for (HammeredEvent& event : events) {
    event.id = sender->fresh_id();
    event.copies = given.copies;
  }
  if (!given.json) {
    say(fmt::format("{} x {} of {} to {}\n", counted(events.size(), "event"),
                    counted(static_cast<std::size_t>(given.copies), "copy"), given.sample.provider, given.sample.to));
  }

  ProgressBar bar("events", events.size(), given.json || !stdout_is_terminal());
  std::size_t done = 0;
  const std::size_t at_once = static_cast<std::size_t>(std::max(1, kInFlightMax / given.copies));
  for (std::size_t first = 0; first < events.size(); first += at_once) {
    const std::span<HammeredEvent> some = std::span(events).subspan(first, std::min(at_once, events.size() - first));
    fire(*sender, **client, *parse_duration(given.spread), some, [&] { bar.show(++done); });
  }
  bar.end();

  const bool by_effects = !given.effects.empty();
  if (by_effects) {
    if (const Status watched = watch_effects(given, events); !watched.ok()) {
      complain(watched.message());
      return kExitFailed;
    }
  }
  const HammerVerdict verdict = judge_hammered(events, by_effects);
  say(given.json ? printable_json(verdict_json(verdict)) + "\n" : verdict_text(verdict, stdout_wants_colour()));
  const auto unanswered =
      std::find_if(events.begin(), events.end(), [](const HammeredEvent& event) { return !event.error.empty(); });
  if (unanswered != events.end()) complain(fmt::format("{}: {}", given.sample.to, printable(unanswered->error)));
  return verdict.good() ? kExitDone : kExitFailed;
}

}  // namespace

Run add_hammer(CLI::App& root) {
  CLI::App* command =
      root.add_subcommand("hammer", "Fire concurrent copies of events at a webhook endpoint and judge it");
  const auto given = std::make_shared<Hammer>();
  add_sample_options(*command, given->sample);
  take_whole_number(*command->add_option("--events", given->events, "Number of different events")
                         ->type_name("N")
                         ->capture_default_str(),
                    {1, kEventsMax});
  take_whole_number(*command->add_option("--copies", given->copies, "Copies of each event, on the way at the same time")
                         ->type_name("K")
                         ->capture_default_str(),
                    {1, kCopiesMax});
  command->add_option("--spread", given->spread, "Time from the first to the last copy of an event")
      ->type_name("DUR")
      ->capture_default_str();
  command
      ->add_option("--effects", given->effects,
                   "Where the backend counts: GET answers {\"event id\": number of effects}")
      ->type_name("URL");
  command->add_flag("--yes", given->yes, "Hammer a target that is not this machine");
  command->add_flag("--json", given->json, "The verdict as one JSON object");
  command->footer(
      "Works on any webhook endpoint, with Hookonce in front of it or not. With --effects it waits at most 30 s until "
      "each\n"
      "event took effect, then 2 s more for doubles. Without, it judges the answers alone. Exit status 1 where an "
      "event took\n"
      "effect twice or not at all.\n"
      "\n"
      "Examples:\n"
      "  hookonce hammer stripe --to http://127.0.0.1:8000/webhook/ --secret env:STRIPE_WEBHOOK_SECRET\n"
      "  hookonce hammer slack --to http://127.0.0.1:8080/in/slack --secret env:SLACK_SIGNING_SECRET --events 100 "
      "--copies 64 \\\n"
      "      --effects http://127.0.0.1:9000/effects        (a backend started with `hookonce sink`)\n"
      "  hookonce hammer github --to https://staging.example.com/hook --secret s --spread 50ms --yes");
  return [given] { return hammer(*given); };
}

}  // namespace hookonce

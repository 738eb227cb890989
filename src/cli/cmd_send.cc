// `hookonce send`: correctly signed sample events, or given ones.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/option_checks.h"
#include "cli/sample_sender.h"
#include "cli/terminal.h"
#include "cli/volley.h"

namespace hookonce {

namespace {

constexpr int kTimesMax = 100'000;
constexpr std::size_t kBodyShown = 300;  // of an answer: enough to recognise it, few enough for a terminal

struct Send {
  SampleOptions sample;
  std::string body_file;
  std::string id;
  int times = 1;
  std::string gap = "0ms";
  bool concurrent = false;
  bool retry_headers = false;
  bool json = false;
};

// Everything that is decided before the first request leaves.
struct Plan {
  SampleSender sender;
  std::string id;
  std::string body;  // empty: a sample
  Duration gap{};
  std::optional<std::string> dedup_key{};  // by the provider's default; of every copy
};

// The provider reads some ids from the body, and a given body is sent as it is.
Status check_id_counts(const SampleSender& sender, const Send& given, const SampleRequest& sample) {
  HK_ASSIGN(const ClientRequest trial, sender.request(sample, Time{}));
  HttpRequest request;
  request.headers = trial.headers;
  request.body = *trial.body;
  if (sender.provider().event_id(request) == given.id) return {};
  return invalid(fmt::format("--id has no effect here: provider {} has its event id in the body, which --body gives",
                             sender.provider().traits().name));
}

Result<Plan> plan(const Send& given) {
  HK_ASSIGN(SampleSender sender, SampleSender::make(given.sample));
  Plan plan{std::move(sender), given.id, "", {}};
  if (plan.id.empty()) plan.id = plan.sender.fresh_id();
  const auto gap = parse_duration(given.gap);
  if (!gap) return invalid(fmt::format("--gap {}: must be a duration such as 5ms, 1s or 2m", given.gap));
  plan.gap = *gap;
  if (!given.body_file.empty()) {
    HK_ASSIGN(plan.body, read_input_file(given.body_file));
    if (plan.body.empty()) return invalid(fmt::format("file {} is empty", given.body_file));
    SampleRequest sample;
    sample.id = plan.id;
    sample.body = plan.body;
    if (!given.id.empty()) HK_TRY(check_id_counts(plan.sender, given, sample));
  }
  SampleRequest first;
  first.id = plan.id;
  first.body = plan.body;
  HK_ASSIGN(const ClientRequest trial, plan.sender.request(first, system_clock().wall()));
  HK_ASSIGN(plan.dedup_key, plan.sender.dedup_key(trial));
  return plan;
}

// With retry headers the first of several copies is the original and the n-th after it is retry n; a copy that is alone
// is a retry whose original never arrived.
SampleRequest copy_of(const Plan& plan, const Send& given, int index) {
  SampleRequest sample;
  sample.id = plan.id;
  sample.body = plan.body;
  sample.retry = given.retry_headers && (index > 0 || given.times == 1);
  sample.retry_number = std::max(index, 1);
  return sample;
}

// "code: message" of a refusal by Hookonce; nullopt for any other answer.
std::optional<std::string> refusal_text(const ClientResponse& response) {
  if (response.headers.has("Hookonce-Status")) return std::nullopt;  // accepted: the body is a backend's
  const Result<json::value> answer = parse_json(response.body);
  if (!answer.ok() || !answer->is_object()) return std::nullopt;
  const json::value* error = answer->get_object().if_contains("error");
  if (error == nullptr) return std::nullopt;
  const auto code = json_string(*error, "code");
  const auto message = json_string(*error, "message");
  if (!code || !message) return std::nullopt;
  return *code + ": " + *message;
}

// Hookonce's own answer to an arrival says no more than its headers do.
bool is_own_answer(const ClientResponse& response) {
  const Result<json::value> answer = parse_json(response.body);
  return answer.ok() && response.headers.has("Hookonce-Event") &&
         json_string(*answer, "id") == response.headers.first("Hookonce-Event") &&
         json_string(*answer, "status") == response.headers.first("Hookonce-Status");
}

// What the endpoint itself has to say; empty where that is nothing.
std::string foreign_body(const ClientResponse& response) {
  if (response.result != ClientResponse::Result::kAnswered || refusal_text(response) || is_own_answer(response))
    return "";
  return std::string(trim(response.body.substr(0, kBodyShown)));
}

std::string detail_of(const ClientResponse& response) {
  if (response.result != ClientResponse::Result::kAnswered) return response.error;
  std::string detail(response.headers.first("Hookonce-Status").value_or(""));
  if (const auto event = response.headers.first("Hookonce-Event")) detail += fmt::format(" {}", *event);
  if (!is_success(response) && detail.empty()) detail = refusal_text(response).value_or("");
  return std::string(trim(detail));
}

void print_answer(const Send& given, const Plan& plan, int number, const ClientResponse& response) {
  const double ms = std::chrono::duration<double, std::milli>(response.duration).count();
  if (given.json) {
    const bool answered = response.result == ClientResponse::Result::kAnswered;
    json::object line = {{"number", number},
                         {"status", answered ? json::value(response.status) : json::value(nullptr)},
                         {"latency_ms", ms},
                         {"dedup_key", plan.dedup_key ? json::value(to_utf8(*plan.dedup_key)) : json::value(nullptr)},
                         {"detail", json::string(to_utf8(detail_of(response)))},
                         {"body", json::string(to_utf8(foreign_body(response)))}};
    say(printable_json(line) + "\n");
  } else {
    const std::string status =
        painted(answer_text(response), is_success(response) ? Paint::kGood : Paint::kBad, stdout_wants_colour());
    const std::string detail = printable(detail_of(response));
    say(fmt::format("{:>4}  {}  {:.1f} ms{}{}\n", number, status, ms, detail.empty() ? "" : "  ", detail));
    if (const std::string body = foreign_body(response); !body.empty()) say("      " + printable(body) + "\n");
  }
  std::fflush(stdout);
}

int send(const Send& given) {
  auto planned = plan(given);
  if (!planned.ok()) {
    complain(planned.status().message());
    return kExitUsage;
  }
  auto client = HttpClient::start({});
  if (!client.ok()) {
    complain(client.status().message());
    return kExitFailed;
  }
  const auto shot = [&planned, &given](int index, Duration at) {
    return Shot{at, [&planned, &given, index] {
                  // A sender that has signed once signs again: make() has tried.
                  return planned->sender.request(copy_of(*planned, given, index), system_clock().wall()).value();
                }};
  };
  Volley volley(**client);
  bool all_good = true;
  const auto answered = [&](int index, const ClientResponse& response) {
    all_good &= is_success(response);
    print_answer(given, *planned, index + 1, response);
  };
  if (!given.json) {
    say(fmt::format("{} {} to {}, {}\n", given.sample.provider, planned->body.empty() ? planned->id : given.body_file,
                    given.sample.to,
                    planned->dedup_key ? "dedup key " + printable(*planned->dedup_key)
                                       : "no dedup key but what the source's dedup_key names"));
  }
  if (given.concurrent) {
    std::vector<Shot> shots;
    for (int i = 0; i < given.times; ++i) shots.push_back(shot(i, planned->gap * i));
    volley.run(shots,
               [&](std::size_t index, const ClientResponse& response) { answered(static_cast<int>(index), response); });
  } else {
    const Duration start = steady_now();
    for (int i = 0; i < given.times; ++i) {
      pause_for(start + planned->gap * i - steady_now());
      volley.run({shot(i, {})}, [&](std::size_t, const ClientResponse& response) { answered(i, response); });
    }
  }
  return all_good ? kExitDone : kExitFailed;
}

}  // namespace

Run add_send(CLI::App& root) {
  CLI::App* command = root.add_subcommand("send", "Send correctly signed events to a webhook endpoint");
  const auto given = std::make_shared<Send>();
  add_sample_options(*command, given->sample);
  command->add_option("--body", given->body_file, "A file with the body, sent byte for byte; default a sample")
      ->type_name("FILE");
  command->add_option("--id", given->id, "The event id; default a new one")->type_name("ID");
  take_whole_number(
      *command->add_option("--times", given->times, "How often the same event is sent, each time freshly signed")
           ->type_name("N")
           ->capture_default_str(),
      {1, kTimesMax});
  command->add_option("--gap", given->gap, "Time between the starts of two copies")
      ->type_name("DUR")
      ->capture_default_str();
  command->add_flag("--concurrent", given->concurrent, "Do not wait for an answer before the next copy");
  command->add_flag("--retry-headers", given->retry_headers,
                    "Mark the second and later copies (or an only one) as retries, where the provider does");
  command->add_flag("--json", given->json, "One JSON object per answer");
  command->footer(
      "Prints status and latency of each answer. Exit status 1 where one is not 2xx. Signing with `hmac` needs "
      "--header;\n"
      "the providers `token` and `none` sign nothing and are refused.\n"
      "\n"
      "Examples:\n"
      "  hookonce send stripe --to http://127.0.0.1:8080/in/stripe --secret env:STRIPE_WEBHOOK_SECRET\n"
      "  hookonce send stripe --to http://127.0.0.1:8080/in/stripe --secret whsec_test --times 2 --gap 5ms "
      "--concurrent\n"
      "  hookonce send slack --to http://127.0.0.1:8080/in/slack --secret file:slack.secret --times 2 --retry-headers\n"
      "  hookonce send github --to http://127.0.0.1:8080/in/github --secret s --type issues.opened --body issue.json");
  return [given] { return send(*given); };
}

}  // namespace hookonce

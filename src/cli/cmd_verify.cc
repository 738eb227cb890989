// `hookonce verify`: a captured request or a file of vectors, judged offline.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/captured_request.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/option_checks.h"
#include "cli/provider_choice.h"
#include "cli/terminal.h"
#include "provider/vector.h"

namespace hookonce {

namespace {

struct Verify {
  ProviderChoice choice;
  std::string now;
  std::string request_file;
  std::string vectors_file;
  bool json = false;
};

int mistake(const Status& status) {
  complain(status.message());
  return kExitUsage;
}

Result<Time> moment(const std::string& text) {
  if (text.empty()) return system_clock().wall();
  if (const auto seconds = parse_digits(text); seconds && *seconds < 1'000'000'000'000)
    return Time(std::chrono::seconds(*seconds));
  if (const auto time = parse_rfc3339(text)) return *time;
  return invalid(fmt::format("--now {}: must be unix seconds or a time such as 2026-01-02T03:04:05Z", text));
}

std::string outcome_text(const VectorOutcome& outcome) {
  const bool colour = stdout_wants_colour();
  if (!outcome.valid) {
    return fmt::format("{}  {}: {}\n", painted("refused", Paint::kBad, colour), outcome.reason,
                       printable(outcome.message));
  }
  std::string text = fmt::format("{}  {}\n", painted("valid", Paint::kGood, colour), outcome.kind);
  const auto line = [&text](std::string_view name, const std::optional<std::string>& value) {
    if (value) text += fmt::format("  {:<14}{}\n", name, printable(*value));
  };
  line("event id", outcome.event_id);
  line("type", outcome.event_type);
  line("dedup key", outcome.dedup_key);
  line("ordering key", outcome.ordering_key);
  if (outcome.kind != "challenge" && !outcome.dedup_key)
    text += "  no dedup key: such an event is never a duplicate of anything\n";
  return text;
}

int verify_request(const Verify& given, const Provider& provider) {
  const auto now = moment(given.now);
  if (!now.ok()) return mistake(now.status());
  const auto settings = choice_settings(provider, given.choice);
  if (!settings.ok()) return mistake(settings.status());
  const auto bound = provider.bind(*settings);
  if (!bound.ok()) return mistake(bound.status().with_context("--secret"));
  const auto bytes = read_input_file(given.request_file);
  if (!bytes.ok()) return mistake(bytes.status());

  const auto request = parse_captured_request(*bytes);
  if (!request.ok()) {
    complain(fmt::format("{}: malformed: {}", given.request_file, request.status().message()));
    return kExitFailed;
  }
  const VectorOutcome outcome = judge(provider, **bound, *request, *now);
  if (given.json) {
    json::object line = vector_json(given.request_file, outcome);
    line["message"] = to_utf8(outcome.message);
    say(printable_json(line) + "\n");
  } else {
    say(outcome_text(outcome));
  }
  return outcome.valid ? kExitDone : kExitFailed;
}

int verify_vectors(const Verify& given) {
  const auto text = read_input_file(given.vectors_file);
  if (!text.ok()) return mistake(text.status());
  const auto vectors = parse_vectors(*text);
  if (!vectors.ok()) return mistake(vectors.status().with_context(given.vectors_file));
  std::size_t judged = 0;
  std::size_t differing = 0;
  for (const Vector& vector : *vectors) {
    if (vector.provider != given.choice.provider) continue;
    const auto outcome = run_vector(vector);
    if (!outcome.ok()) return mistake(outcome.status());
    say(printable_json(vector_json(vector.id, *outcome)) + "\n");
    ++judged;
    const std::vector<std::string> names = differences(vector, *outcome);
    if (names.empty()) continue;
    ++differing;
    complain(fmt::format("vector {} differs from its `expect` in {}", printable(vector.id), join(names, ", ")));
  }
  if (judged == 0) {
    complain(fmt::format("{} has no vector of provider {}", given.vectors_file, printable(given.choice.provider)));
    return kExitFailed;
  }
  return differing == 0 ? kExitDone : kExitFailed;
}

int verify(const Verify& given) {
  const auto provider = choose_provider(given.choice.provider);
  if (!provider.ok()) return mistake(provider.status());
  if (given.request_file.empty() == given.vectors_file.empty())
    return mistake(invalid("pass either --request FILE or --vectors FILE"));
  return given.vectors_file.empty() ? verify_request(given, **provider) : verify_vectors(given);
}

}  // namespace

Run add_verify(CLI::App& root) {
  CLI::App* command = root.add_subcommand("verify", "Verify a captured request offline, or a file of vectors");
  const auto given = std::make_shared<Verify>();
  offer(*command
             ->add_option("PROVIDER", given->choice.provider,
                          "Whose request: stripe, slack, github, standard_webhooks (svix), hmac, token, none")
             ->required()
             ->type_name(""),
        provider_names());
  command->add_option("--secret", given->choice.secrets, "A secret: a literal, env:NAME or file:PATH; may be repeated")
      ->expected(1)
      ->take_all()
      ->type_name("S");
  command->add_option("--header", given->choice.header, "The header of the signature (hmac) or the token (token)")
      ->type_name("NAME");
  command->add_option("--now", given->now, "When it arrived: unix seconds or RFC 3339; default now")->type_name("T");
  command
      ->add_option("--request", given->request_file, "A raw HTTP/1.1 request: request line, headers, empty line, body")
      ->type_name("FILE");
  command->add_option("--vectors", given->vectors_file, "A file of vectors; only those of PROVIDER are judged")
      ->type_name("FILE");
  command->add_flag("--json", given->json, "The outcome of --request as one JSON object");
  command->footer(
      "With --request: says whether the request is valid and what identifies its event, or why it is refused (exit "
      "status 1).\n"
      "A signed time stamp is judged against --now. With --vectors: one JSON line per vector, exit status 1 where one "
      "differs\n"
      "from what it expects; the vectors bring their own secrets.\n"
      "\n"
      "Examples:\n"
      "  hookonce verify stripe --secret env:STRIPE_WEBHOOK_SECRET --request captured.http --now 1790000000\n"
      "  hookonce verify hmac --header X-Signature --secret env:SECRET --request captured.http\n"
      "  hookonce verify slack --vectors test/vectors/slack.json");
  return [given] { return verify(*given); };
}

}  // namespace hookonce

// What a source says about synchronous answers.
#include <algorithm>

#include <fmt/format.h>

#include "core/config_sections.h"

namespace hookonce {

namespace {

constexpr std::string_view kResponseUrl = "response_url";

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

void read_late_answer(ConfigTable& parent, const ConfigNode& node, SourceConfig& source) {
  if (node.kind != ConfigNode::Kind::kTable) {
    return parent.error("late_answer", fmt::format("must be a table, not {}; write late_answer = {{ content_type = "
                                                   "\"application/json\", body = \"{{}}\" }}, or {{}} for an empty one",
                                                   kind_name(node.kind)));
  }
  ConfigTable table(node, parent.path("late_answer"), ConfigSection::kLateAnswer, parent.problems());
  LateAnswerConfig answer;
  if (table.read("content_type", answer.content_type) && !is_printable(answer.content_type)) {
    table.error("content_type", "must be printable ASCII, as in \"application/json\"");
  }
  const ConfigNode* body = table.find("body");  // an empty one is its default, so read() would refuse too much
  if (body != nullptr && !(body->kind == ConfigNode::Kind::kString && body->text.empty())) {
    table.read("body", answer.body);
  }
  if (answer.body.size() > kReplyMax) {
    table.error("body", fmt::format("is longer than {} bytes; no sender reads so much", kReplyMax));
  }
  if (!answer.body.empty() && table.find("content_type") == nullptr) {
    table.missing("content_type", ", so its sender could not read the body; write content_type = \"application/json\"");
  }
  table.report_unknown();
  source.late_answer = std::move(answer);
}

void read_late_reply(ConfigTable& parent, const ConfigNode& node, const ProviderTraits* traits,
                     const ConfigWorld& world, SourceConfig& source) {
  LateReplyConfig reply;
  std::size_t word = 0;
  if (node.kind == ConfigNode::Kind::kTable) {
    ConfigTable table(node, parent.path("late_reply"), ConfigSection::kLateReply, parent.problems());
    if (table.find("to") == nullptr) table.missing("to", "; write to = \"response_url\"");
    table.read("to", {std::string(kResponseUrl)}, word);
    read_pem(table, "ca_file", "CERTIFICATE", world, reply.ca_file);
    read_proxy(table, world, reply.proxy);
    table.report_unknown();
  } else if (!parent.read("late_reply", {std::string(kResponseUrl)}, word)) {
    return;
  }
  if (traits != nullptr && !traits->has_response_url) {
    return parent.error("late_reply",
                        fmt::format("requests of provider `{}` name no address for a late reply; remove it, and see "
                                    "late_answer for what its sender gets instead",
                                    traits->name));
  }
  source.late_reply = std::move(reply);
}

}  // namespace

void read_mode(ConfigTable& table, const ProviderTraits* traits, const ConfigWorld& world, SourceConfig& source) {
  std::size_t word = 0;
  if (table.read("mode", {"async", "sync"}, word)) source.mode = static_cast<SourceMode>(word);
  const ConfigNode* late_answer = table.find("late_answer");
  const ConfigNode* late_reply = table.find("late_reply");
  if (late_answer != nullptr) read_late_answer(table, *late_answer, source);
  if (late_reply != nullptr) read_late_reply(table, *late_reply, traits, world, source);
  if (source.mode == SourceMode::kAsync) {
    constexpr std::string_view kMend =
        "means something for synchronous sources only; write mode = \"sync\" or remove it";
    if (late_answer != nullptr) table.error("late_answer", std::string(kMend));
    if (late_reply != nullptr) table.error("late_reply", std::string(kMend));
  } else if (source.destinations.size() > 1) {
    table.error("destinations",
                fmt::format("a synchronous source has exactly one destination, whose answer its sender gets, and not "
                            "{}; keep that one, or write mode = \"async\"",
                            source.destinations.size()));
  }
}

}  // namespace hookonce

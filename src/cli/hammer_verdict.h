// What a hammered endpoint turned out to be: judged per event, from its answers and, where somebody counts them, its
// effects.
//
// Pure, so that every combination can be tried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace hookonce {

// One event whose copies were fired.
struct HammeredEvent {
  std::string id;
  int copies = 0;
  int successes = 0;                    // copies answered 2xx
  int accepted = 0;                     // of them, those that say `Hookonce-Status: accepted`
  std::map<std::string, int> answers;   // by status code or what came in its place
  std::optional<std::int64_t> effects;  // nullopt: nobody counted
  std::string error;                    // why the first copy without an answer had none; empty: all were answered
};

struct HammerVerdict {
  bool by_effects = false;  // else by the answers alone
  std::size_t events = 0;
  std::size_t requests = 0;
  std::size_t once = 0;
  std::vector<std::string> twice;  // ids of events that took effect more than once
  std::vector<std::string> never;  // and of those that did not at all
  std::map<std::string, int> answers;

  bool good() const { return twice.empty() && never.empty(); }
};

HammerVerdict judge_hammered(const std::vector<HammeredEvent>& events, bool by_effects);

std::string verdict_text(const HammerVerdict& verdict, bool colour);
json::object verdict_json(const HammerVerdict& verdict);

// What GET of the effects URL answers: an object, event id to number of effects. kInvalid where it is something else.
Result<std::map<std::string, std::int64_t>> parse_effects(std::string_view text);

}  // namespace hookonce

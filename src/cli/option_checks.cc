#include "cli/option_checks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>

#include "base/bytes.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

// The words lie in the name of the option's check, where the completion finds them.
constexpr std::string_view kWords = "words:";

void add_check(CLI::Option& option, const std::vector<std::string>& words,
               std::function<std::string(std::string&)> judge) {
  option.check(CLI::Validator(std::move(judge), "", std::string(kWords) + join(words, ",")));
}

bool is_within(const std::string& text, WholeNumbers limits) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number >= limits.from && number <= limits.to;
}

}  // namespace

void take_whole_number(CLI::Option& option, WholeNumbers limits) {
  option.description(fmt::format("{}, {} to {}", option.get_description(), limits.from, limits.to));
  option.check([limits](const std::string& text) {
    if (is_within(text, limits)) return std::string();
    return fmt::format("{}: must be a whole number from {} to {}", printable(text), limits.from, limits.to);
  });
}

void take_one_of(CLI::Option& option, std::vector<std::string> words) {
  add_check(option, words, [words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    const auto near = nearest(text, words);
    return fmt::format("{}: must be one of {}{}", printable(text), join(words, ", "),
                       near ? fmt::format("; did you mean {}?", *near) : "");
  });
}

void offer(CLI::Option& option, std::vector<std::string> words) {
  add_check(option, words, [](const std::string&) { return std::string(); });
}

std::vector<std::string> offered_words(CLI::Option& option) {
  std::vector<std::string> words;
  try {
    for (int index = 0; words.empty(); ++index) {
      const std::string& name = option.get_validator(index)->get_name();
      if (name.rfind(kWords, 0) != 0) continue;
      for (const std::string_view word : split(std::string_view(name).substr(kWords.size()), ',')) {
        words.emplace_back(word);
      }
    }
  } catch (const CLI::OptionNotFound&) {
    // There is no further check.
  }
  return words;
}

}  // namespace hookonce

// What an option may be given, judged while the command line is read, in one form of words for every command:
//
//   hookonce: --limit 0: must be a whole number from 1 to 100000
//   hookonce: --log-level loud: must be one of debug, info, warn, error, off
//
// A check returns what follows the option's name, or nothing where the value is good; cli.cc puts the name before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace hookonce {

struct WholeNumbers {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
// The limits are added to the option's description.
void take_whole_number(CLI::Option& option, WholeNumbers limits);

// Refuses every other word, and names the nearest.
void take_one_of(CLI::Option& option, std::vector<std::string> words);
// For completion only: the command judges the value, in words of its own.
void offer(CLI::Option& option, std::vector<std::string> words);
// The words of either; empty where the option has none.
std::vector<std::string> offered_words(CLI::Option& option);

}  // namespace hookonce

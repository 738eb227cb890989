// What a person sees: text made safe for a terminal, colour where it is wanted, one-line complaints, questions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace hookonce {

enum class Paint { kNone, kStrong, kDim, kGood, kWarn, kBad };

struct ColourHints {
  bool terminal = false;           // whether the stream is one
  const char* no_color = nullptr;  // NO_COLOR; any text but an empty one switches colour off
  const char* term = nullptr;      // TERM; `dumb` can't show colour
};
bool wants_colour(const ColourHints& hints);

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stdout_wants_colour();
std::size_t stdout_columns();  // of the terminal; 0 where there is none, or it does not say

std::string painted(std::string_view text, Paint paint, bool colour);

// Bytes of unknown origin as UTF-8 that moves no cursor and forges no line: control characters become \xNN. With
// keep_lines, line ends and tabs stay.
std::string printable(std::string_view bytes, bool keep_lines = false);

// One line of JSON in which what printable() escapes stands as \uNNNN; it reads back as the same value.
std::string printable_json(const json::value& value);

// Columns that the text takes: East Asian wide characters take two. REQUIRES: printable text.
std::size_t width_of(std::string_view text);

// "1 source", "2 sources".
std::string counted(std::size_t count, std::string_view noun);

void say(std::string_view text);       // to standard output, as it is
bool reader_of_stdout_has_gone();      // standard output is a pipe that nobody reads any more
void complain(std::string_view line);  // "hookonce: <line>" to standard error

// Complains of each error and of how many there were: "2 mistakes" + ending.
void complain_of_mistakes(const std::vector<std::string>& errors, std::string_view ending);

// Asks on the terminal; only `y` and `yes` are a yes.
bool confirmed(std::string_view question);

}  // namespace hookonce

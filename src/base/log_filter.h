// Facts that the log leaves out, at every level, because the program tells them in another way:
//
//   leave_out_of_log({"accepted", "delivered"});  // `hookonce forward` prints a line of its own for each
#pragma once

#include <initializer_list>
#include <string_view>

namespace hookonce {

// Replaces what was left out before. REQUIRES: literals, and no other thread yet.
void leave_out_of_log(std::initializer_list<std::string_view> facts);

}  // namespace hookonce

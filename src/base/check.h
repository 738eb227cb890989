// HK_CHECK(condition): the program's own invariants, on in every build.
//
// A failed check ends the process with one line that names the condition; the inbox is built to survive exactly that.
// It is never reachable from input: what a request, a file or a server can cause is a Status.
#pragma once

namespace hookonce {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace hookonce

#define HK_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::hookonce::check_failed(#condition, __FILE__, __LINE__))

// The sub-commands, one file each (cmd_NAME.cc): adding one adds a file and a line in cli.cc.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace hookonce {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Adds the sub-command to `root` and returns what runs it after parsing; the exit status is its result.
using Run = std::function<int()>;
Run add_serve(CLI::App& root);
Run add_forward(CLI::App& root);
Run add_check(CLI::App& root);
Run add_send(CLI::App& root);
Run add_hammer(CLI::App& root);
Run add_sink(CLI::App& root);
Run add_verify(CLI::App& root);
Run add_events(CLI::App& root);
Run add_show(CLI::App& root);
Run add_why(CLI::App& root);
Run add_replay(CLI::App& root);
Run add_tail(CLI::App& root);
Run add_status(CLI::App& root);
Run add_pause(CLI::App& root);
Run add_resume(CLI::App& root);
Run add_rejected(CLI::App& root);
Run add_store(CLI::App& root);
Run add_version(CLI::App& root);
Run add_completion(CLI::App& root);
Run add_man(CLI::App& root);

Run add_store_copy(CLI::App& store);  // `store copy`, under the command `store`

}  // namespace hookonce

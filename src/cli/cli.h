// The command line: parses, calls, prints. Exit status: 0 done, 1 failed, 2 wrong usage or configuration.
#pragma once

namespace hookonce {

int run_cli(int argc, char** argv);

}  // namespace hookonce

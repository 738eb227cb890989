#include "cli/cli.h"

int main(int argc, char** argv) {
  return hookonce::run_cli(argc, argv);
}

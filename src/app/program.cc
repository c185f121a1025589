#include "app/program.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

#include "app/build_version.h"
#include "app/command_tree.h"
#include "app/commands/commands.h"
#include "app/terminal.h"

namespace frazil::app {

int run_program(int argc, const char* const* argv) {
  CLI::App app("Frazil moves records from Kafka into Apache Iceberg tables, each exactly once.", "frazil");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("frazil ") + kVersion + " (" + kCommit + ")", "print the version");
  app.footer("Exit codes: 0 well, 1 the job failed, 2 wrong usage or configuration.");
  Chosen chosen;
  add_run(app, chosen);
  add_accept(app, chosen);
  add_rewind(app, chosen);
  add_plan(app, chosen);
  add_validate(app, chosen);
  add_inspect(app, chosen);
  add_catalog(app, chosen);
  add_convert(app, chosen);
  add_generate(app, chosen);
  add_demo(app, chosen);
  add_options(app, chosen);
  add_version(app, chosen);
  add_completion(app, chosen);
  add_man(app, chosen);
  if (const std::string unknown = unknown_command(read_command_tree(app), argc, argv); !unknown.empty()) {
    tell("error: " + unknown);
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is wrong usage.
    return app.exit(error, std::cout, std::cerr) == 0 ? kExitOk : kExitUsage;
  }
  const int exit_code = chosen();
  const int failure = output_error();
  if (failure == 0) return exit_code;
  // A reader that has seen enough (as in `| head`) needs no message.
  if (failure != EPIPE) tell(std::string("error: cannot write to stdout: ") + std::strerror(failure));
  return exit_code == kExitOk ? kExitFailed : exit_code;
}

}  // namespace frazil::app

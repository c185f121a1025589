// The commands of the program, each in a file of its own: add_x() declares its arguments and sets `chosen` to what runs
// it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace frazil::app {

// The file of a command whose target is a table: its name, and another that is taken too.
inline constexpr char kFileFlags[] = "--file,--catalog";

// Runs the command that the user chose and gives the exit code.
using Chosen = std::function<int()>;

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

void add_run(CLI::App& app, Chosen& chosen);
void add_accept(CLI::App& app, Chosen& chosen);
void add_rewind(CLI::App& app, Chosen& chosen);
void add_plan(CLI::App& app, Chosen& chosen);
void add_validate(CLI::App& app, Chosen& chosen);
void add_inspect(CLI::App& app, Chosen& chosen);
void add_convert(CLI::App& app, Chosen& chosen);
void add_generate(CLI::App& app, Chosen& chosen);
void add_demo(CLI::App& app, Chosen& chosen);
void add_options(CLI::App& app, Chosen& chosen);
void add_version(CLI::App& app, Chosen& chosen);
void add_completion(CLI::App& app, Chosen& chosen);
void add_man(CLI::App& app, Chosen& chosen);
void add_catalog(CLI::App& app, Chosen& chosen);

}  // namespace frazil::app

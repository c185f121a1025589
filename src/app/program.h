// The program: its command line. Exit codes: 0 well, 1 the job failed, 2 wrong usage or configuration.
#pragma once

namespace frazil::app {

int run_program(int argc, const char* const* argv);

}  // namespace frazil::app

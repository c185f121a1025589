#include <malloc.h>
#include <signal.h>

#include "app/program.h"

int main(int argc, char** argv) {
  // A peer that closes its connection, or a reader of stdout that ends, is an error of that write, not the end of all
  // pipelines. OpenSSL writes without MSG_NOSIGNAL.
  signal(SIGPIPE, SIG_IGN);
  // A file that may grow no further (ulimit -f) is an error of that write as well.
  signal(SIGXFSZ, SIG_IGN);
  // Message buffers of megabytes come and go all the time; giving them back to the kernel costs as much CPU as parsing
  // them.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  return frazil::app::run_program(argc, argv);
}

#include "app/demo/demo_kafka.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "base/interrupt.h"
#include "clients/kafka/mock_cluster.h"
#include "sources/generator/load_generator.h"

namespace frazil::app {

// Memory that both processes see. Texts are complete when their state says so.
struct DemoKafka::Shared {
  enum State : int { kStarting, kListening, kDone, kFailed };
  std::atomic<int> state{kStarting};
  std::atomic<int64_t> consumed{-1};  // -1: the pipeline has not begun
  std::atomic<int64_t> records{0};
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> spoiled{0};
  std::atomic<int64_t> tombstones{0};
  char bootstrap[256] = {};
  char error[1024] = {};

  void fail(const std::string& text) {
    std::strncpy(error, text.c_str(), sizeof(error) - 1);
    state = kFailed;
  }
};

namespace {

constexpr int64_t kTickMicros = 50'000;

void wait_a_tick(base::Interrupt& never) {
  never.wait_until(base::deadline_after(kTickMicros));
}

sources::LoadOptions load_options(const DemoLoad& load, const std::string& bootstrap) {
  sources::LoadOptions options;
  options.properties["bootstrap.servers"] = bootstrap;
  options.topic = load.topic;
  options.partitions = load.partitions;
  options.create_topic = false;
  options.records = load.records;
  options.record.bad_percent = load.bad_percent;
  options.lanes = 1;
  options.progress_interval_ms = 100;
  // Keys spread records evenly, but not to the byte: half of what the mock keeps leaves room.
  options.max_bytes_ahead = clients::MockCluster::kKeptBytesPerPartition * load.partitions / 2;
  return options;
}

}  // namespace

base::Result<std::unique_ptr<DemoKafka>> DemoKafka::start(const DemoLoad& load) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return base::unavailable("no memory to share with the demo's producer");
  auto* shared = new (memory) Shared;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    munmap(memory, sizeof(Shared));
    return base::unavailable("no process for the demo's producer");
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    // Ctrl-C goes to the whole group; the pipeline decides when the child ends.
    signal(SIGINT, SIG_IGN);
    run_child(load, *shared);
    _exit(0);
  }
  return std::unique_ptr<DemoKafka>(new DemoKafka(shared, child));
}

DemoKafka::~DemoKafka() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  munmap(shared_, sizeof(Shared));
}

void DemoKafka::run_child(const DemoLoad& load, Shared& shared) {
  auto cluster = clients::MockCluster::start();
  if (!cluster.ok()) return shared.fail(cluster.error().message());
  if (const auto status = (*cluster)->create_topic(load.topic, load.partitions); !status.ok()) {
    return shared.fail(status.error().message());
  }
  const std::string bootstrap = (*cluster)->bootstrap_servers();
  std::strncpy(shared.bootstrap, bootstrap.c_str(), sizeof(shared.bootstrap) - 1);
  shared.state = Shared::kListening;
  base::Interrupt never;
  while (shared.consumed < 0) wait_a_tick(never);

  sources::LoadOptions options = load_options(load, bootstrap);
  options.consumed_bytes = [&shared] { return shared.consumed.load(); };
  options.on_progress = [&shared](const sources::LoadProgress& progress) {
    shared.records = progress.records;
    shared.bytes = progress.bytes;
  };
  const auto report = sources::generate_load(options, never);
  if (!report.ok()) return shared.fail(report.error().message());
  shared.records = report->total.records;
  shared.bytes = report->total.bytes;
  shared.spoiled = report->spoiled_records;
  shared.tombstones = report->tombstones;
  shared.state = Shared::kDone;
  while (true) wait_a_tick(never);
}

base::Status DemoKafka::check_child() {
  if (shared_->state == Shared::kFailed)
    return base::unavailable(std::string("the demo's producer: ") + shared_->error);
  if (child_ > 0 && waitpid(child_, nullptr, WNOHANG) == child_) {
    child_ = -1;
    return base::unavailable("the process of the demo's Kafka ended by itself");
  }
  return {};
}

base::Result<std::string> DemoKafka::bootstrap_servers(base::MonoMicros deadline) {
  base::Interrupt never;
  while (shared_->state == Shared::kStarting) {
    TRY(check_child());
    if (base::mono_micros() > deadline) return base::unavailable("the demo's Kafka did not start in time");
    wait_a_tick(never);
  }
  TRY(check_child());
  return std::string(shared_->bootstrap);
}

void DemoKafka::set_consumed(int64_t bytes) {
  shared_->consumed = bytes;
}

base::Result<DemoProduced> DemoKafka::produced() {
  const bool is_done = shared_->state == Shared::kDone;
  if (!is_done) TRY(check_child());
  return DemoProduced{shared_->records, shared_->bytes, shared_->spoiled, shared_->tombstones, is_done};
}

}  // namespace frazil::app

// Metrics: counters, gauges and histograms by name and labels, rendered for Prometheus. Any thread.
// Names follow Prometheus: frazil_<noun>_<unit>[_total]. References stay valid for the registry's life.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.h"

namespace frazil::base {

class Counter {
 public:
  void add(int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

class Gauge {
 public:
  void set(double v) { value_.store(v, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Weighted samples in logarithmic buckets (8 per octave, so quantiles are within 9 %). Values are >= 0.
class Histogram {
 public:
  Histogram();
  void record(double value, int64_t weight = 1);
  int64_t count() const;
  double sum() const;
  // The value below which `q` (0 to 1) of the weight lies; 0 when empty.
  double quantile(double q) const;

 private:
  mutable Mutex mutex_;
  std::vector<int64_t> buckets_;
  int64_t count_ = 0;
  double sum_ = 0;
};

using Labels = std::map<std::string, std::string>;

class Metrics {
 public:
  Counter& counter(const std::string& name, const std::string& help_text, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help_text, const Labels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help_text, const Labels& labels = {});
  // Takes a gauge out of what is rendered: the thing that it measured is gone, or somebody else's now. Nobody may hold a
  // reference to it.
  void forget_gauge(const std::string& name, const Labels& labels);
  // Prometheus text exposition format 0.0.4; histograms as summaries with quantiles 0.5, 0.95, 0.99.
  std::string render_prometheus() const;

 private:
  template <typename T>
  struct Family {
    std::string help_text;
    std::map<std::string, std::unique_ptr<T>> by_labels;  // key: rendered labels
  };
  mutable Mutex mutex_;
  std::map<std::string, Family<Counter>> counters_;
  std::map<std::string, Family<Gauge>> gauges_;
  std::map<std::string, Family<Histogram>> histograms_;
};

}  // namespace frazil::base

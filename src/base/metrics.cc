#include "base/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace frazil::base {
namespace {

constexpr int kBucketsPerOctave = 8;
constexpr int kLowestOctave = -24;  // below 6e-8 everything is one bucket
constexpr int kBuckets = (64 - kLowestOctave) * kBucketsPerOctave;

size_t bucket_of(double value) {
  if (!(value > 0)) return 0;
  const double position = (std::log2(value) - kLowestOctave) * kBucketsPerOctave;
  return static_cast<size_t>(std::clamp(position, 0.0, kBuckets - 1.0));
}

double middle_of(size_t bucket) {
  return bucket == 0 ? 0 : std::exp2((static_cast<double>(bucket) + 0.5) / kBucketsPerOctave + kLowestOctave);
}

std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string rendered(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) {
    if (!out.empty()) out += ',';
    out += key + "=\"" + escaped(value) + "\"";
  }
  return out;
}

// As many digits as tell it from every other value.
std::string number(double value) { return fmt::format("{}", value); }

void header(std::string& out, const std::string& name, const std::string& help_text, const char* type) {
  out += "# HELP " + name + " " + help_text + "\n# TYPE " + name + " " + type + "\n";
}

std::string sample(const std::string& name, const std::string& labels, const std::string& value) {
  return name + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
}

template <typename T, typename Families>
T& find_or_add(Families& families, const std::string& name, const std::string& help_text, const Labels& labels) {
  auto& family = families[name];
  family.help_text = help_text;
  auto& slot = family.by_labels[rendered(labels)];
  if (!slot) slot = std::make_unique<T>();
  return *slot;
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets, 0) {}

void Histogram::record(double value, int64_t weight) {
  Lock lock(mutex_);
  buckets_[bucket_of(value)] += weight;
  count_ += weight;
  sum_ += value * static_cast<double>(weight);
}

int64_t Histogram::count() const {
  Lock lock(mutex_);
  return count_;
}

double Histogram::sum() const {
  Lock lock(mutex_);
  return sum_;
}

double Histogram::quantile(double q) const {
  Lock lock(mutex_);
  if (count_ == 0) return 0;
  const double wanted = q * static_cast<double>(count_);
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return middle_of(bucket);
  }
  return middle_of(buckets_.size() - 1);
}

Counter& Metrics::counter(const std::string& name, const std::string& help_text, const Labels& labels) {
  Lock lock(mutex_);
  return find_or_add<Counter>(counters_, name, help_text, labels);
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help_text, const Labels& labels) {
  Lock lock(mutex_);
  return find_or_add<Gauge>(gauges_, name, help_text, labels);
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help_text, const Labels& labels) {
  Lock lock(mutex_);
  return find_or_add<Histogram>(histograms_, name, help_text, labels);
}

void Metrics::forget_gauge(const std::string& name, const Labels& labels) {
  Lock lock(mutex_);
  const auto family = gauges_.find(name);
  if (family != gauges_.end()) family->second.by_labels.erase(rendered(labels));
}

std::string Metrics::render_prometheus() const {
  Lock lock(mutex_);
  std::string out;
  for (const auto& [name, family] : counters_) {
    header(out, name, family.help_text, "counter");
    for (const auto& [labels, counter] : family.by_labels) out += sample(name, labels, std::to_string(counter->value()));
  }
  for (const auto& [name, family] : gauges_) {
    header(out, name, family.help_text, "gauge");
    for (const auto& [labels, gauge] : family.by_labels) out += sample(name, labels, number(gauge->value()));
  }
  for (const auto& [name, family] : histograms_) {
    header(out, name, family.help_text, "summary");
    for (const auto& [labels, histogram] : family.by_labels) {
      const std::string prefix = labels.empty() ? "" : labels + ",";
      for (const double q : {0.5, 0.95, 0.99}) {
        out += sample(name, prefix + "quantile=\"" + number(q) + "\"", number(histogram->quantile(q)));
      }
      out += sample(name + "_sum", labels, number(histogram->sum()));
      out += sample(name + "_count", labels, std::to_string(histogram->count()));
    }
  }
  return out;
}

}  // namespace frazil::base

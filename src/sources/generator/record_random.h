// RecordRandom: the random numbers of one generated record, a stream that seed and index decide.
//
// Not base/random.h: these must be the same on every run and in every process. One record, one lane; pure.
#pragma once

#include <cmath>
#include <cstdint>

namespace frazil::sources {

class RecordRandom {
 public:
  // `stream` keeps decisions about one record apart (its values, whether it is spoiled).
  RecordRandom(uint64_t seed, uint64_t index, uint64_t stream = 0) : state_(mix(seed ^ mix(index ^ mix(stream)))) {}

  // SplitMix64.
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  // Uniform in [0, bound), bound > 0; the bias of 2^-64 * bound does not matter here.
  uint64_t below(uint64_t bound) { return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64); }
  bool one_in(double probability) { return unit() < probability; }
  // [0, 1)
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

// Ranks 1 .. n with probability proportional to rank^-s, s != 1: rejection-inversion (Hörmann and Derflinger, 1996).
class Zipf {
 public:
  Zipf(uint64_t n, double s)
      : n_(n), s_(s), at_first_(integral(1.5) - 1), at_last_(integral(static_cast<double>(n) + 0.5)),
        always_(2 - inverse(integral(2.5) - std::pow(2.0, -s))) {}

  uint64_t draw(RecordRandom& random) const {
    for (;;) {
      const double u = at_last_ + random.unit() * (at_first_ - at_last_);
      const double x = inverse(u);
      double k = std::floor(x + 0.5);
      if (k < 1) k = 1;
      if (k > static_cast<double>(n_)) k = static_cast<double>(n_);
      if (k - x <= always_ || u >= integral(k + 0.5) - std::pow(k, -s_)) return static_cast<uint64_t>(k);
    }
  }

 private:
  double integral(double x) const { return (std::pow(x, 1 - s_) - 1) / (1 - s_); }
  double inverse(double y) const { return std::pow(1 + y * (1 - s_), 1 / (1 - s_)); }
  uint64_t n_;
  double s_, at_first_, at_last_, always_;
};

}  // namespace frazil::sources

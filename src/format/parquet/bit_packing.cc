#include "format/parquet/bit_packing.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace frazil::format {
namespace {

using columnar::Buffer;

constexpr int64_t kGroup = 8;
// Below this many equal values a run costs more than it saves: two headers, and the reader's change of mode.
constexpr int64_t kMinRun = 16;
constexpr int64_t kMinRunBytes = 8;  // of bits

// Packs one group into kWidth bytes. May write up to 16 bytes more than that.
template <typename T, int kWidth>
void pack_group(const T* values, uint8_t* out) {
  if constexpr (kWidth == 0) {
    return;
  } else if constexpr (kWidth <= 8) {
    uint64_t bits = 0;
    for (int i = 0; i < kGroup; ++i) bits |= static_cast<uint64_t>(values[i]) << (i * kWidth);
    std::memcpy(out, &bits, sizeof bits);
  } else {
    // Two values are at most 64 bits; quarters of the group are put together in a wide number by and by.
    unsigned __int128 bits = 0;
    int filled = 0;
    for (int i = 0; i < kGroup; i += 2) {
      const uint64_t pair = static_cast<uint64_t>(values[i]) | static_cast<uint64_t>(values[i + 1]) << kWidth;
      bits |= static_cast<unsigned __int128>(pair) << filled;
      filled += 2 * kWidth;
      if (filled >= 64) {
        const auto low = static_cast<uint64_t>(bits);
        std::memcpy(out, &low, sizeof low);
        out += sizeof low;
        bits >>= 64;
        filled -= 64;
      }
    }
    const auto low = static_cast<uint64_t>(bits);
    std::memcpy(out, &low, sizeof low);
  }
}

template <typename T, int kWidth>
void pack_groups(const T* values, int64_t groups, uint8_t* out) {
  for (int64_t group = 0; group < groups; ++group) {
    pack_group<T, kWidth>(values, out);
    values += kGroup;
    out += kWidth;
  }
}

template <typename T, int... kWidths>
constexpr auto packers_of(std::integer_sequence<int, kWidths...>) {
  return std::array<void (*)(const T*, int64_t, uint8_t*), sizeof...(kWidths)>{&pack_groups<T, kWidths>...};
}

template <typename T>
void append_groups(const T* values, int64_t count, int width, Buffer& out) {
  constexpr auto kPackers = packers_of<T>(std::make_integer_sequence < int, sizeof(T) == 1 ? 9 : 33 > ());
  const auto pack = kPackers[static_cast<size_t>(width)];
  const int64_t whole = count / kGroup;
  const int64_t rest = count % kGroup;
  const int64_t at = out.size();
  out.resize(at + (whole + (rest != 0 ? 1 : 0)) * width);
  pack(values, whole, out.data() + at);
  if (rest == 0) return;
  T last[kGroup] = {};
  std::memcpy(last, values + whole * kGroup, static_cast<size_t>(rest) * sizeof(T));
  pack(last, 1, out.data() + at + whole * width);
}

template <typename T>
bool is_one_value(const T* group) {
  T difference = 0;
  for (int i = 1; i < kGroup; ++i) difference = static_cast<T>(difference | (group[i] ^ group[0]));
  return difference == 0;
}

template <typename T>
void append_literal(const T* values, int64_t count, int width, Buffer& out) {
  if (count == 0) return;
  append_varint(static_cast<uint64_t>((count + kGroup - 1) / kGroup) << 1 | 1, out);
  append_groups(values, count, width, out);
}

template <typename T>
void append_runs(const T* values, int64_t count, int width, Buffer& out) {
  int64_t literal = 0;  // where the values that are not written yet begin
  int64_t at = 0;
  while (at + kGroup <= count) {
    if (!is_one_value(values + at)) {
      at += kGroup;
      continue;
    }
    int64_t end = at + kGroup;
    while (end < count && values[end] == values[at]) ++end;
    if (end - at < kMinRun && end < count) {
      at += kGroup;
      continue;
    }
    append_literal(values + literal, at - literal, width, out);
    append_run(static_cast<uint32_t>(values[at]), end - at, width, out);
    literal = at = end;
  }
  append_literal(values + literal, count - literal, width, out);
}

void append_literal_bits(const uint8_t* bits, int64_t count, Buffer& out) {
  if (count == 0) return;
  const int64_t bytes = (count + 7) / 8;
  append_varint(static_cast<uint64_t>(bytes) << 1 | 1, out);
  out.append(bits, bytes);
}

}  // namespace

int bit_width(uint64_t highest) {
  return static_cast<int>(std::bit_width(highest));
}

void append_varint(uint64_t value, Buffer& out) {
  while (value >= 0x80) {
    out.push(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push(static_cast<uint8_t>(value));
}

void append_packed(const uint32_t* values, int64_t count, int width, Buffer& out) {
  append_groups(values, count, width, out);
}

void append_packed(const uint8_t* values, int64_t count, int width, Buffer& out) {
  append_groups(values, count, width, out);
}

void append_hybrid(const uint32_t* values, int64_t count, int width, Buffer& out) {
  append_runs(values, count, width, out);
}

void append_hybrid(const uint8_t* values, int64_t count, int width, Buffer& out) {
  append_runs(values, count, width, out);
}

void append_hybrid_bits(const uint8_t* bits, int64_t count, Buffer& out) {
  const int64_t whole = count / 8;
  int64_t literal = 0;
  int64_t at = 0;
  while (at < whole) {
    const uint8_t first = bits[at];
    int64_t end = at + 1;
    if (first == 0 || first == 0xFF) {
      while (end < whole && bits[end] == first) ++end;
    }
    if (end - at >= kMinRunBytes) {
      append_literal_bits(bits + literal, (at - literal) * 8, out);
      append_run(first & 1, (end - at) * 8, 1, out);
      literal = end;
    }
    at = end;
  }
  append_literal_bits(bits + literal, count - literal * 8, out);
}

void append_run(uint32_t value, int64_t count, int width, Buffer& out) {
  append_varint(static_cast<uint64_t>(count) << 1, out);
  out.append(&value, (width + 7) / 8);
}

}  // namespace frazil::format

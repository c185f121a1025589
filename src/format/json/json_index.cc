#include "format/json/json_index.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define FRAZIL_X86_KERNELS 1
#endif

namespace frazil::format {
namespace {

constexpr size_t kBlock = 64;
static_assert(JsonIndex::kPadding == kBlock);

// Memory for documents up to this size is kept; that for larger ones goes with them.
constexpr size_t kKeptCapacity = size_t{1} << 20;

// The next document mostly lies behind this one: it is fetched meanwhile.
constexpr size_t kAhead = 2048;

// --- Any processor: words of eight bytes ---

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;
constexpr uint64_t kLows = ~kHighs;

// The high bit of each byte that is zero; of bytes below 0x20 when their lowest five bits were taken out.
uint64_t zero_bytes(uint64_t word) { return ~(((word & kLows) + kLows) | word) & kHighs; }

uint64_t stops_of_word(uint64_t word) {
  const uint64_t hits = zero_bytes(word & (kOnes * 0xe0)) | zero_bytes(word ^ kOnes * '"') | zero_bytes(word ^ kOnes * '\\');
  return (hits >> 7) * 0x0102040810204080 >> 56;
}

// One bit for each of 64 bytes.
uint64_t index_plain(const char* from, char* to, uint64_t* all) {
  uint64_t stops = 0;
  for (size_t i = 0; i < kBlock; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    std::memcpy(to + i, &word, 8);
    *all |= word;
    stops |= stops_of_word(word) << i;
  }
  return stops;
}

bool load_plain(const char* from, size_t size, char* to, uint64_t* stops) {
  uint64_t all = 0;
  size_t at = 0;
  for (; size - at >= kBlock; at += kBlock) *stops++ = index_plain(from + at, to + at, &all);
  char rest[kBlock] = {};
  std::memcpy(rest, from + at, size - at);
  *stops = index_plain(rest, to + at, &all);
  std::memset(to + at + kBlock, 0, JsonIndex::kPadding);
  return (all & kHighs) != 0;
}

#if FRAZIL_X86_KERNELS

// --- AVX2 ---

__attribute__((target("avx2"))) uint64_t index_avx2(const char* from, char* to, __m256i* all) {
  uint64_t stops = 0;
  for (int half = 0; half < 2; ++half) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + half);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + half, bytes);
    *all = _mm256_or_si256(*all, bytes);
    const __m256i is_control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
    const __m256i is_quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    const __m256i is_backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    const __m256i is_stop = _mm256_or_si256(is_control, _mm256_or_si256(is_quote, is_backslash));
    stops |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(is_stop))) << (32 * half);
  }
  return stops;
}

__attribute__((target("avx2"))) bool load_avx2(const char* from, size_t size, char* to, uint64_t* stops) {
  __m256i all = _mm256_setzero_si256();
  size_t at = 0;
  for (; size - at >= kBlock; at += kBlock) *stops++ = index_avx2(from + at, to + at, &all);
  char rest[kBlock] = {};
  std::memcpy(rest, from + at, size - at);
  *stops = index_avx2(rest, to + at, &all);
  std::memset(to + at + kBlock, 0, JsonIndex::kPadding);
  return _mm256_movemask_epi8(all) != 0;
}

// --- AVX-512 ---

__attribute__((target("avx512bw"))) uint64_t index_avx512(__m512i bytes, char* to, __m512i* all) {
  _mm512_storeu_si512(to, bytes);
  *all = _mm512_or_si512(*all, bytes);
  return _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)) | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
         _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
}

__attribute__((target("avx512bw"))) bool load_avx512(const char* from, size_t size, char* to, uint64_t* stops) {
  __m512i all = _mm512_setzero_si512();
  size_t at = 0;
  for (; size - at >= kBlock; at += kBlock) {
    _mm_prefetch(from + at + kAhead, _MM_HINT_T0);
    *stops++ = index_avx512(_mm512_loadu_si512(from + at), to + at, &all);
  }
  // Bytes that the mask leaves out are not touched, so the page behind the document need not exist.
  const __mmask64 rest = (uint64_t{1} << (size - at)) - 1;
  *stops = index_avx512(_mm512_maskz_loadu_epi8(rest, from + at), to + at, &all);
  _mm512_storeu_si512(to + at + kBlock, _mm512_setzero_si512());
  return _mm512_movepi8_mask(all) != 0;
}

JsonIndex::Load load_of(JsonKernel kernel) {
  if (kernel == JsonKernel::kAvx512) return load_avx512;
  return kernel == JsonKernel::kAvx2 ? load_avx2 : load_plain;
}

#else

JsonIndex::Load load_of(JsonKernel) { return load_plain; }

#endif

}  // namespace

bool has_kernel(JsonKernel kernel) {
#if FRAZIL_X86_KERNELS
  if (kernel == JsonKernel::kAvx512) return __builtin_cpu_supports("avx512bw");
  if (kernel == JsonKernel::kAvx2) return __builtin_cpu_supports("avx2");
#endif
  return kernel == JsonKernel::kPlain;
}

JsonKernel best_kernel() {
  for (const JsonKernel kernel : {JsonKernel::kAvx512, JsonKernel::kAvx2}) {
    if (has_kernel(kernel)) return kernel;
  }
  return JsonKernel::kPlain;
}

JsonIndex::JsonIndex(JsonKernel kernel) : load_(load_of(kernel)) {}

std::string_view JsonIndex::load(std::string_view document) {
  const size_t size = document.size();
  const bool is_too_small = size >= capacity_;
  const bool is_too_large = capacity_ > kKeptCapacity && size < kKeptCapacity;
  if (is_too_small || is_too_large) {
    capacity_ = is_too_large ? kKeptCapacity : std::max(2 * size, size_t{4096});
    const size_t blocks = capacity_ / kBlock + 1;
    text_ = std::make_unique_for_overwrite<char[]>((blocks + 1) * kBlock);
    scratch_ = std::make_unique_for_overwrite<char[]>(capacity_ + kPadding);
    stops_ = std::make_unique_for_overwrite<uint64_t[]>(blocks + 1);  // stops_from() may reach into one more
  }
  has_non_ascii_ = load_(document.data(), size, text_.get(), stops_.get());
  return {text_.get(), size};
}

// Steps of 64 characters from where the search began, so that the number of steps depends on the length alone.
const char* JsonIndex::find_far_stop(size_t offset) const {
  uint64_t bits = 0;
  for (; bits == 0; offset += 64) {
    const uint64_t* const word = &stops_[offset / 64];
    bits = word[0] >> (offset % 64) | word[1] << 1 << (63 - offset % 64);
  }
  return text_.get() + offset - 64 + std::countr_zero(bits);
}

}  // namespace frazil::format

// A wall clock that tests move while a program runs: preloaded, it adds the seconds in the file JUMPING_CLOCK (a decimal number, changed at
// any time) to every reading of the real-time clock, and holds timed waits to it as a kernel does: a wait until 12:00 that a jump back makes
// an hour longer takes an hour longer. The monotonic clock is left alone. Unlike libfaketime it covers C11's condition variables, which
// the Kafka client waits with.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

enum { kFileBytes = 32, kLookMillis = 20 };

static const char* offset_text;
static int (*real_clock_gettime)(clockid_t, struct timespec*);
static int (*real_timedwait)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*);

__attribute__((constructor)) static void begin(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  const char* name = getenv("JUMPING_CLOCK");
  const int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  void* text = file < 0 ? MAP_FAILED : mmap(NULL, kFileBytes, PROT_READ, MAP_SHARED, file, 0);
  if (text != MAP_FAILED) offset_text = text;
}

static long long offset_seconds(void) { return offset_text == NULL ? 0 : atoll(offset_text); }

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

static int read_clock(clockid_t clock, struct timespec* now) {
  if (real_clock_gettime == NULL) real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const int failed = real_clock_gettime(clock, now);
  if (!failed && is_wall(clock)) now->tv_sec += offset_seconds();
  return failed;
}

int clock_gettime(clockid_t clock, struct timespec* now) { return read_clock(clock, now); }

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  const int failed = read_clock(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return failed;
}

time_t time(time_t* out) {
  struct timespec now;
  read_clock(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec* now, int base) { return base == TIME_UTC && read_clock(CLOCK_REALTIME, now) == 0 ? base : 0; }

// In short pieces: after each the clock is looked at again.
int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, const struct timespec* restrict deadline) {
  while (1) {
    struct timespec now, piece;
    read_clock(CLOCK_REALTIME, &now);
    if (now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec)) return 110;  // ETIMEDOUT
    const long long left = (deadline->tv_sec - now.tv_sec) * 1000000000LL + deadline->tv_nsec - now.tv_nsec;
    const long long step = left < kLookMillis * 1000000LL ? left : kLookMillis * 1000000LL;
    real_clock_gettime(CLOCK_REALTIME, &piece);
    piece.tv_sec += (piece.tv_nsec + step) / 1000000000LL;
    piece.tv_nsec = (piece.tv_nsec + step) % 1000000000LL;
    const int ended = real_timedwait(condition, mutex, &piece);
    if (ended != 110) return ended;
  }
}

int cnd_timedwait(cnd_t* restrict condition, mtx_t* restrict mutex, const struct timespec* restrict deadline) {
  const int ended = pthread_cond_timedwait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex, deadline);
  return ended == 0 ? thrd_success : ended == 110 ? thrd_timedout : thrd_error;
}

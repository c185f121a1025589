// C11's threads in terms of POSIX's, for builds under ThreadSanitizer alone.
//
// librdkafka uses <threads.h>. glibc implements it beside its pthread functions, where ThreadSanitizer does not look:
// it crashes in a thread it has not seen begin, and sees no order where a mutex made one. glibc's mtx_t, cnd_t,
// once_flag and thrd_t have the layout of their POSIX counterparts.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

int answer(int error) {
  if (error == 0) return thrd_success;
  if (error == ETIMEDOUT) return thrd_timedout;
  if (error == EBUSY) return thrd_busy;
  return error == ENOMEM ? thrd_nomem : thrd_error;
}

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* pointer) {
  const std::unique_ptr<Start> start(static_cast<Start*>(pointer));
  return reinterpret_cast<void*>(static_cast<intptr_t>(start->function(start->argument)));
}

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));
static_assert(sizeof(thrd_t) == sizeof(pthread_t) && sizeof(once_flag) == sizeof(pthread_once_t));

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int error = pthread_create(thread, nullptr, run, start.get());
  if (error == 0) start.release();
  return answer(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (error == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return answer(error);
}

int mtx_init(mtx_t* mutex, int type) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return answer(error);
}

int mtx_lock(mtx_t* mutex) { return answer(pthread_mutex_lock(posix(mutex))); }
int mtx_trylock(mtx_t* mutex) noexcept { return answer(pthread_mutex_trylock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) noexcept { return answer(pthread_mutex_unlock(posix(mutex))); }
void mtx_destroy(mtx_t* mutex) noexcept { pthread_mutex_destroy(posix(mutex)); }

int cnd_init(cnd_t* condition) noexcept { return answer(pthread_cond_init(posix(condition), nullptr)); }
int cnd_signal(cnd_t* condition) noexcept { return answer(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) noexcept { return answer(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) { return answer(pthread_cond_wait(posix(condition), posix(mutex))); }
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return answer(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) noexcept { pthread_cond_destroy(posix(condition)); }

void call_once(once_flag* flag, void (*function)()) { pthread_once(reinterpret_cast<pthread_once_t*>(flag), function); }

}  // extern "C"

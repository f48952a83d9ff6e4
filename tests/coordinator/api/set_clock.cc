// Preloaded into a program of a test: its wall clock is the machine's plus the milliseconds that the file
// $PODIUM_TEST_CLOCK holds at that moment. Every other clock stays as it is.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

namespace {

long long offset_millis() {
  const char* path = getenv("PODIUM_TEST_CLOCK");
  FILE* file = path ? fopen(path, "re") : nullptr;
  if (!file) return 0;
  long long millis = 0;
  if (fscanf(file, "%lld", &millis) != 1) millis = 0;
  fclose(file);
  return millis;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (result != 0 || clock != CLOCK_REALTIME) return result;
  const long long nanos = time->tv_sec * 1'000'000'000LL + time->tv_nsec + offset_millis() * 1'000'000LL;
  time->tv_sec = nanos / 1'000'000'000LL;
  time->tv_nsec = nanos % 1'000'000'000LL;
  return 0;
}

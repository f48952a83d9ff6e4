// A fiber: a function with its own stack that runs until it pauses and goes on where it paused. All fibers of
// a pool run on the thread that resumes them. A fiber that is never resumed again is dropped without
// unwinding, so what runs in it must own nothing.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace podium::shim {

class Fiber {
 public:
  using Body = void (*)(void* argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void start(Body body, void* argument);  // to be run from the next resume on; drops what ran before
  void resume();                          // returns when the body pauses or returns
  void pause();                           // from within the body

 private:
  static void enter(unsigned high, unsigned low);
  void switch_to_fiber();

  std::byte* stack_ = nullptr;
  ucontext_t first_{};  // entered once; from then on jumps, which need no system call
  jmp_buf inside_{};
  jmp_buf outside_{};
  Body body_ = nullptr;
  void* argument_ = nullptr;
  bool entered_ = false;
  bool returned_ = false;  // the body; the fiber itself goes on with the next
  // What the address sanitizer must be told about the two stacks.
  void* outside_fake_stack_ = nullptr;
  void* inside_fake_stack_ = nullptr;
  const void* outside_bottom_ = nullptr;
  std::size_t outside_size_ = 0;
};

}  // namespace podium::shim

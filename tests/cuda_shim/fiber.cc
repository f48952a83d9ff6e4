#include "tests/cuda_shim/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <system_error>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace podium::shim {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 512 << 10;  // its redzones make frames large
#else
constexpr std::size_t kStackBytes = 64 << 10;
#endif

void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                   [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom,
                  [[maybe_unused]] std::size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
#endif
}

}  // namespace

Fiber::Fiber() {
  void* const memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "a fiber's stack");
  stack_ = static_cast<std::byte*>(memory);
}

Fiber::~Fiber() { ::munmap(stack_, kStackBytes); }

void Fiber::start(Body body, void* argument) {
  body_ = body;
  argument_ = argument;
  if (returned_) {  // its stack is as it was: needs no system call
    returned_ = false;
    return;
  }
  entered_ = false;
  ::getcontext(&first_);
  first_.uc_stack.ss_sp = stack_;
  first_.uc_stack.ss_size = kStackBytes;
  first_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&first_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
  after_switch(nullptr, &self->outside_bottom_, &self->outside_size_);
  for (;;) {
    self->body_(self->argument_);
    self->returned_ = true;
    self->pause();  // until it is started again
  }
}

void Fiber::resume() {
  if (::_setjmp(outside_) != 0) {
    after_switch(outside_fake_stack_, nullptr, nullptr);
    return;
  }
  before_switch(&outside_fake_stack_, stack_, kStackBytes);
  switch_to_fiber();
}

void Fiber::switch_to_fiber() {
  if (entered_) ::_longjmp(inside_, 1);
  entered_ = true;
  ::setcontext(&first_);
}

void Fiber::pause() {
  if (::_setjmp(inside_) != 0) {
    after_switch(inside_fake_stack_, &outside_bottom_, &outside_size_);
    return;
  }
  before_switch(&inside_fake_stack_, outside_bottom_, outside_size_);
  ::_longjmp(outside_, 1);
}

}  // namespace podium::shim

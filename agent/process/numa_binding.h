// Keeps a program near its GPU: on the processors of one NUMA node, with its memory there while there is any.
// Uses system calls, without libnuma and without the C++ library, because the shim uses it.
#pragma once

#include <sched.h>

namespace podium {

// The processors that a list of the kernel's names ("0-31,64-95"); false where it is not such a list or names
// one too high for a cpu_set_t.
bool parse_cpu_list(const char* list, cpu_set_t* processors);

// Binds the calling thread and the processes that it starts. Failures are printed on standard error, and the
// program runs without the binding.
void bind_to_numa_node(int node);

}  // namespace podium

// Keeps a program near its GPU: on the processors of one NUMA node, with its memory there as long as there is
// any. By system calls, without libnuma; for the shim, so no C++ library.
#pragma once

#include <sched.h>

namespace podium {

// The processors that a list of the kernel's names ("0-31,64-95"); false where it is not such a list or names
// one too high for a cpu_set_t.
bool parse_cpu_list(const char* list, cpu_set_t* processors);

// Of the calling thread and what it starts. What cannot be done is said on standard error, and the program
// runs on without.
void bind_to_numa_node(int node);

}  // namespace podium

#include "agent/process/numa_binding.h"

#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "agent/process/kernel_text.h"

namespace podium {
namespace {

constexpr int kMaxNodes = 1024;
constexpr int kWordBits = 8 * sizeof(unsigned long);

bool read_cpu_list(int node, cpu_set_t* processors) {
  char path[64];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
  char text[4096];
  return read_kernel_text(path, text) && parse_cpu_list(text, processors);
}

}  // namespace

bool parse_cpu_list(const char* list, cpu_set_t* processors) {
  CPU_ZERO(processors);
  while (*list && *list != '\n') {
    char* end = nullptr;
    const long first = strtol(list, &end, 10);
    if (end == list) return false;
    long last = first;
    if (*end == '-') {
      list = end + 1;
      last = strtol(list, &end, 10);
      if (end == list) return false;
    }
    if (first < 0 || last < first || last >= CPU_SETSIZE) return false;
    for (long cpu = first; cpu <= last; ++cpu) CPU_SET(static_cast<size_t>(cpu), processors);
    if (*end && *end != ',' && *end != '\n') return false;
    list = *end == ',' ? end + 1 : end;
  }
  return CPU_COUNT(processors) > 0;
}

void bind_to_numa_node(int node) {
  cpu_set_t processors;
  if (!read_cpu_list(node, &processors) || sched_setaffinity(0, sizeof processors, &processors) != 0)
    fprintf(stderr, "podium-shim: cannot run on the processors of NUMA node %d: %s; going on without\n", node,
            strerror(errno));
  // Preferred, not bound: a task that needs more than the node has goes on with memory further away.
  unsigned long nodes[kMaxNodes / kWordBits] = {};
  if (node >= kMaxNodes) return;
  nodes[node / kWordBits] = 1UL << (node % kWordBits);
  if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, kMaxNodes) != 0)
    fprintf(stderr, "podium-shim: cannot take memory of NUMA node %d: %s; going on without\n", node,
            strerror(errno));
}

}  // namespace podium

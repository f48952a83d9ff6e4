#include "worker/comm/nccl_library.h"

#include <dlfcn.h>

namespace podium::nccl {
namespace {

constexpr char kRemedy[] =
    "install NCCL 2.18 or newer (libnccl2), or set PODIUM_COMMUNICATOR=staged, which is slow";

template <class Function>
void find(void* library, const std::string& file, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) throw Unavailable(file + " lacks " + name + ": " + kRemedy);
}

// 21005 is 2.10.5.
std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

Library open_library(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Unavailable("ranks on several GPUs need NCCL, which cannot be opened (" + std::string(::dlerror()) +
                      "): " + kRemedy);
  Library library{};
  find(handle, name, library.get_version, "ncclGetVersion");
  find(handle, name, library.get_unique_id, "ncclGetUniqueId");
  find(handle, name, library.comm_init_rank_config, "ncclCommInitRankConfig");
  find(handle, name, library.comm_finalize, "ncclCommFinalize");
  find(handle, name, library.comm_destroy, "ncclCommDestroy");
  find(handle, name, library.comm_abort, "ncclCommAbort");
  find(handle, name, library.comm_get_async_error, "ncclCommGetAsyncError");
  find(handle, name, library.get_error_string, "ncclGetErrorString");
  find(handle, name, library.get_last_error, "ncclGetLastError");
  find(handle, name, library.all_reduce, "ncclAllReduce");
  find(handle, name, library.reduce_scatter, "ncclReduceScatter");
  find(handle, name, library.all_gather, "ncclAllGather");
  find(handle, name, library.send, "ncclSend");
  find(handle, name, library.receive, "ncclRecv");
  int version = 0;
  if (library.get_version(&version) != kSuccess || version < kOldestVersion)
    throw Unavailable(name + " is of version " + version_text(version) + ": " + kRemedy);
  return library;
}

}  // namespace podium::nccl

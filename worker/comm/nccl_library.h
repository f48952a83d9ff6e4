// NCCL is opened at run time, so that one build of the worker also runs on machines without it. The
// declarations are those of nccl.h 2.18, which later versions keep; worker/comm/nccl_check.cc compares them
// with the toolkit's header.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

namespace podium::nccl {

using Comm = struct ncclComm*;
using Stream = void*;  // a cudaStream_t

struct UniqueId {
  char bytes[128];
};

// ncclResult_t
enum Result : int {
  kSuccess = 0,
  kSystemError = 2,
  kRemoteError = 6,
  kInProgress = 7,
};

// ncclDataType_t
enum DataType : int { kInt8 = 0, kFloat16 = 6, kFloat32 = 7, kBfloat16 = 9 };

// ncclRedOp_t
enum Operation : int { kSum = 0, kMax = 2 };

inline constexpr int kOldestVersion = 21800;

// ncclConfig_t as of that version: NCCL takes what lies behind its end as not set.
struct Config {
  static constexpr int kUndefined = std::numeric_limits<int>::min();
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = kOldestVersion;
  int blocking = kUndefined;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
};

struct Library {
  Result (*get_version)(int*);
  Result (*get_unique_id)(UniqueId*);
  Result (*comm_init_rank_config)(Comm*, int, UniqueId, int, Config*);
  Result (*comm_finalize)(Comm);
  Result (*comm_destroy)(Comm);
  Result (*comm_abort)(Comm);
  Result (*comm_get_async_error)(Comm, Result*);
  const char* (*get_error_string)(Result);
  const char* (*get_last_error)(Comm);
  Result (*all_reduce)(const void*, void*, std::size_t, DataType, Operation, Comm, Stream);
  Result (*reduce_scatter)(const void*, void*, std::size_t, DataType, Operation, Comm, Stream);
  Result (*all_gather)(const void*, void*, std::size_t, DataType, Comm, Stream);
  Result (*send)(const void*, std::size_t, DataType, int, Comm, Stream);
  Result (*receive)(void*, std::size_t, DataType, int, Comm, Stream);
};

inline constexpr char kLibraryName[] = "libnccl.so.2";

// This machine has no NCCL that can be used; the message says what to do.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Stays open until the process ends.
Library open_library(const std::string& name = kLibraryName);

}  // namespace podium::nccl

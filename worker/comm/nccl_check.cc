// Holds worker/comm/nccl_library.h to the toolkit's nccl.h, where there is one: nothing here runs.
#include <nccl.h>

#include <type_traits>

#include "worker/comm/nccl_library.h"

namespace podium::nccl {
namespace {

static_assert(NCCL_VERSION_CODE >= kOldestVersion);
static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId) && std::is_trivially_copyable_v<UniqueId>);
static_assert(int{kSuccess} == ncclSuccess && int{kSystemError} == ncclSystemError &&
              int{kRemoteError} == ncclRemoteError && int{kInProgress} == ncclInProgress);
static_assert(int{kInt8} == ncclInt8 && int{kFloat16} == ncclFloat16 && int{kFloat32} == ncclFloat32 &&
              int{kBfloat16} == ncclBfloat16);
static_assert(int{kSum} == ncclSum && int{kMax} == ncclMax);
static_assert(Config::kUndefined == NCCL_CONFIG_UNDEF_INT);
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size) &&
              offsetof(Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize) &&
              offsetof(Config, min_ctas) == offsetof(ncclConfig_t, minCTAs) &&
              offsetof(Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs) &&
              offsetof(Config, net_name) == offsetof(ncclConfig_t, netName) &&
              offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(ncclConfig_t NCCL_CONFIG_INITIALIZER.magic == Config{}.magic);

// An argument as C passes it: enums as int, pointers as pointers, the unique id as bytes of its own size.
template <class T>
constexpr std::size_t passed = std::is_pointer_v<T> ? 1
                               : std::is_enum_v<T>  ? sizeof(int) * 1000
                                                    : sizeof(T) * 1000;

template <class... Ours, class... Theirs>
constexpr bool same(Result (*)(Ours...), ncclResult_t (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs))
    return false;
  else
    return (true && ... && (passed<Ours> == passed<Theirs>));
}

#define PODIUM_SAME(member, function) static_assert(same(decltype(Library::member){}, decltype(&function){}))
PODIUM_SAME(get_version, ncclGetVersion);
PODIUM_SAME(get_unique_id, ncclGetUniqueId);
PODIUM_SAME(comm_init_rank_config, ncclCommInitRankConfig);
PODIUM_SAME(comm_finalize, ncclCommFinalize);
PODIUM_SAME(comm_destroy, ncclCommDestroy);
PODIUM_SAME(comm_abort, ncclCommAbort);
PODIUM_SAME(comm_get_async_error, ncclCommGetAsyncError);
PODIUM_SAME(all_reduce, ncclAllReduce);
PODIUM_SAME(reduce_scatter, ncclReduceScatter);
PODIUM_SAME(all_gather, ncclAllGather);
PODIUM_SAME(send, ncclSend);
PODIUM_SAME(receive, ncclRecv);

}  // namespace
}  // namespace podium::nccl

#include "tests/worker/comm/fake_nccl.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/worker/comm/thread_device.h"
#include "worker/comm/reduction.h"

namespace podium {
namespace {

using Bytes = std::vector<std::byte>;

// What the ranks of one communicator share.
struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0;
  int joined = 0;
  int finalised = 0;
  struct Exchange {
    std::vector<Bytes> parts;
    int arrived = 0;
  };
  std::map<int, Exchange> exchanges;  // by the number of the operation
};

struct Member {
  std::shared_ptr<Group> group;
  int rank = 0;
  int operations = 0;
  bool finalising = false;
  std::atomic<bool> aborted{false};
};

std::mutex registry_mutex;
std::map<std::string, std::shared_ptr<Group>> registry;
std::atomic<int> open_count{0};

}  // namespace

namespace nccl {
struct ncclComm {
  std::shared_ptr<Member> member;
};
}  // namespace nccl

namespace {

using namespace nccl;

// Runs on the stream's thread: gives this rank's bytes, and takes everybody's when all have come.
using Take = std::function<void(const std::vector<Bytes>& parts)>;
Result exchange(Comm comm, Stream stream, const void* own, std::size_t size, Take take) {
  const int number = comm->member->operations++;
  static_cast<ThreadStream*>(stream)->put([member = comm->member, number, own, size, take = std::move(take)] {
    Group& group = *member->group;
    std::unique_lock lock(group.mutex);
    Group::Exchange& exchange = group.exchanges[number];
    exchange.parts.resize(static_cast<std::size_t>(group.size));
    const auto* begin = static_cast<const std::byte*>(own);
    exchange.parts[static_cast<std::size_t>(member->rank)] = Bytes(begin, begin + size);
    ++exchange.arrived;
    group.changed.notify_all();
    group.changed.wait(lock, [&] { return member->aborted || exchange.arrived == group.size; });
    if (exchange.arrived == group.size && !member->aborted) take(exchange.parts);
  });
  return kInProgress;
}

DType dtype_of_nccl(DataType type) {
  return type == kFloat16 ? DType::f16 : type == kBfloat16 ? DType::bf16 : DType::f32;
}

// The elements [begin, begin + count) of the sum or maximum.
Take reduce(DataType type, Operation operation, void* to, std::size_t begin, std::size_t count) {
  return [=](const std::vector<Bytes>& parts) {
    const ElementReduction reduction =
        reduction_of(dtype_of_nccl(type), operation == kMax ? Reduction::max : Reduction::sum);
    std::vector<const std::byte*> from;
    for (const Bytes& part : parts) from.push_back(part.data() + begin * reduction.element_size);
    reduction.reduce(from, static_cast<std::byte*>(to), count);
  };
}

Result get_version(int* version) {
  *version = 22809;
  return kSuccess;
}

Result get_unique_id(UniqueId* id) {
  static std::atomic<int> next{0};
  const std::string text = "fake " + std::to_string(next++);
  std::memset(id->bytes, 0, sizeof id->bytes);
  text.copy(id->bytes, sizeof id->bytes - 1);
  return kSuccess;
}

Result init(Comm* comm, int size, UniqueId id, int rank, Config* config) {
  if (config->blocking != 0) return kSystemError;
  std::shared_ptr<Group> group;
  {
    const std::lock_guard lock(registry_mutex);
    std::shared_ptr<Group>& known = registry[id.bytes];
    if (!known) known = std::make_shared<Group>();
    group = known;
  }
  const std::lock_guard lock(group->mutex);
  group->size = size;
  ++group->joined;
  ++open_count;
  *comm = new ncclComm{std::make_shared<Member>()};
  (*comm)->member->group = group;
  (*comm)->member->rank = rank;
  return kInProgress;
}

Result finalize(Comm comm) {
  Group& group = *comm->member->group;
  const std::lock_guard lock(group.mutex);
  comm->member->finalising = true;
  ++group.finalised;
  return kInProgress;
}

Result destroy(Comm comm) {
  --open_count;
  delete comm;
  return kSuccess;
}

Result abort(Comm comm) {
  Group& group = *comm->member->group;
  {
    const std::lock_guard lock(group.mutex);
    comm->member->aborted = true;
  }
  group.changed.notify_all();
  return destroy(comm);
}

Result get_async_error(Comm comm, Result* result) {
  Group& group = *comm->member->group;
  const std::lock_guard lock(group.mutex);
  const bool waits = group.joined < group.size || (comm->member->finalising && group.finalised < group.size);
  *result = waits ? kInProgress : kSuccess;
  return kSuccess;
}

Result all_reduce(const void* from, void* to, std::size_t count, DataType type, Operation operation,
                  Comm comm, Stream stream) {
  return exchange(comm, stream, from, count * size_of(dtype_of_nccl(type)),
                  reduce(type, operation, to, 0, count));
}

Result reduce_scatter(const void* from, void* to, std::size_t count, DataType type, Operation operation,
                      Comm comm, Stream stream) {
  const Member& member = *comm->member;
  const std::size_t all = count * static_cast<std::size_t>(member.group->size);
  return exchange(comm, stream, from, all * size_of(dtype_of_nccl(type)),
                  reduce(type, operation, to, count * static_cast<std::size_t>(member.rank), count));
}

Result all_gather(const void* from, void* to, std::size_t count, DataType, Comm comm, Stream stream) {
  return exchange(comm, stream, from, count, [=](const std::vector<Bytes>& parts) {
    auto* at = static_cast<std::byte*>(to);
    for (const Bytes& part : parts) at = std::copy(part.begin(), part.end(), at);
  });
}

Result send(const void* from, std::size_t count, DataType, int, Comm comm, Stream stream) {
  return exchange(comm, stream, from, count, [](const std::vector<Bytes>&) {});
}

Result receive(void* to, std::size_t count, DataType, int peer, Comm comm, Stream stream) {
  return exchange(comm, stream, nullptr, 0, [=](const std::vector<Bytes>& parts) {
    const Bytes& sent = parts[static_cast<std::size_t>(peer)];
    if (sent.size() == count) std::memcpy(to, sent.data(), count);
  });
}

}  // namespace

nccl::Library fake_nccl() {
  return {.get_version = get_version,
          .get_unique_id = get_unique_id,
          .comm_init_rank_config = init,
          .comm_finalize = finalize,
          .comm_destroy = destroy,
          .comm_abort = abort,
          .comm_get_async_error = get_async_error,
          .get_error_string = [](Result) { return "made up"; },
          .get_last_error = [](Comm) { return "nothing"; },
          .all_reduce = all_reduce,
          .reduce_scatter = reduce_scatter,
          .all_gather = all_gather,
          .send = send,
          .receive = receive};
}

int fake_nccl_open() { return open_count; }

}  // namespace podium

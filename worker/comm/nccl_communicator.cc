#include "worker/comm/nccl_communicator.h"

#include <cstdlib>

#include "common/base/check.h"

namespace podium {
namespace {

nccl::DataType type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return nccl::kFloat32;
    case DType::bf16:
      return nccl::kBfloat16;
    case DType::f16:
      return nccl::kFloat16;
    default:
      PODIUM_CHECK(false, "reductions are of f32, bf16 and f16");
  }
}

void check_call(const nccl::Library& library, nccl::Result result, const char* call) {
  if (result != nccl::kSuccess)
    throw std::runtime_error(std::string(call) + ": " + library.get_error_string(result) +
                             "; NCCL_DEBUG=INFO says more");
}

std::span<std::byte> id_bytes(nccl::UniqueId& id) { return std::as_writable_bytes(std::span(id.bytes)); }

}  // namespace

struct NcclCommunicator::World {
  World(const nccl::Library& library, Device& device, const GlooOptions& meeting)
      : watchdog(meeting.operation_timeout),
        setting{library, device, watchdog, meeting.meeting_timeout},
        peers(meeting, [this](const std::string& who) { watchdog.peer_gone(who); }) {}

  NcclWatchdog watchdog;
  NcclSetting setting;
  PeerWatch peers;
};

NcclCommunicator::NcclCommunicator(std::unique_ptr<Communicator> group, const MemorySpace& space,
                                   const nccl::Library& library, const GlooOptions& meeting)
    : DeviceCommunicator(std::move(group), space), name_("world") {
  ::setenv("NCCL_ALGO", "Ring", 0);  // read by NCCL when it makes the first communicator; see above
  world_ = std::make_shared<World>(library, *space.device, meeting);
  connect();
}

NcclCommunicator::NcclCommunicator(std::unique_ptr<Communicator> group, const MemorySpace& space,
                                   std::shared_ptr<World> world, std::string name)
    : DeviceCommunicator(std::move(group), space), world_(std::move(world)), name_(std::move(name)) {
  connect();
}

NcclCommunicator::~NcclCommunicator() = default;

void NcclCommunicator::connect() {
  if (size() == 1) return;
  nccl::UniqueId id{};
  const NcclSetting& setting = world_->setting;
  if (rank() == 0) check_call(setting.library, setting.library.get_unique_id(&id), "ncclGetUniqueId");
  host().broadcast(id_bytes(id), 0);
  collectives_ = std::make_unique<NcclConnection>(setting, id, rank(), size(), name_);
}

std::future<void> NcclCommunicator::put(const NcclConnection::Call& call) {
  auto done = collectives_->put(*memory().stream->record(), call);
  return std::async(std::launch::deferred, [done, stream = memory().stream, &watchdog = world_->watchdog] {
    watchdog.check();
    stream->wait_for(*done);
  });
}

std::future<void> NcclCommunicator::all_reduce_on_device(TensorView values, Reduction reduction) {
  const nccl::Operation operation = reduction == Reduction::max ? nccl::kMax : nccl::kSum;
  return put([&](nccl::Comm comm, nccl::Stream stream) {
    return world_->setting.library.all_reduce(values.address, values.address,
                                              static_cast<std::size_t>(values.size()), type_of(values.dtype),
                                              operation, comm, stream);
  });
}

std::future<void> NcclCommunicator::reduce_scatter_on_device(TensorView values) {
  const std::size_t part = values.bytes() / static_cast<std::size_t>(size());
  std::byte* const own = static_cast<std::byte*>(values.address) + part * static_cast<std::size_t>(rank());
  return put([&](nccl::Comm comm, nccl::Stream stream) {
    return world_->setting.library.reduce_scatter(values.address, own, part / size_of(values.dtype),
                                                  type_of(values.dtype), nccl::kSum, comm, stream);
  });
}

std::future<void> NcclCommunicator::all_gather_on_device(std::span<const std::byte> own,
                                                         std::span<std::byte> all) {
  return put([&](nccl::Comm comm, nccl::Stream stream) {
    return world_->setting.library.all_gather(own.data(), all.data(), own.size(), nccl::kInt8, comm, stream);
  });
}

// At the first message the sender's end makes the unique id; both ends do so at the same message, so the id
// keeps its place among what goes between them on the host.
NcclLink& NcclCommunicator::link(int peer, bool sends) {
  std::unique_ptr<NcclLink>& link = links_[{peer, sends}];
  if (link) return *link;
  const NcclSetting& setting = world_->setting;
  auto id = std::make_shared<nccl::UniqueId>();
  if (sends) check_call(setting.library, setting.library.get_unique_id(id.get()), "ncclGetUniqueId");
  std::future<void> exchanged =
      sends ? host().send(id_bytes(*id), peer) : host().receive(id_bytes(*id), peer);
  const std::string name = name_ + (sends ? ", to rank " : ", from rank ") + std::to_string(peer);
  link = std::make_unique<NcclLink>(setting, sends, std::move(id), std::move(exchanged), name);
  return *link;
}

std::future<void> NcclCommunicator::put_message(std::span<std::byte> bytes, int peer, bool sends) {
  auto done = link(peer, sends).put(bytes, memory().stream->record());
  return std::async(std::launch::deferred, [done = std::move(done), stream = memory().stream,
                                            &watchdog = world_->watchdog]() mutable {
    const std::shared_ptr<DeviceEvent> end = done.get();
    watchdog.check();
    stream->wait_for(*end);
  });
}

std::future<void> NcclCommunicator::send_from_device(std::span<const std::byte> bytes, int peer) {
  PODIUM_CHECK(peer != rank(), "a rank does not send to itself");
  // A link only reads what it sends.
  return put_message({const_cast<std::byte*>(bytes.data()), bytes.size()}, peer, true);
}

std::future<void> NcclCommunicator::receive_on_device(std::span<std::byte> bytes, int peer) {
  PODIUM_CHECK(peer != rank(), "a rank does not receive from itself");
  return put_message(bytes, peer, false);
}

std::unique_ptr<Communicator> NcclCommunicator::make_group(std::unique_ptr<Communicator> group,
                                                           const std::string& name) {
  return std::unique_ptr<Communicator>(
      new NcclCommunicator(std::move(group), memory(), world_, name_ + "/" + name));
}

}  // namespace podium

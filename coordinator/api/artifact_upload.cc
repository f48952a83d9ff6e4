// PUT of an artifact: its body goes to a file as it arrives, and the file gets its name once it is whole.
#include <boost/asio/this_coro.hpp>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/net/spawn.h"
#include "coordinator/api/artifacts.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/router.h"
#include "coordinator/mlflow/artifact_path.h"
#include "coordinator/mlflow/error.h"
#include "coordinator/store/run_reader.h"

namespace podium {
namespace {

using mlflow::ArtifactPath;
using mlflow::ArtifactUpload;

// Its file may be long, and removing it take a while.
awaitable<void> drop(WorkPool& files, std::shared_ptr<ArtifactUpload> upload) {
  auto work = [upload = std::move(upload)]() mutable { return upload.reset(), true; };
  co_await files.run(std::move(work));
}

class ArtifactSink final : public RequestSink {
 public:
  ArtifactSink(Api& api, ServerRequest head, ArtifactPath path)
      : api_(api), head_(std::move(head)), path_(std::move(path)) {}
  ~ArtifactSink() override {
    if (upload_) spawn(executor_, "an upload that was cut off", drop(api_.files, std::move(upload_)));
  }

  std::uint64_t most() const override { return static_cast<std::uint64_t>(api_.options.max_artifact); }

  awaitable<std::optional<ServerReply>> take(std::string piece) override {
    std::optional<ServerReply> refusal = co_await attempt(write(std::move(piece)));
    if (refusal) count_answer(api_, head_.method, refusal->status);
    co_return refusal;
  }

  awaitable<ServerReply> finish() override {
    std::optional<ServerReply> refusal = co_await attempt(place());
    ServerReply reply = refusal ? std::move(*refusal) : json_reply(200, nlohmann::json::object());
    count_answer(api_, head_.method, reply.status);
    co_return reply;
  }

 private:
  awaitable<std::optional<ServerReply>> attempt(awaitable<std::optional<ServerReply>> step);
  awaitable<std::optional<ServerReply>> begin();
  awaitable<std::optional<ServerReply>> write(std::string piece);
  awaitable<std::optional<ServerReply>> place();

  Api& api_;
  ServerRequest head_;
  ArtifactPath path_;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<ArtifactUpload> upload_;  // shared with what writes it on another thread
};

// A disk without room is a passing fault: the client tries again for some minutes.
awaitable<std::optional<ServerReply>> ArtifactSink::attempt(awaitable<std::optional<ServerReply>> step) {
  std::string fault;
  try {
    co_return co_await std::move(step);
  } catch (const Busy& busy) {
    fault = busy.what();
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::no_space_on_device) throw;
    fault = "the coordinator's disk is full; send this again once there is room";
  }
  co_return problem(503, fault, head_.id);
}

awaitable<std::optional<ServerReply>> ArtifactSink::begin() {
  if (const auto full = api_.store.refusal()) co_return problem({*full}, head_.id);
  const JobId run = path_.run;
  const auto look = [run](Reader& reader) { return reader.runs().info(run); };
  const std::optional<RunInfo> info = co_await api_.pool.read(look);
  if (!info) co_return problem(404, "there is no run of the id in this artifact's path", head_.id);
  if (info->deleted)
    co_return mlflow::refusal(
        {mlflow::Code::invalid_parameter_value,
         "the run of this artifact's path is deleted; restore it to put files beside it"});
  executor_ = co_await boost::asio::this_coro::executor;
  const auto open = [this] { return std::make_shared<ArtifactUpload>(api_.artifacts.new_upload()); };
  upload_ = co_await api_.files.run(open);
  co_return std::nullopt;
}

awaitable<std::optional<ServerReply>> ArtifactSink::write(std::string piece) {
  if (!upload_) {
    if (auto refusal = co_await begin()) co_return refusal;
  } else if (const auto full = api_.store.refusal()) {
    co_return problem({*full}, head_.id);
  }
  const auto work = [upload = upload_, piece = std::move(piece)] { return upload->write(piece), true; };
  co_await api_.files.run(work);
  co_return std::nullopt;
}

awaitable<std::optional<ServerReply>> ArtifactSink::place() {
  if (!upload_)
    if (auto refusal = co_await begin()) co_return refusal;
  const auto work = [this, upload = upload_] {
    return api_.artifacts.place(*upload, path_.run, path_.parts);
  };
  const std::optional<Error> error = co_await api_.files.run(work);
  if (error) co_return mlflow::refusal(mlflow::fault_of({*error}));
  upload_.reset();
  co_return std::nullopt;
}

}  // namespace

std::shared_ptr<RequestSink> artifact_sink(Api& api, ServerRequest head, std::vector<std::string> path) {
  ArtifactPath parsed = *mlflow::parse_artifact_path(path[0], api.options.cluster);
  return std::make_shared<ArtifactSink>(api, std::move(head), std::move(parsed));
}

}  // namespace podium

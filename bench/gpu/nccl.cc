// bench_nccl: what NCCL costs where there is nothing to exchange. One rank's gradients are all-reduced bucket
// by bucket as a worker does it (its own stream, events, the watchdog), beside one copy of as many bytes
// within the device. Prints one line of JSON.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "bench/figure.h"
#include "worker/comm/nccl_connection.h"
#include "worker/train/job_device.h"

namespace podium {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::int64_t elements = 335'174'458;          // BERT-Large's parameters with both heads
  std::int64_t bucket = std::int64_t{4} << 20;  // elements, as the trainer's
  int repeats = 20;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class OneRank {
 public:
  explicit OneRank(const Options& options)
      : options_(options),
        device_(open_job_device("gpu", 0)),
        library_(nccl::open_library()),
        watchdog_(std::chrono::minutes(1)),
        setting_{library_, *device_.device, watchdog_, std::chrono::minutes(1)},
        connection_(setting_, make_id(), 0, 1, "world"),
        gradients_(DType::f32, {options.elements}, device_.device.get()),
        copy_(DType::f32, {options.elements}, device_.device.get()) {
    memory().clear(gradients_.view().address, gradients_.view().bytes());
  }

  nlohmann::ordered_json measure() {
    std::vector<double> enqueueing, reducing, copying;
    for (int i = 0; i < options_.repeats + 1; ++i) {  // the first is to warm up
      const auto start = Clock::now();
      const int calls = all_reduce();
      const double enqueued = seconds_since(start) / calls;
      device_.stream->synchronise();
      const double reduced = seconds_since(start);
      const double copied = copy();
      if (i == 0) continue;
      enqueueing.push_back(enqueued);
      reducing.push_back(reduced);
      copying.push_back(copied);
    }
    int version = 0;
    library_.get_version(&version);
    return {{"nccl", version},
            {"bytes", gradients_.view().bytes()},
            {"enqueue_seconds_per_call", median(enqueueing)},
            {"all_reduce_seconds", median(reducing)},
            {"copy_seconds", median(copying)}};
  }

 private:
  MemorySpace memory() const { return {device_.device.get(), device_.stream.get()}; }

  nccl::UniqueId make_id() const {
    nccl::UniqueId id{};
    if (library_.get_unique_id(&id) != nccl::kSuccess) throw std::runtime_error("ncclGetUniqueId failed");
    return id;
  }

  // Puts everything on NCCL's stream and lets the context's wait for it; returns the number of calls.
  int all_reduce() {
    auto* const values = gradients_.view().data<float>();
    const std::unique_ptr<DeviceEvent> ready = device_.stream->record();
    std::shared_ptr<DeviceEvent> done;
    int calls = 0;
    for (std::int64_t begin = 0; begin < options_.elements; begin += options_.bucket, ++calls) {
      const auto count = static_cast<std::size_t>(std::min(options_.bucket, options_.elements - begin));
      done = connection_.put(*ready, [&](nccl::Comm comm, nccl::Stream stream) {
        return library_.all_reduce(values + begin, values + begin, count, nccl::kFloat32, nccl::kSum, comm,
                                   stream);
      });
    }
    device_.stream->wait_for(*done);
    return calls;
  }

  double copy() {
    const auto start = Clock::now();
    memory().copy(copy_.view().address, gradients_.view().address, gradients_.view().bytes());
    device_.stream->synchronise();
    return seconds_since(start);
  }

  const Options options_;
  const JobDevice device_;
  const nccl::Library library_;
  NcclWatchdog watchdog_;
  const NcclSetting setting_;
  NcclConnection connection_;
  Tensor gradients_, copy_;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("What NCCL costs with one rank.");
  app.add_option("--elements", options.elements, "gradients, in fp32")->check(CLI::PositiveNumber);
  app.add_option("--bucket", options.bucket, "elements a call")->check(CLI::PositiveNumber);
  app.add_option("--repeats", options.repeats)->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) try {
  podium::OneRank rank(podium::parse(argc, argv));
  std::printf("%s\n", rank.measure().dump().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_nccl: %s\n", error.what());
  return 1;
}

// A request of a model from its acceptance to the end of its answer, which may be a stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "worker/serve/batch_queue.h"
#include "worker/serve/serve_meter.h"

namespace podium {

struct RequestCounts {
  std::uint64_t accepted = 0, answered = 0;
};

// From a request's acceptance to its answer. On the server's thread.
class AcceptedRequest {
 public:
  explicit AcceptedRequest(RequestCounts& counts) : counts_(counts) { ++counts_.accepted; }
  AcceptedRequest(const AcceptedRequest&) = delete;
  ~AcceptedRequest() { ++counts_.answered; }

 private:
  RequestCounts& counts_;
};

// On the server's thread.
class RequestAccount {
 public:
  RequestAccount(RequestCounts& counts, std::shared_ptr<ServeMeter> meter, std::string endpoint)
      : accepted_(counts), meter_(std::move(meter)), endpoint_(std::move(endpoint)) {}
  RequestAccount(const RequestAccount&) = delete;
  ~RequestAccount() { meter_->add_request(endpoint_, outcome_, std::chrono::steady_clock::now() - arrived_); }

  ServeTime arrived() const { return arrived_; }
  void set_outcome(std::string outcome) { outcome_ = std::move(outcome); }

 private:
  AcceptedRequest accepted_;
  std::shared_ptr<ServeMeter> meter_;
  std::string endpoint_;
  std::string outcome_ = "failed";  // where an exception ends it
  ServeTime arrived_ = std::chrono::steady_clock::now();
};

}  // namespace podium

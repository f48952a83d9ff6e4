#include "worker/tensor/upload_buffer.h"

namespace podium {
namespace {

constexpr std::size_t kMostParts = 8;  // so far the host runs ahead of the device

}  // namespace

UploadBuffer::~UploadBuffer() {
  for (Part& part : parts_) release(part);
}

std::span<std::byte> UploadBuffer::room(std::size_t bytes) {
  Part& part = free_part();
  if (bytes > part.capacity) {
    release(part);
    part.host = static_cast<std::byte*>(memory_.device->allocate_host(bytes));
    part.capacity = bytes;
  }
  used_ = bytes;
  return {part.host, used_};
}

// The one that was given out longest ago, once it was sent, or another.
UploadBuffer::Part& UploadBuffer::free_part() {
  const std::size_t oldest = parts_.empty() ? 0 : (current_ + 1) % parts_.size();
  const bool sending = !parts_.empty() && parts_[oldest].sent && !parts_[oldest].sent->reached();
  if (parts_.empty() || (sending && parts_.size() < kMostParts)) {
    parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(oldest), Part{});
  } else if (sending) {
    parts_[oldest].sent->synchronise();
  }
  current_ = oldest;
  return parts_[current_];
}

void UploadBuffer::send(void* to) {
  Part& part = parts_[current_];
  memory_.stream->copy(to, part.host, used_);
  part.sent = memory_.stream->record();
}

void UploadBuffer::release(Part& part) {
  if (part.sent) part.sent->synchronise();
  part.sent.reset();
  if (part.host != nullptr) memory_.device->free_host(part.host);
  part.host = nullptr;
  part.capacity = 0;
}

}  // namespace podium

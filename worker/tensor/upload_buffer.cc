#include "worker/tensor/upload_buffer.h"

namespace podium {

UploadBuffer::~UploadBuffer() { release(); }

std::span<std::byte> UploadBuffer::room(std::size_t bytes) {
  if (sent_) sent_->synchronise();
  sent_.reset();
  if (bytes > capacity_) {
    release();
    host_ = static_cast<std::byte*>(memory_.device->allocate_host(bytes));
    capacity_ = bytes;
  }
  used_ = bytes;
  return {host_, used_};
}

void UploadBuffer::send(void* to) {
  memory_.stream->copy(to, host_, used_);
  sent_ = memory_.stream->record();
}

void UploadBuffer::release() {
  if (sent_) sent_->synchronise();
  if (host_ != nullptr) memory_.device->free_host(host_);
  host_ = nullptr;
  capacity_ = 0;
}

}  // namespace podium

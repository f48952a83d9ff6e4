#include "worker/tensor/download_buffer.h"

namespace podium {

DownloadBuffer::~DownloadBuffer() { release(); }

void DownloadBuffer::start(const void* from, std::size_t bytes) {
  if (bytes > capacity_) {
    release();
    if (memory_.on_host()) {
      of_host_.resize(bytes);
      host_ = of_host_.data();
    } else {
      host_ = static_cast<std::byte*>(memory_.device->allocate_host(bytes));
    }
    capacity_ = bytes;
  }
  used_ = bytes;
  memory_.copy(host_, from, bytes);
  if (!memory_.on_host()) come_ = memory_.stream->record();
  on_its_way_ = true;
}

void DownloadBuffer::wait() {
  if (come_) come_->synchronise();
  on_its_way_ = false;
}

void DownloadBuffer::release() {
  wait();
  if (!memory_.on_host() && host_ != nullptr) memory_.device->free_host(host_);
  host_ = nullptr;
  capacity_ = 0;
}

}  // namespace podium

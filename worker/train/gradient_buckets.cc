#include "worker/train/gradient_buckets.h"

#include "common/base/check.h"

namespace podium {

GradientBuckets::GradientBuckets(Communicator& comm, std::span<float> gradients, std::int64_t bucket)
    : comm_(comm),
      gradients_(gradients),
      bucket_(bucket),
      begin_(static_cast<std::int64_t>(gradients.size())),
      end_(begin_) {}

GradientBuckets::~GradientBuckets() {
  for (std::future<void>& done : under_way_)
    if (done.valid()) done.wait();
}

void GradientBuckets::ready(std::int64_t begin, std::int64_t end) {
  PODIUM_CHECK(end == begin_ && begin <= end, "gradients must become final from the end to the beginning");
  begin_ = begin;
  if (end_ - begin_ >= bucket_) send();
}

void GradientBuckets::finish() {
  PODIUM_CHECK(begin_ == 0, "some gradients never became final");
  send();
  for (std::future<void>& done : under_way_) done.get();
}

void GradientBuckets::send() {
  if (begin_ == end_) return;
  under_way_.push_back(comm_.all_reduce(
      gradients_.subspan(static_cast<std::size_t>(begin_), static_cast<std::size_t>(end_ - begin_))));
  end_ = begin_;
}

}  // namespace podium

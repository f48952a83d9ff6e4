#include "worker/train/gradient_reducer.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {
namespace {

constexpr std::int64_t kPartMultiple = 16;  // elements: a cache line

template <class T>
std::span<T> part(std::span<T> all, FlatRange range) {
  return all.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size()));
}

void wait_for(std::vector<std::future<void>>& operations) {
  for (std::future<void>& done : operations) done.get();
  operations.clear();
}

}  // namespace

GradientReducer::GradientReducer(Communicator& data, std::span<float> gradients, std::int64_t bucket,
                                 bool distributed)
    : data_(data), gradients_(gradients), distributed_(distributed), begin_(size()), sent_(size()) {
  const std::int64_t multiple = kPartMultiple * data.size();
  PODIUM_CHECK(!distributed || size() % multiple == 0, "gradients do not divide evenly among the data ranks");
  bucket_ = std::max(bucket + multiple - 1, multiple) / multiple * multiple;
}

GradientReducer::~GradientReducer() {
  for (std::future<void>& done : under_way_)
    if (done.valid()) done.wait();
}

FlatRange GradientReducer::bucket_before(std::int64_t end) const {
  return {std::max<std::int64_t>(end - bucket_, 0), end};
}

FlatRange GradientReducer::own_part(FlatRange bucket) const {
  const std::int64_t length = bucket.size() / data_.size();
  const std::int64_t begin = bucket.begin + length * data_.rank();
  return {begin, begin + length};
}

void GradientReducer::ready(std::int64_t begin, std::int64_t end) {
  PODIUM_CHECK(end == begin_ && begin <= end, "gradients must become final from the end to the beginning");
  begin_ = begin;
  while (sent_ > 0 && bucket_before(sent_).begin >= begin_) send(bucket_before(sent_));
}

void GradientReducer::finish() {
  PODIUM_CHECK(begin_ == 0, "some gradients never became final");
  wait_for(under_way_);
  begin_ = sent_ = size();
}

void GradientReducer::send(FlatRange bucket) {
  const TensorView values = view_of(part(gradients_, bucket), {bucket.size()});
  under_way_.push_back(distributed_ ? data_.reduce_scatter(values) : data_.all_reduce(values));
  sent_ = bucket.begin;
}

std::vector<FlatRange> GradientReducer::shard() const {
  if (!distributed_) return {{0, size()}};
  std::vector<FlatRange> ranges;
  for (std::int64_t end = size(); end > 0; end = bucket_before(end).begin)
    ranges.push_back(own_part(bucket_before(end)));
  std::ranges::reverse(ranges);
  return ranges;
}

void GradientReducer::gather(std::span<float> weights) {
  PODIUM_CHECK(weights.size() == gradients_.size(), "weights and gradients are of one length");
  if (!distributed_) return;
  std::vector<std::future<void>> operations;
  for (std::int64_t end = size(); end > 0; end = bucket_before(end).begin) {
    const FlatRange bucket = bucket_before(end);
    operations.push_back(data_.all_gather(std::as_bytes(part(weights, own_part(bucket))),
                                          std::as_writable_bytes(part(weights, bucket))));
  }
  wait_for(operations);
}

}  // namespace podium

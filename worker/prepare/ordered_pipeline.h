// One thread makes items, several work on them, and the caller's thread takes the results in the order in
// which the items were made. What the caller sees does not depend on the number of threads, also where
// something throws: an exception of `make`, of `make_worker` or of `work` comes out when the results before
// it were taken.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace podium {

template <class Item, class Result>
class OrderedPipeline {
 public:
  // Items weigh `most` together at a time, from when they are made until their results were taken; a heavier
  // one goes alone.
  OrderedPipeline(int threads, std::size_t most) : thread_count_(threads), most_(most) {}

  // make(): the next item, nothing at the end. weight(item). make_worker(): what a thread works with, a
  // function of an item. take(result): false ends all early.
  template <class Make, class Weight, class MakeWorker, class Take>
  void run(const Make& make, const Weight& weight, const MakeWorker& make_worker, const Take& take) {
    std::vector<std::jthread> threads;
    const struct Ending {  // before the threads are waited for
      OrderedPipeline& pipeline;
      ~Ending() { pipeline.end(); }
    } ending{*this};
    threads.emplace_back([&] { make_all(make, weight); });
    for (int i = 0; i < thread_count_; ++i) threads.emplace_back([&] { work_all(make_worker); });
    take_all(take);
    end();
  }

 private:
  struct Waiting {
    std::uint64_t number;
    std::size_t weight;
    Item item;
  };
  struct Done {
    std::size_t weight;
    std::variant<Result, std::exception_ptr> result;
  };

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void make_all(const auto& make, const auto& weight) {
    std::uint64_t number = 0;
    try {
      while (std::optional<Item> item = make()) {
        const std::size_t its_weight = weight(*item);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ended_ || weight_ == 0 || weight_ + its_weight <= most_; });
        if (ended_) return;
        weight_ += its_weight;
        waiting_.push_back({number++, its_weight, std::move(*item)});
        changed_.notify_all();
      }
    } catch (...) {
      hand_over(number++, {0, std::current_exception()});
    }
    const std::lock_guard lock(mutex_);
    made_ = number;
    changed_.notify_all();
  }

  void work_all(const auto& make_worker) {
    std::optional<decltype(make_worker())> work;  // made for the first item, whose place its exception takes
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
      if (ended_) return;
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      try {
        if (!work) work.emplace(make_worker());
        hand_over(next.number, {next.weight, (*work)(std::move(next.item))});
      } catch (...) {
        hand_over(next.number, {next.weight, std::current_exception()});
      }
    }
  }

  void hand_over(std::uint64_t number, Done done) {
    const std::lock_guard lock(mutex_);
    done_.emplace(number, std::move(done));
    changed_.notify_all();
  }

  void take_all(const auto& take) {
    for (std::uint64_t number = 0;; ++number) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return done_.contains(number) || made_ == number; });
      if (!done_.contains(number)) return;
      Done done = std::move(done_.extract(number).mapped());
      lock.unlock();
      if (const auto* error = std::get_if<std::exception_ptr>(&done.result)) std::rethrow_exception(*error);
      if (!take(std::get<Result>(std::move(done.result)))) return;
      lock.lock();
      weight_ -= done.weight;
      changed_.notify_all();
    }
  }

  int thread_count_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::size_t weight_ = 0;
  std::optional<std::uint64_t> made_;  // how many items there are, when the last was made
  std::deque<Waiting> waiting_;
  std::map<std::uint64_t, Done> done_;  // not taken yet
};

}  // namespace podium

// A store that takes the streams of a job.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>

#include "coordinator/store/log_files.h"
#include "coordinator/store/series_table.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {

class Ingest : public testing::Test {
 protected:
  Ingest() { open(); }

  void open() {
    store_ = std::make_unique<Store>(home_->path(), at_once(), options_);
    if (store_->open_reader()->jobs({}).total == 0) start_job(*store_);
    reader_ = store_->open_reader();
  }
  void close() {
    reader_.reset();
    store_.reset();
  }
  void restart_keeping_the_disk() {
    close();
    open();
  }
  void restart() {
    close();
    home_ = std::make_unique<TempFolder>();
    open();
  }

  std::int64_t next_after(const std::string& body) {
    const auto answer = ingest_now(*store_, body);
    EXPECT_TRUE(answer.ok()) << describe(answer.errors());
    return answer.ok() ? (*answer)->positions.at(0).next : -1;
  }
  Series loss() { return reader_->series({1}, "train/loss", 1000).points; }
  std::vector<std::string> notes() {
    std::vector<std::string> texts;
    for (const HistoryEntry& entry : reader_->history({1}, 0, 1000))
      if (entry.type == "note") texts.push_back(entry.text);
    return texts;
  }
  std::string last_history() { return reader_->history({1}, 0, 1000).back().text; }

  StoreOptions options_;
  std::unique_ptr<TempFolder> home_ = std::make_unique<TempFolder>();
  std::unique_ptr<Store> store_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace podium

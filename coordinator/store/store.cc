#include "coordinator/store/store.h"

#include "coordinator/store/writer.h"

namespace podium {

Store::Store(std::filesystem::path home, Post post)
    : home_(std::move(home)), writer_(std::make_unique<Writer>(home_, std::move(post))) {}

Store::~Store() = default;

Loaded Store::load(const ClusterState& empty) { return writer_->load(empty); }

void Store::commit(Commit turn, std::function<void()> done) {
  writer_->commit(std::move(turn), std::move(done));
}

void Store::ingest(std::string body, std::function<void(Result<Ingested>)> done) {
  writer_->ingest(std::move(body), std::move(done));
}

bool Store::wants_snapshot() const { return writer_->wants_snapshot(); }

std::unique_ptr<Reader> Store::open_reader() const { return std::make_unique<Reader>(home_); }

}  // namespace podium

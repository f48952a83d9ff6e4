#include "worker/formats/full_tensors.h"

#include <map>
#include <nlohmann/json.hpp>

#include "worker/formats/pieces.h"

namespace podium {
namespace {

using nlohmann::json;

// What this rank contributes: no copies of what another rank of the model copy has, too.
std::vector<const Parameter*> own_parameters(const ParallelPlace& place, const ParameterStore& parameters) {
  std::vector<const Parameter*> own;
  for (const Parameter& p : parameters.list())
    if (!p.tied_copy && (p.slice.axis >= 0 || place.tensor == 0)) own.push_back(&p);
  return own;
}

std::span<const float> values_of(const Parameter& p, std::span<const float> flat) {
  return flat.subspan(static_cast<std::size_t>(p.offset), static_cast<std::size_t>(p.size()));
}

class Collector {
 public:
  void add(const Piece& piece, std::span<const float> values) {
    FullTensor& tensor = tensors_[piece.parameter];
    const Box whole = whole_box(piece.box.full);
    tensor.name = piece.parameter;
    tensor.shape = whole.full;
    tensor.values.resize(static_cast<std::size_t>(whole.size()));
    copy_runs(common_runs(piece, {piece.parameter, whole, 0, whole.size()}), values, tensor.values);
  }

  std::vector<FullTensor> take() {
    std::vector<FullTensor> all;
    for (auto& [name, tensor] : tensors_) all.push_back(std::move(tensor));
    return all;
  }

 private:
  std::map<std::string, FullTensor> tensors_;
};

void send_to_first(Communicator& comm, std::span<const Parameter* const> own, std::span<const float> flat) {
  json table = json::array();
  for (const Parameter* p : own) table.push_back(to_json(whole_piece(*p)));
  const std::string text = table.dump();
  const std::uint64_t size = text.size();
  comm.send(std::as_bytes(std::span(&size, 1)), 0).get();
  comm.send(std::as_bytes(std::span(text)), 0).get();
  for (const Parameter* p : own) comm.send(std::as_bytes(values_of(*p, flat)), 0).get();
}

void receive_from(Communicator& comm, int rank, Collector& collector) {
  std::uint64_t size = 0;
  comm.receive(std::as_writable_bytes(std::span(&size, 1)), rank).get();
  std::string text(size, '\0');
  comm.receive(std::as_writable_bytes(std::span(text)), rank).get();
  for (const json& entry : json::parse(text)) {
    const Piece piece = piece_from_json(entry);
    std::vector<float> values(static_cast<std::size_t>(piece.size()));
    comm.receive(std::as_writable_bytes(std::span(values)), rank).get();
    collector.add(piece, values);
  }
}

}  // namespace

std::vector<FullTensor> gather_full(ParallelGroups& groups, const ParameterStore& parameters,
                                    std::span<const float> flat) {
  if (groups.place.data != 0) return {};  // the first data rank's model copy is as good as any
  const std::vector<const Parameter*> own = own_parameters(groups.place, parameters);
  Communicator& comm = *groups.model;
  if (comm.rank() != 0) {
    send_to_first(comm, own, flat);
    return {};
  }
  Collector collector;
  for (const Parameter* p : own) collector.add(whole_piece(*p), values_of(*p, flat));
  for (int rank = 1; rank < comm.size(); ++rank) receive_from(comm, rank, collector);
  return collector.take();
}

}  // namespace podium

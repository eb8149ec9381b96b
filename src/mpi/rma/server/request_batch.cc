// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/request_batch.h"

#include <cstring>
#include <new>

#include "mpi/comm/world.h"
#include "mpi/datatype/view.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;

/// Longer puts travel by themselves: of these at least one fits a message, with what ends the epoch.
constexpr std::size_t most_record_of(std::size_t message) {
  return message - sizeof(wire::RmaHeader);
}
constexpr std::size_t most_short_record = most_record_of(wire::most_rma_request_bytes);

/// Messages under way with copies of longer puts: what does not fit them is sent from where it lies.
constexpr std::size_t most_long_under_way = 8;

}  // namespace

struct RequestBatches::Batch : RmaMessage {
  int rank = 0;
  std::size_t used = 0;
  std::size_t last = 0;  ///< where the last request begins
  std::size_t most = 0;  ///< bytes of a message that the target takes
  std::vector<std::byte> bytes;
};

RequestBatches::RequestBatches(Win& win)
    : win_(win),
      open_(static_cast<std::size_t>(win.size()), nullptr),
      listed_(static_cast<std::size_t>(win.size())) {
  step = [](device::ProgressCallback& hook) {
    return static_cast<RequestBatches&>(hook).send_all();
  };
}

RequestBatches::~RequestBatches() {
  if (!waiting_.empty()) win_.device->remove_progress_callback(*this);
}

bool RequestBatches::add(int rank, const RmaRequest& request) {
  const Datatype* const type = request.type;
  const bool is_put = static_cast<wire::RmaCall>(request.header.call) == wire::RmaCall::put;
  if (!is_put || request.request != nullptr) return false;
  if (!type->predefined || type->basic->first != nullptr) return false;
  const std::size_t record = rma_record_bytes(0, request.header.bytes);
  Batch* batch = open_[static_cast<std::size_t>(rank)];
  if (record > most_short_record && !takes_long_record(rank, record)) return false;
  if (batch != nullptr && batch->used + record > batch->most) {
    send(rank);
    batch = nullptr;
  }
  if (batch == nullptr) {
    batch = &open(rank);
  } else {
    ++win_.library->world->rma.merged;
  }
  wire::RmaHeader header = request.header;
  header.type = static_cast<std::uint32_t>(type->basic->handle);
  header.flags |= wire::rma_inline;
  (void)View(*request.data.type, request.data.count)
      .pack(request.data.address, 0,
            append(*batch, header, record).subspan(rma_data_offset(0), header.bytes));
  win_.library->world->rma.request_bytes += header.bytes;
  return true;
}

bool RequestBatches::takes_long_record(int rank, std::size_t record) const noexcept {
  return win_.target(rank).takes_long &&
         record <= most_record_of(wire::most_long_rma_request_bytes) &&
         batches_.size() - free_.size() < most_long_under_way;
}

/// Puts a request behind those that a batch has. Returns its place.
std::span<std::byte> RequestBatches::append(Batch& batch, const wire::RmaHeader& header,
                                            std::size_t bytes) noexcept {
  if (batch.used != 0) {
    wire::RmaHeader last;
    std::memcpy(&last, batch.bytes.data() + batch.last, sizeof last);
    last.flags |= wire::rma_more;
    std::memcpy(batch.bytes.data() + batch.last, &last, sizeof last);
  }
  const auto to = std::span(batch.bytes).subspan(batch.used, bytes);
  std::memcpy(to.data(), &header, sizeof header);
  batch.last = batch.used;
  batch.used += bytes;
  return to;
}

RequestBatches::Batch& RequestBatches::open(int rank) {
  if (free_.empty()) {
    batches_.push_back(std::make_unique<Batch>());
    free_.push_back(batches_.back().get());
  }
  Batch& batch = *free_.back();
  free_.pop_back();
  batch.rank = rank;
  batch.used = 0;
  batch.most = win_.target(rank).takes_long ? wire::most_long_rma_request_bytes
                                            : wire::most_rma_request_bytes;
  if (batch.bytes.size() < batch.most) batch.bytes.resize(batch.most);
  open_[static_cast<std::size_t>(rank)] = &batch;
  if (waiting_.empty()) win_.device->add_progress_callback(*this);
  if (!listed_[static_cast<std::size_t>(rank)]) waiting_.push_back(rank);
  listed_[static_cast<std::size_t>(rank)] = true;
  ++win_.target(rank).pending;
  return batch;
}

void RequestBatches::send(int rank) noexcept {
  Batch* const batch = std::exchange(open_[static_cast<std::size_t>(rank)], nullptr);
  if (batch == nullptr) return;
  batch->owner = this;
  batch->ended = [](RmaMessage& done) noexcept {
    auto& sent = static_cast<Batch&>(done);
    static_cast<RequestBatches*>(sent.owner)->ended(sent);
  };
  ++win_.library->world->rma.requests;
  batch->set_bytes(std::span(batch->bytes).first(batch->used));
  batch->start_send(win_, rank, 0, RmaLine::requests);
}

bool RequestBatches::send_with(int rank, const wire::RmaHeader& last) noexcept {
  Batch* const batch = open_[static_cast<std::size_t>(rank)];
  if (batch == nullptr || batch->used + sizeof last > batch->most) return false;
  (void)append(*batch, last, sizeof last);
  ++win_.library->world->rma.merged;
  send(rank);
  return true;
}

void RequestBatches::ended(Batch& batch) noexcept {
  RmaTarget& target = win_.target(batch.rank);
  if (target.error == ErrorClass::success) target.error = batch.outcome.error;
  free_.push_back(&batch);
  --target.pending;
}

unsigned RequestBatches::send_all() noexcept {
  unsigned sent = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    sent += open_[static_cast<std::size_t>(waiting_[i])] != nullptr ? 1 : 0;
    listed_[static_cast<std::size_t>(waiting_[i])] = false;
    send(waiting_[i]);
  }
  waiting_.clear();
  win_.device->remove_progress_callback(*this);
  return sent;
}

}  // namespace fulmar::mpi

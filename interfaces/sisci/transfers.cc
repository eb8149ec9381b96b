// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/transfers.h"

#include <utility>
#include <vector>

#include "sisci/connections.h"
#include "sisci/grants.h"

namespace fulmar::sisci {
namespace {

using interfaces::Outcome;

/// Forgets a transfer whose memory is free and that has been answered.
void end_if_over(Transfer& transfer) noexcept {
  if (!transfer.is_sent || !transfer.is_answered || transfer.is_landing) return;
  Library& library = *transfer.library;
  TransferGroup& group = *transfer.group;
  const sci_error_t status = transfer.status;
  if (transfer.is_read) --library.peers[transfer.rank].reads;
  library.transfers.erase(transfer.number);
  leave_group(library, group, status);
}

void answer(Transfer& transfer, sci_error_t status) noexcept {
  transfer.is_answered = true;
  if (transfer.status == SCI_ERR_OK) transfer.status = status;
  end_if_over(transfer);
}

Transfer& make(Library& library, const Connection& connection, TransferGroup& group) {
  auto made = std::make_unique<Transfer>();
  Transfer& transfer = *made;
  transfer.library = &library;
  transfer.number = ++library.last_transfer;
  transfer.rank = connection.rank;
  transfer.group = &group;
  transfer.done = [](interfaces::SendCompletion& completion, Outcome outcome) noexcept {
    auto& sent = static_cast<Transfer&>(completion);
    sent.is_sent = true;
    if (outcome == Outcome::failed) return answer(sent, SCI_ERR_TRANSFER_FAILED);
    end_if_over(sent);
  };
  library.transfers.emplace(transfer.number, std::move(made));
  enter_group(group);
  return transfer;
}

void fail_to_send(Transfer& transfer) noexcept {
  transfer.is_sent = true;
  answer(transfer, SCI_ERR_NOSPC);
}

/// The transfer that an answer is for.
Transfer* transfer_of(const Library& library, std::uint32_t peer, std::uint64_t number,
                      bool is_read) noexcept {
  const auto place = library.transfers.find(number);
  if (place == library.transfers.end()) return nullptr;
  Transfer& transfer = *place->second;
  const bool is_its = transfer.rank == peer && transfer.is_read == is_read;
  return is_its && !transfer.is_answered && !transfer.is_landing ? &transfer : nullptr;
}

}  // namespace

void enter_group(TransferGroup& group) noexcept { ++group.under_way; }

void leave_group(Library& library, TransferGroup& group, sci_error_t status) noexcept {
  if (group.status == SCI_ERR_OK) group.status = status;
  if (--group.under_way != 0) return;
  if (group.ended != nullptr) group.ended(library, group);
  library.port->notify();
}

std::uint64_t start_write(Library& library, const Connection& connection, std::uint64_t offset,
                          std::span<const std::byte> source, std::uint32_t flags,
                          TransferGroup& group) noexcept {
  Transfer& transfer = make(library, connection, group);
  const std::uint64_t number = transfer.number;
  const wire::SisciTransfer request{connection.grant, offset, source.size(),
                                    transfer.number,  flags,  0};
  if (!post(library, connection.rank, wire::SisciKind::write, wire::bytes_of(request), source,
            &transfer)) {
    fail_to_send(transfer);
  }
  return number;
}

bool is_sent(const Library& library, std::uint64_t transfer) noexcept {
  const auto place = library.transfers.find(transfer);
  return place == library.transfers.end() || place->second->is_sent;
}

void start_read(Library& library, const Connection& connection, std::uint64_t offset,
                std::span<std::byte> target, TransferGroup& group) {
  Peer& peer = library.peers[connection.rank];
  const auto has_room = [&]() noexcept {
    return peer.reads < most_reads || connection.state != Connection::State::connected;
  };
  if (!has_room()) (void)wait(library, has_room, UINT32_MAX);
  Transfer& transfer = make(library, connection, group);
  transfer.is_read = true;
  transfer.target = target;
  transfer.is_sent = true;  // the memory is that of the answer
  ++peer.reads;
  const wire::SisciTransfer request{connection.grant, offset, target.size(), transfer.number, 0, 0};
  const std::uint64_t number = transfer.number;
  if (post(library, connection.rank, wire::SisciKind::read, wire::bytes_of(request))) {
    // A frame to a node that is lost goes nowhere, and its loss has been told.
    Transfer* const sent = transfer_of(library, connection.rank, number, true);
    if (sent != nullptr && library.port->lost(connection.rank)) {
      answer(*sent, SCI_ERR_TRANSFER_FAILED);
    }
    return;
  }
  fail_to_send(transfer);
}

bool await_group(Library& library, const TransferGroup& group, std::uint32_t timeout_ms) {
  if (group.under_way == 0) return true;
  return wait(library, [&]() noexcept { return group.under_way == 0; }, timeout_ms);
}

void on_done(Library& library, const interfaces::Frame& frame) noexcept {
  const auto done = wire::decode_sisci<wire::SisciDone>(frame.header);
  Transfer* const transfer =
      done ? transfer_of(library, frame.peer, done->transfer, false) : nullptr;
  if (transfer != nullptr) answer(*transfer, status_of(done->status));
}

std::byte* begin_answer(Library& library, const interfaces::Frame& frame,
                        Landing& landing) noexcept {
  const auto done = wire::decode_sisci<wire::SisciDone>(frame.header);
  Transfer* const transfer =
      done ? transfer_of(library, frame.peer, done->transfer, true) : nullptr;
  if (transfer == nullptr) return nullptr;
  landing.transfer = transfer;
  transfer->is_landing = true;
  if (transfer->group->is_aborted) {
    transfer->status = SCI_ERR_CANCELLED;
  } else if (frame.payload_bytes != transfer->target.size() || done->status != SCI_ERR_OK) {
    transfer->status = SCI_ERR_TRANSFER_FAILED;
  }
  return transfer->status == SCI_ERR_OK ? transfer->target.data() : nullptr;
}

void end_answer(Library& library, const interfaces::Frame& frame, Landing* landing,
                interfaces::Client::Payload payload) noexcept {
  if (landing != nullptr) {
    Transfer* const transfer = landing->transfer;
    if (transfer == nullptr) return;
    transfer->is_landing = false;
    const bool is_here = payload == interfaces::Client::Payload::here;
    return answer(*transfer, is_here ? SCI_ERR_OK : SCI_ERR_TRANSFER_FAILED);
  }
  const auto done = wire::decode_sisci<wire::SisciDone>(frame.header);
  Transfer* const transfer =
      done ? transfer_of(library, frame.peer, done->transfer, true) : nullptr;
  if (transfer == nullptr) return;
  // An answer that says success brings the bytes.
  const sci_error_t status = status_of(done->status);
  answer(*transfer, status == SCI_ERR_OK ? SCI_ERR_TRANSFER_FAILED : status);
}

void lose_transfers(Library& library, std::uint32_t rank) noexcept {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, transfer] : library.transfers) {
    if (transfer->rank == rank && !transfer->is_answered && !transfer->is_landing) {
      numbers.push_back(number);
    }
  }
  for (const std::uint64_t number : numbers) {
    const auto place = library.transfers.find(number);
    if (place != library.transfers.end()) answer(*place->second, SCI_ERR_TRANSFER_FAILED);
  }
}

}  // namespace fulmar::sisci

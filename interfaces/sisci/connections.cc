// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/connections.h"

#include <sys/mman.h>

#include <utility>
#include <vector>

#include "sisci/api.h"
#include "sisci/grants.h"

namespace fulmar::sisci {
namespace {

using State = Connection::State;

/// The event that the program gets, whatever the connection belongs to.
void tell(Library& library, const Connection& connection, Event event) {
  if (connection.owner == nullptr) return;
  event.node = node_of(library, connection.rank);
  if (connection.object == wire::SisciObject::segment) {
    push(library, *static_cast<RemoteSegment*>(connection.owner), event);
  } else {
    push(library, *static_cast<LocalSegment*>(connection.owner), event);
  }
}

void settle(Library& library, Connection& connection, State state, sci_error_t status) {
  connection.state = state;
  connection.status = status;
  if (connection.tells_connect) tell(library, connection, {SCI_CB_CONNECT, 0, status});
  library.port->notify();
}

void give_back_memory(Library& library, Connection& connection) noexcept {
  connection.base = nullptr;
  interfaces::Segment* const memory = std::exchange(connection.memory, nullptr);
  if (memory != nullptr) library.port->release_segment(memory);
}

/// It worked for a while, and does not any more.
void break_off(Library& library, Connection& connection, State state,
               sci_segment_cb_reason_t reason) {
  connection.state = state;
  connection.status = SCI_ERR_SEGMENT_NOT_CONNECTED;
  if (connection.object == wire::SisciObject::segment && connection.owner != nullptr) {
    sever_maps(library, *static_cast<RemoteSegment*>(connection.owner));
  }
  tell(library, connection, {reason, 0, SCI_ERR_OK});
  library.port->notify();
}

Connection* connection_of(const Library& library, std::uint32_t peer,
                          std::uint64_t request) noexcept {
  const auto place = library.requests.find(request);
  if (place == library.requests.end() || place->second->rank != peer) return nullptr;
  return place->second;
}

void disconnect(Library& library, std::uint32_t rank, const wire::SisciGrant& grant) noexcept {
  (void)post(library, rank, wire::SisciKind::disconnect, wire::bytes_of(grant));
}

}  // namespace

sci_error_t status_of(std::uint32_t code) noexcept {
  const bool is_error = (code & SCI_ERR_MASK) != 0 && (code & ~0x40000fffU) == 0;
  if (code == SCI_ERR_OK) return SCI_ERR_OK;
  return is_error ? static_cast<sci_error_t>(code) : SCI_ERR_TRANSFER_FAILED;
}

sci_error_t find_node(const Library& library, std::uint32_t node, std::uint32_t& rank) noexcept {
  if (node == SCI_LOCAL_HOST) {
    rank = library.port->rank();
    return SCI_ERR_OK;
  }
  if (node > Nodes::most_id) return SCI_ERR_ILLEGAL_NODEID;
  const auto found = library.nodes.rank_of(node);
  if (!found) {
    return node == DIS_BROADCAST_NODEID_GROUP_ALL ? SCI_ERR_NOT_SUPPORTED : SCI_ERR_NO_SUCH_NODEID;
  }
  rank = *found;
  return library.port->lost(rank) ? SCI_ERR_NODE_NOT_RESPONDING : SCI_ERR_OK;
}

bool ask(Library& library, Connection& connection, std::uint32_t rank, wire::SisciObject object,
         std::uint32_t number) noexcept {
  connection.rank = rank;
  connection.object = object;
  connection.number = number;
  connection.request = ++library.last_request;
  library.requests.emplace(connection.request, &connection);
  const wire::SisciConnect request{connection.request, object, number};
  return post(library, rank, wire::SisciKind::connect, wire::bytes_of(request));
}

void close(Library& library, Connection& connection) noexcept {
  library.requests.erase(connection.request);
  const bool has_grant = connection.is_answered && connection.grant.handle != 0;
  const bool is_granted =
      connection.state == State::connected || connection.state == State::pending;
  if (has_grant && is_granted) disconnect(library, connection.rank, connection.grant);
  connection.state = State::ended;
  give_back_memory(library, connection);
}

void sever_maps(Library& library, const RemoteSegment& segment) noexcept {
  for (const auto& [handle, map] : library.maps.all()) {
    if (map->remote != &segment || map->pages.empty()) continue;
    (void)::mmap(map->pages.data(), map->pages.size(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  }
}

void on_connected(Library& library, const interfaces::Frame& frame) noexcept {
  const auto reply = wire::decode_sisci<wire::SisciConnected>(frame.header);
  if (!reply) return;
  Connection* const connection = connection_of(library, frame.peer, reply->request);
  if (connection == nullptr) {
    // Nobody waits for it any more.
    if (reply->status == SCI_ERR_OK) disconnect(library, frame.peer, {reply->handle, reply->seal});
    return;
  }
  if (connection->is_answered) return;
  connection->is_answered = true;
  if (const sci_error_t status = status_of(reply->status); status != SCI_ERR_OK) {
    return settle(library, *connection, State::ended, status);
  }
  connection->grant = {reply->handle, reply->seal};
  connection->bytes = reply->bytes;
  if (frame.peer == library.port->rank()) {
    const LocalSegment* const own = segment_of(library, connection->number);
    const bool is_segment = connection->object == wire::SisciObject::segment ||
                            connection->object == wire::SisciObject::attached_segment;
    connection->base = is_segment && own != nullptr ? own->base : nullptr;
  } else if ((reply->flags & wire::sisci_shares_memory) != 0) {
    // It may have been mapped before.
    connection->awaits_memory = connection->memory == nullptr && library.port->on_node(frame.peer);
    if (connection->awaits_memory) return;
  }
  settle(library, *connection, State::connected, SCI_ERR_OK);
}

void on_mapped(Library& library, std::uint32_t peer, std::uint64_t request,
               interfaces::Segment* segment) noexcept {
  Connection* const connection = connection_of(library, peer, request);
  const bool is_wanted = connection != nullptr && connection->memory == nullptr &&
                         connection->state == State::pending &&
                         (connection->object == wire::SisciObject::segment ||
                          connection->object == wire::SisciObject::attached_segment);
  if (!is_wanted) {
    if (segment != nullptr) library.port->release_segment(segment);
    return;
  }
  connection->memory = segment;
  // An owner that shares less than it says is not believed when transfers are checked, either.
  const bool fits =
      segment != nullptr && (!connection->is_answered || segment->bytes >= connection->bytes);
  connection->base = fits ? segment->base : nullptr;
  if (!connection->awaits_memory) return;
  connection->awaits_memory = false;
  settle(library, *connection, State::connected, SCI_ERR_OK);
}

void on_ended(Library& library, const interfaces::Frame& frame) noexcept {
  const auto ended = wire::decode_sisci_ended(frame.header);
  if (!ended) return;
  Connection* const connection = connection_of(library, frame.peer, ended->request);
  if (connection == nullptr || !connection->is_answered) return;
  if (ended->end == wire::SisciEnd::invited) {
    if (connection->state == State::connected) {
      tell(library, *connection, {SCI_CB_DISCONNECT, 0, SCI_ERR_OK});
    }
    return;
  }
  if (connection->state == State::pending) {
    return settle(library, *connection, State::ended, SCI_ERR_CONNECTION_REFUSED);
  }
  if (connection->state != State::connected) return;
  break_off(library, *connection, State::ended, SCI_CB_DISCONNECT);
}

void lose_connections(Library& library, std::uint32_t rank) noexcept {
  std::vector<Connection*> lost;
  for (const auto& [request, connection] : library.requests) {
    if (connection->rank == rank) lost.push_back(connection);
  }
  for (Connection* const each : lost) {
    if (each->state == State::pending) {
      settle(library, *each, State::lost, SCI_ERR_NODE_NOT_RESPONDING);
    } else if (each->state == State::connected) {
      break_off(library, *each, State::lost, SCI_CB_LOST);
    }
  }
}

}  // namespace fulmar::sisci

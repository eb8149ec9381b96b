// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/library.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "sisci/connections.h"
#include "sisci/grants.h"
#include "sisci/segments.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
namespace {

using interfaces::Port;
using wire::SisciKind;

constexpr const char* node_file_variable = "FULMAR_SISCI_NODES";

/// What is wrong with the node file, for people; empty: nothing, or there is none.
std::string read_node_file(Nodes& nodes) {
  const char* const path = std::getenv(node_file_variable);
  if (path == nullptr || *path == '\0') return {};
  const std::ifstream file(path);
  if (!file) return std::string(path) + ": " + std::strerror(errno);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string wrong = nodes.take(text.str());
  return wrong.empty() ? wrong : std::string(path) + ": " + wrong;
}

/// A frame of this process to itself.
void loop_back(Library& library, SisciKind kind, std::span<const std::byte> header,
               std::span<const std::byte> payload, interfaces::SendCompletion* completion) {
  const interfaces::Frame frame{library.port->rank(), static_cast<std::uint8_t>(kind), header,
                                payload.size()};
  auto outcome = interfaces::Client::Payload::none;
  if (!payload.empty()) {
    std::byte* const place = library.frames.begin(frame);
    outcome =
        place == nullptr ? interfaces::Client::Payload::refused : interfaces::Client::Payload::here;
    if (place != nullptr) std::memmove(place, payload.data(), payload.size());
  }
  if (completion != nullptr) completion->done(*completion, interfaces::Outcome::done);
  library.frames.deliver(frame, outcome);
}

}  // namespace

sci_error_t join(Library& library) {
  const char* why = "";
  Port* const port = fulmar_interfaces_open(interfaces::core_version, interfaces::PortId::sisci,
                                            &library.frames, interfaces::Threads::many, &why);
  if (port == nullptr) {
    std::fprintf(stderr, "fulmar: SCIInitialize: %s\n", why);
    const bool is_version = std::strstr(why, "version") != nullptr;
    return is_version ? SCI_ERR_INCONSISTENT_VERSIONS : SCI_ERR_NO_LINK_ACCESS;
  }
  attach(library, *port);
  port->start();
  return SCI_ERR_OK;
}

bool read_nodes(Library& library) {
  Nodes nodes(library.port->size());
  const std::string wrong = read_node_file(nodes);
  if (!wrong.empty()) {
    std::fprintf(stderr,
                 "fulmar: SCIInitialize: %s: %s; correct the file, or unset the variable: then "
                 "ranks are the numbers of nodes\n",
                 node_file_variable, wrong.c_str());
    return false;
  }
  library.nodes = std::move(nodes);
  return true;
}

void attach(Library& library, Port& port) {
  library.port = &port;
  library.nodes = Nodes(port.size());
  library.peers = std::vector<Peer>(port.size());
}

void leave(Library& library) noexcept {
  library.callbacks.stop();
  {
    const Locked lock(library);
    clear(library);
  }
  library.port->close(Port::Leaving::alone);
  library.port = nullptr;
}

bool post(Library& library, std::uint32_t rank, SisciKind kind, std::span<const std::byte> header,
          std::span<const std::byte> payload, interfaces::SendCompletion* completion) noexcept {
  if (rank == library.port->rank()) {
    loop_back(library, kind, header, payload, completion);
    return true;
  }
  return library.port->send(rank, static_cast<std::uint8_t>(kind), header, payload, completion);
}

void progress_now_and_then(Library& library) noexcept {
  constexpr std::chrono::milliseconds interval(1);
  const auto now = std::chrono::steady_clock::now();
  if (now - library.last_progress < interval) return;
  library.last_progress = now;
  library.port->progress();
}

std::byte* Frames::begin(const interfaces::Frame& frame) noexcept {
  Landing& landing = library_.peers[frame.peer].landings.emplace_back();
  switch (static_cast<SisciKind>(frame.kind)) {
    case SisciKind::write:
      return begin_write(library_, frame, landing);
    case SisciKind::data:
      return begin_answer(library_, frame, landing);
    default:
      return nullptr;
  }
}

void Frames::deliver(const interfaces::Frame& frame, Payload payload) noexcept {
  Landing landing;
  if (frame.payload_bytes != 0) {
    auto& landings = library_.peers[frame.peer].landings;
    landing = std::move(landings.front());
    landings.pop_front();
  }
  switch (static_cast<SisciKind>(frame.kind)) {
    case SisciKind::connect:
      return on_connect(library_, frame);
    case SisciKind::connected:
      return on_connected(library_, frame);
    case SisciKind::disconnect:
      return on_disconnect(library_, frame);
    case SisciKind::ended:
      return on_ended(library_, frame);
    case SisciKind::write:
      if (frame.payload_bytes != 0) end_write(library_, frame, landing, payload);
      return;
    case SisciKind::read:
      return on_read(library_, frame);
    case SisciKind::done:
      return on_done(library_, frame);
    case SisciKind::data:
      return end_answer(library_, frame, frame.payload_bytes == 0 ? nullptr : &landing, payload);
    case SisciKind::trigger:
      return on_trigger(library_, frame);
  }
}

void Frames::segment_mapped(std::uint32_t peer, std::uint64_t id,
                            interfaces::Segment* segment) noexcept {
  on_mapped(library_, peer, id, segment);
}

void Frames::peer_lost(std::uint32_t peer) noexcept {
  lose_grants(library_, peer);
  lose_connections(library_, peer);
  lose_transfers(library_, peer);
}

}  // namespace fulmar::sisci

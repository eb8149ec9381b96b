// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// What is fuzzed. Each target takes any bytes and must neither crash nor hang nor trip a
/// sanitizer; what it checks beyond that it checks with abort().
namespace fulmar::fuzz {

/// A job segment as an mpiexec that is broken or hostile might hand over.
void attach_job(std::span<const std::uint8_t> input);
/// What a launcher and other ranks put into its key-value space and its lines.
void launcher_values(std::span<const std::uint8_t> input);
/// What a process may send to the spawn service of mpiexec, and mpiexec to it.
void launch_messages(std::span<const std::uint8_t> input);
/// Packets of a hostile peer at a device that talks to an honest one too.
void device_packets(std::span<const std::uint8_t> input);
/// A ring, a mailbox and the control words of an area, written by a hostile peer.
void channel_area(std::span<const std::uint8_t> input);
/// A pipe of a channel design, written by a hostile peer.
void study_pipe(std::span<const std::uint8_t> input);
/// What a peer that has proven to be of the job may send on a TCP connection all the same.
void tcp_stream(std::span<const std::uint8_t> input);
/// Both sides of the handshake of a TCP connection with somebody who does not know the key, and the
/// address that a broken launcher might pass on.
void tcp_handshake(std::span<const std::uint8_t> input);
/// Messages of strangers and of hostile ranks at an endpoint of libfabric, and addresses.
void ofi_messages(std::span<const std::uint8_t> input);
/// Cards and packets of a hostile rank at the network verbs, and addresses.
void verbs_messages(std::span<const std::uint8_t> input);
/// Frames of a hostile rank at a port of an interface beside MPI.
void interface_frames(std::span<const std::uint8_t> input);
/// What they say of RWAPI.
void rwapi_frames(std::span<const std::uint8_t> input);
/// What they say of SISCI.
void sisci_frames(std::span<const std::uint8_t> input);
/// What an end of a VIPL connection writes to the other's memory, and messages of its process.
void vipl_entries(std::span<const std::uint8_t> input);
/// A file that `fulmar trace` is given.
void trace_files(std::span<const std::uint8_t> input);

/// Packets of a hostile rank over the rails of a bundle, the ends of rails among them, and
/// addresses.
void bundle_packets(std::span<const std::uint8_t> input);

/// Requests, data and questions for answers of a hostile origin at the windows of an honest process.
void rma_requests(std::span<const std::uint8_t> input);
/// The description of a datatype that an origin of one-sided operations sends.
void type_description(std::span<const std::uint8_t> input);
/// Questions of a hostile rank at the process that keeps the shared pointer of a file.
void shared_pointer(std::span<const std::uint8_t> input);
/// Filetypes of any form: where their data lie in a file, in all ways in which that is asked.
void file_views(std::span<const std::uint8_t> input);
/// The list of runs that a rank sends to an aggregator: what is accepted lies in the window.
void file_runs(std::span<const std::uint8_t> input);
/// Those who ask for memory that a process offers to others of its node, and what may be given to
/// who asks.
void node_segment(std::span<const std::uint8_t> input);
/// What strangers send to a port, both ways, names of ports that a program was given, and what the other
/// root may say all the same.
void port_messages(std::span<const std::uint8_t> input);

}  // namespace fulmar::fuzz

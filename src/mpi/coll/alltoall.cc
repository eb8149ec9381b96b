// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <vector>

#include "mpi/coll/calls.h"
#include "mpi/coll/exchange.h"
#include "mpi/coll/scratch.h"
#include "mpi/datatype/view.h"

/// Every rank sends to each other one directly, first to its next neighbour, then to the one after,
/// so that nobody is everybody's target at once; a window of messages is under way at a time. In
/// place the outgoing blocks are packed into memory of their own first.
namespace fulmar::mpi {
namespace {

using base::Error;

constexpr int window = 32;

/// The blocks of this rank for and from each rank, whatever the form of the call.
template <class To, class From>
Error exchange_blocks(Exchange& exchange, To&& to, From&& from) {
  const int self = exchange.rank();
  Transfers transfers(exchange, 2 * std::min(window, exchange.size()));
  for (int step = 1; step < exchange.size(); ++step) {
    const int source = exchange.neighbour(-step);
    const int dest = exchange.neighbour(step);
    transfers.receive(from(source), source);
    transfers.send(to(dest), dest);
  }
  const ConstData own = to(self);
  if (own.type != nullptr) exchange.note(copy_data(own, from(self)));
  transfers.wait();
  return exchange.result();
}

template <class From>
Error exchange_in_place(Exchange& exchange, From&& from) {
  const Datatype& byte = *exchange.comm().library->find<Datatype>(MPI_BYTE);
  std::vector<Count> offsets;
  Count total = 0;
  for (int rank = 0; rank < exchange.size(); ++rank) {
    offsets.push_back(total);
    total += rank == exchange.rank() ? 0 : bytes_of(from(rank));
  }
  const Scratch copy(byte, total);
  if (copy.failed()) return copy.error();
  auto* packed = static_cast<std::byte*>(copy.address());
  for (int rank = 0; rank < exchange.size(); ++rank) {
    if (rank == exchange.rank()) continue;
    const Data block = from(rank);
    View(*block.type, block.count)
        .pack(block.address, 0,
              {packed + offsets[static_cast<std::size_t>(rank)],
               static_cast<std::size_t>(bytes_of(block))});
  }
  const auto to = [&](int rank) {
    if (rank == exchange.rank()) return ConstData{};
    return ConstData{packed + offsets[static_cast<std::size_t>(rank)], bytes_of(from(rank)), &byte};
  };
  return exchange_blocks(exchange, to, from);
}

/// The datatypes of MPI_Alltoallw, looked up and checked.
Error find_types(Library& library, const char* argument, const MPI_Datatype* handles, int ranks,
                 std::vector<const Datatype*>& types) {
  if (handles == nullptr) {
    return base::failure(base::ErrorClass::arg,
                         "argument %s: null pointer; give one datatype for each rank", argument);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto* type = library.find<Datatype>(handles[rank]);
    if (type == nullptr || !type->committed) {
      return base::failure(base::ErrorClass::type, "argument %s: entry %d is %s", argument, rank,
                           type == nullptr ? "no datatype" : "not committed");
    }
    types.push_back(type);
  }
  return {};
}

Error check_v(const char* counts_name, CountArray counts, const char* displs_name,
              CountArray displs, int ranks) {
  if (const Error bad = check_counts(counts_name, counts, ranks); bad.failed()) return bad;
  return check_displs(displs_name, displs);
}

}  // namespace

Error alltoall(const ConstData& send, const Data& receive, Comm& comm) {
  Exchange exchange(comm);
  const auto from = [&](int rank) {
    return Data{shifted(receive.address, receive.type->extent * receive.count * rank),
                receive.count, receive.type};
  };
  if (is_in_place(send.address)) return exchange_in_place(exchange, from);
  const auto to = [&](int rank) {
    return ConstData{shifted(send.address, send.type->extent * send.count * rank), send.count,
                     send.type};
  };
  return exchange_blocks(exchange, to, from);
}

Error alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                const Datatype* send_type, void* receive, CountArray receive_counts,
                CountArray receive_displs, const Datatype& receive_type, Comm& comm) {
  Exchange exchange(comm);
  const Error bad_receive =
      check_v("recvcounts", receive_counts, "rdispls", receive_displs, comm.size());
  if (bad_receive.failed()) return bad_receive;
  const auto from = [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return Data{shifted(receive, receive_type.extent * receive_displs[i]), receive_counts[i],
                &receive_type};
  };
  if (is_in_place(send)) return exchange_in_place(exchange, from);
  const Error bad_send = check_v("sendcounts", send_counts, "sdispls", send_displs, comm.size());
  if (bad_send.failed()) return bad_send;
  const auto to = [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return ConstData{shifted(send, send_type->extent * send_displs[i]), send_counts[i], send_type};
  };
  return exchange_blocks(exchange, to, from);
}

Error alltoallw(const void* send, CountArray send_counts, CountArray send_displs,
                const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm) {
  Exchange exchange(comm);
  const Error bad_receive =
      check_v("recvcounts", receive_counts, "rdispls", receive_displs, comm.size());
  if (bad_receive.failed()) return bad_receive;
  std::vector<const Datatype*> in_types;
  const Error bad_in = find_types(*comm.library, "recvtypes", receive_types, comm.size(), in_types);
  if (bad_in.failed()) return bad_in;
  const auto from = [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return Data{shifted(receive, receive_displs[i]), receive_counts[i], in_types[i]};
  };
  if (is_in_place(send)) return exchange_in_place(exchange, from);
  const Error bad_send = check_v("sendcounts", send_counts, "sdispls", send_displs, comm.size());
  if (bad_send.failed()) return bad_send;
  std::vector<const Datatype*> out_types;
  const Error bad_out = find_types(*comm.library, "sendtypes", send_types, comm.size(), out_types);
  if (bad_out.failed()) return bad_out;
  const auto to = [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return ConstData{shifted(send, send_displs[i]), send_counts[i], out_types[i]};
  };
  return exchange_blocks(exchange, to, from);
}

}  // namespace fulmar::mpi

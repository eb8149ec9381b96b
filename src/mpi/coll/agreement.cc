// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/agreement.h"

#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "mpi/p2p/message.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// Apart from the messages of the calls themselves.
constexpr auto channel = static_cast<Channel>(Comm::collective_bit | Comm::partitioned_bit);
constexpr int call_tag = 0;
constexpr int verdict_tag = 1;

struct Verdict {
  std::int32_t error_class;
  std::array<char, 600> text;
};

template <std::size_t size>
void set(std::array<char, size>& to, std::string_view text) {
  std::snprintf(to.data(), size, "%.*s", static_cast<int>(text.size()), text.data());
}

/// Each rank may give another amount of data.
bool amounts_differ(std::string_view name) {
  return name.ends_with('v') || name.ends_with('w') || name == "MPI_Reduce_scatter";
}

}  // namespace

CollectiveCall::CollectiveCall(const char* name) noexcept {
  std::string_view text = name;
  if (text.ends_with("_c")) text.remove_suffix(2);
  set(body_.name, text);
  body_.bytes = -1;
  body_.root = -1;
}

void CollectiveCall::add_op(const Op& op) noexcept { set(body_.op, op.name); }

void CollectiveCall::add_data(Count count, const Datatype& type) noexcept {
  const BasicType* basic = type.uniform();
  if (body_.bytes < 0 && !amounts_differ(body_.name.data())) {
    body_.bytes = count * type.size;
    if (basic != nullptr && count != 0) set(body_.type, basic->name);
  }
  std::string text = body_.data.data();
  if (!text.empty()) text += ", ";
  text += std::to_string(count) + " ";
  if (basic != nullptr && type.basic != nullptr) {
    text += basic->name;
  } else {
    text += "of a type of " + std::to_string(type.size) + " bytes";
  }
  set(body_.data, text);
}

/// "MPI_Reduce(root 0, 4 MPI_INT, MPI_SUM)"
std::string CollectiveCall::text_of(Body& body) {
  body.name.back() = body.op.back() = body.type.back() = body.data.back() = '\0';
  std::string inside;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    if (!inside.empty()) inside += ", ";
    inside += part;
  };
  if (body.root >= 0) add("root " + std::to_string(body.root));
  add(body.data.data());
  add(body.op.data());
  return std::string(body.name.data()) + "(" + inside + ")";
}

ErrorClass CollectiveCall::difference(const Body& a, const Body& b) noexcept {
  if (a.name != b.name) return ErrorClass::other;
  if (a.root != b.root) return ErrorClass::root;
  if (a.op != b.op) return ErrorClass::op;
  if (a.bytes < 0 || b.bytes < 0) return ErrorClass::success;
  if (a.bytes != b.bytes) return ErrorClass::count;
  if (a.type[0] != '\0' && b.type[0] != '\0' && a.type != b.type) return ErrorClass::type;
  return ErrorClass::success;
}

/// The first rank whose call does not fit that of rank 0.
Error CollectiveCall::judge(std::span<Body> calls, std::span<char> text) {
  for (std::size_t rank = 1; rank < calls.size(); ++rank) {
    const ErrorClass wrong = difference(calls.front(), calls[rank]);
    if (wrong == ErrorClass::success) continue;
    std::snprintf(text.data(), text.size(), "rank %zu called %s where rank 0 called %s", rank,
                  text_of(calls[rank]).c_str(), text_of(calls.front()).c_str());
    return Error(wrong);
  }
  return {};
}

Error CollectiveCall::compare(Comm& comm) {
  const auto& byte = *comm.library->find<Datatype>(MPI_BYTE);
  Verdict verdict{};
  if (comm.rank != 0) {
    const ConstData own{&body_, sizeof body_, &byte};
    Error error = send_message(comm, own, 0, call_tag, channel);
    if (error.ok()) {
      error = receive_message(comm, {&verdict, sizeof verdict, &byte}, 0, verdict_tag, channel);
    }
    if (error.failed()) return error;
  } else {
    std::vector<Body> calls(static_cast<std::size_t>(comm.size()));
    calls.front() = body_;
    for (int rank = 1; rank < comm.size(); ++rank) {
      const Data room{&calls[static_cast<std::size_t>(rank)], sizeof(Body), &byte};
      const Error error = receive_message(comm, room, rank, call_tag, channel);
      if (error.failed()) return error;
    }
    verdict.error_class = static_cast<std::int32_t>(judge(calls, verdict.text).error_class());
    for (int rank = 1; rank < comm.size(); ++rank) {
      const ConstData told{&verdict, sizeof verdict, &byte};
      const Error error = send_message(comm, told, rank, verdict_tag, channel);
      if (error.failed()) return error;
    }
  }
  if (verdict.error_class == static_cast<std::int32_t>(ErrorClass::success)) return {};
  verdict.text.back() = '\0';
  return base::failure(static_cast<ErrorClass>(verdict.error_class),
                       "%s; all ranks of a communicator must make the same collective calls in the "
                       "same order (FULMAR_CHECK=collectives)",
                       verdict.text.data());
}

}  // namespace fulmar::mpi

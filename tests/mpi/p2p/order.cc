// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Matching: messages between two ranks do not overtake each other, whatever their lengths and modes
// and however the receives ask (MPI 5.0 section 3.5); floods of unexpected messages.
// ranks: 1 2 4
// timeout: 120
#include <random>

#include "check.h"

namespace {

constexpr int mixed_lengths[] = {0,     1,     48,    49,    16383, 16384,  16385,  32767,
                                 32768, 32769, 65535, 65536, 65537, 262144, 1048576};

int length_of(int message, unsigned seed) {
  return mixed_lengths[(static_cast<unsigned>(message) * 7919U + seed) % 15U];
}

/// Every rank sends `count` messages of mixed lengths, modes and three tags to rank 0; each carries
/// its number in its first bytes. `receive_style` says how rank 0 asks.
void mixed(int count, int receive_style, unsigned seed) {
  const int senders = check::size() == 1 ? 1 : check::size() - 1;
  std::vector<MPI_Request> sends;
  std::vector<std::vector<unsigned char>> data;
  if (check::rank() != 0 || check::size() == 1) {
    for (int i = 0; i < count; ++i) {
      const auto bytes = static_cast<std::size_t>(length_of(i, seed)) + 4;
      data.push_back(check::pattern(bytes, static_cast<unsigned>(i)));
      std::memcpy(data.back().data(), &i, 4);
    }
    sends.resize(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const auto& each = data[static_cast<std::size_t>(i)];
      auto* start = i % 3 == 1 ? MPI_Issend : MPI_Isend;
      check::ok(start(each.data(), static_cast<int>(each.size()), MPI_BYTE, 0, i % 3,
                      MPI_COMM_WORLD, &sends[static_cast<std::size_t>(i)]));
    }
  }
  if (check::rank() == 0) {
    std::vector<int> next(static_cast<std::size_t>(check::size()) * 3);
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = static_cast<int>(i % 3);
    std::vector<int> next_any(static_cast<std::size_t>(check::size()), 0);
    std::vector<unsigned char> in(1048576 + 4);
    std::mt19937 random(seed);
    int per_tag[3] = {(count + 2) / 3, (count + 1) / 3, count / 3};
    int left_of_tag[3] = {per_tag[0] * senders, per_tag[1] * senders, per_tag[2] * senders};
    for (int i = 0; i < count * senders; ++i) {
      int tag = MPI_ANY_TAG;
      if (receive_style == 1) {  // tag after tag, the last one first
        tag = left_of_tag[2] > 0 ? 2 : left_of_tag[1] > 0 ? 1 : 0;
        --left_of_tag[tag];
      } else if (receive_style == 2) {
        do tag = static_cast<int>(random() % 3);
        while (left_of_tag[tag] == 0);
        --left_of_tag[tag];
      }
      MPI_Status status;
      check::ok(MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, MPI_ANY_SOURCE, tag,
                         MPI_COMM_WORLD, &status));
      int number = -1;
      std::memcpy(&number, in.data(), 4);
      const auto source = static_cast<std::size_t>(status.MPI_SOURCE);
      check::is(status.MPI_TAG, number % 3, "tag");
      if (tag == MPI_ANY_TAG) {
        check::is(number, next_any[source]++, "order of any tag");
      } else {
        int& expected = next[source * 3 + static_cast<std::size_t>(tag)];
        check::is(number, expected, "order within a tag");
        expected += 3;
      }
      if (number < 0 || number >= count) return;
      const int bytes = length_of(number, seed) + 4;
      check::status(status, status.MPI_SOURCE, number % 3, bytes);
      for (int at = 4; at < bytes; at += 997) {
        check::is(in[static_cast<std::size_t>(at)],
                  check::byte_of(static_cast<std::size_t>(at), static_cast<unsigned>(number)),
                  "data");
      }
    }
  }
  check::ok(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE));
  check::meet();
}

/// Receives posted first, with and without wildcards: the one posted first takes the message.
void posted() {
  const int right = (check::rank() + 1) % check::size();
  const int left = (check::rank() + check::size() - 1) % check::size();
  int values[6] = {};
  MPI_Request requests[6];
  const int sources[6] = {MPI_ANY_SOURCE, left, MPI_ANY_SOURCE, left, left, MPI_ANY_SOURCE};
  const int tags[6] = {5, MPI_ANY_TAG, MPI_ANY_TAG, 6, 5, 5};
  for (int i = 0; i < 6; ++i) {
    check::ok(MPI_Irecv(&values[i], 1, MPI_INT, sources[i], tags[i], MPI_COMM_WORLD, &requests[i]));
  }
  check::meet();
  // 0 takes the first with tag 5, then 1 and 2 anything, then by tag.
  const int send_tags[6] = {6, 5, 5, 6, 5, 5};
  const int takers[6] = {1, 0, 2, 3, 4, 5};
  for (int i = 0; i < 6; ++i) {
    check::ok(MPI_Send(&i, 1, MPI_INT, right, send_tags[i], MPI_COMM_WORLD));
  }
  MPI_Status statuses[6];
  check::ok(MPI_Waitall(6, requests, statuses));
  for (int i = 0; i < 6; ++i) {
    check::is(values[takers[i]], i, "who took the message");
    check::status(statuses[takers[i]], left, send_tags[i], 4);
  }
  check::meet();
}

/// More than any buffer holds, unasked for; the last message is received first.
void flood(int bytes, int count) {
  const int right = (check::rank() + 1) % check::size();
  const int left = (check::rank() + check::size() - 1) % check::size();
  std::vector<MPI_Request> requests(static_cast<std::size_t>(count) + 1);
  std::vector<unsigned char> out(static_cast<std::size_t>(bytes), 0x77);
  std::vector<unsigned char> in(static_cast<std::size_t>(bytes));
  for (int i = 0; i < count; ++i) {
    check::ok(MPI_Isend(out.data(), bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD,
                        &requests[static_cast<std::size_t>(i)]));
  }
  check::ok(MPI_Isend(out.data(), bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests.back()));
  MPI_Status status;
  check::ok(MPI_Probe(left, 2, MPI_COMM_WORLD, &status));
  check::ok(MPI_Recv(in.data(), bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &status));
  check::status(status, left, 2, bytes);
  for (int i = 0; i < count; ++i) {
    check::ok(
        MPI_Recv(in.data(), bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check::status(status, left, 1, bytes);
  }
  check::ok(MPI_Waitall(count + 1, requests.data(), MPI_STATUSES_IGNORE));
  check::meet();
}

/// The same tag and peer on two communicators: they do not see each other's messages.
void two_communicators() {
  const int right = (check::rank() + 1) % check::size();
  const int left = (check::rank() + check::size() - 1) % check::size();
  MPI_Comm other;
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  for (int i = 0; i < 100; ++i) {
    const int values[2] = {i, i + 1000};
    MPI_Request requests[2];
    check::ok(MPI_Isend(&values[0], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[0]));
    check::ok(MPI_Isend(&values[1], 1, MPI_INT, right, 1, other, &requests[1]));
    int in = -1;
    check::ok(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE));
    check::is(in, i + 1000, "of the second communicator");
    check::ok(MPI_Recv(&in, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check::is(in, i, "of the first communicator");
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  check::ok(MPI_Comm_free(&other));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1U;
  for (int style = 0; style < 3; ++style) {
    mixed(60, style, seed + static_cast<unsigned>(style));
  }
  posted();
  flood(8, 50000);
  flood(1000, 30000);
  flood(30000, 1500);
  flood(100000, 300);
  two_communicators();
  return check::finish();
}

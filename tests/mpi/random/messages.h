// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <deque>
#include <string>
#include <vector>

#include "operation.h"

// Bursts of messages within one communicator: every kind of send and receive, and wildcards.
//
// All ranks walk through the same list. What blocks at message i waits for what the partner does at
// message i at the latest, so nothing deadlocks that waits for one certain message. Where a receive
// takes what comes first, all sends to its process are non-blocking.
namespace generated {

/// What the receives of a process name. Mixed: first the sources and later none of them, and some
/// tags.
enum class Naming { exact, any_source, any_tag, anything, mixed };

struct Message {
  int from_side;
  int from;  ///< ranks in their groups
  int to;
  int tag;
  int items;
  int send_way;
  int receive_way;
  std::uint64_t key;
};

class Burst {
 public:
  /// `seed` is the same in all ranks; `dice` is the own one.
  Burst(Place& place, Types& types, std::uint64_t seed, int tag_base, Dice& dice)
      : place_(place), types_(types), dice_(dice), seed_(seed), tag_base_(tag_base) {
    ++place_.users;
    draw();
  }
  ~Burst() { --place_.users; }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  [[nodiscard]] bool mine() const { return place_.mine(); }
  [[nodiscard]] const Place& place() const { return place_; }

  void start() {
    if (!mine()) return;
    // Ready sends need receives that are there.
    for (const Message& message : messages_) {
      if (early_ && is_to_me(message) && message.receive_way < late_ways) receive(message);
    }
    if (early_) good(MPI_Barrier(place_.comm));
    for (const Message& message : messages_) {
      if (is_from_me(message)) send(message);
      if (is_to_me(message) && !(early_ && message.receive_way < late_ways)) receive(message);
    }
  }

  void finish() {
    if (!mine()) return;
    std::vector<MPI_Request> requests;
    for (const Sent& sent : sent_) requests.push_back(sent.request);
    for (const Received& received : received_) requests.push_back(received.request);
    std::vector<MPI_Status> statuses;
    complete(requests, statuses, dice_);
    for (std::size_t i = 0; i < received_.size(); ++i) {
      const std::size_t number = sent_.size() + i;
      if (received_[i].request != MPI_REQUEST_NULL) received_[i].status = statuses[number];
    }
    for (MPI_Request& request : requests) {
      if (request != MPI_REQUEST_NULL) good(MPI_Request_free(&request));
    }
    std::vector<bool> taken(messages_.size());
    for (Received& received : received_) check(received, taken);
    // A message of a later burst must not be taken by a receive of this one.
    if (has_wildcards_) good(MPI_Barrier(place_.comm));
  }

 private:
  struct Sent {
    MPI_Request request = MPI_REQUEST_NULL;
    Memory memory;
    std::vector<char> packed;
  };
  struct Received {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    Memory memory;
    Block room;
    int tag;
    const Message* message;
  };
  static constexpr int late_ways = 2;  ///< ways to receive below are posted without waiting

  void draw() {
    Dice dice(seed_);
    early_ = dice.chance(20);
    kind_ = any_kind(dice);
    elements_ = dice.between(1, 6);
    most_ = dice.chance(10) ? 3000 : dice.between(1, 40);
    for (const int side : {0, 1}) {
      for (int rank = 0; rank < place_.size(side); ++rank) {
        const int naming = dice.chance(45) ? 0 : dice.below(5);
        namings_[at(side)].push_back(static_cast<Naming>(naming));
        has_wildcards_ = has_wildcards_ || naming != 0;
      }
    }
    const int count = dice.chance(12) ? dice.between(40, 100)
                                      : dice.between(1, 5 * (place_.size(0) + place_.size(1)));
    if (count >= 40) most_ = std::min(most_, 40);
    named_sources_ = at(count / 2);
    for (int i = 0; i < count; ++i) draw_message(dice, i);
  }
  void draw_message(Dice& dice, int number) {
    Message message{};
    message.from_side = place_.inter ? dice.below(2) : 0;
    const int to_side = place_.inter ? 1 - message.from_side : 0;
    message.from = dice.below(place_.size(message.from_side));
    message.to = dice.below(place_.size(to_side));
    const Naming naming = namings_[at(to_side)][at(message.to)];
    const bool one_tag = naming == Naming::any_source || naming == Naming::mixed;
    message.tag = tag_base_ + (one_tag                             ? 0
                               : early_ && naming == Naming::exact ? number
                                                                   : dice.below(3));
    message.items = dice.chance(10) ? 0 : dice.below(most_ + 1);
    const bool to_self = !place_.inter && message.from == message.to;
    const bool may_block = naming == Naming::exact && !to_self;
    message.receive_way = dice.chance(30) ? 0 : dice.below(8);
    // Those that are there early may take the message that a later one blocks for.
    if (early_ && naming != Naming::exact) message.receive_way = dice.below(late_ways);
    const bool ready =
        early_ && naming == Naming::exact && message.receive_way < late_ways && dice.chance(40);
    message.send_way = ready ? 10 + dice.below(3) : dice.below(may_block ? 10 : 7);
    if (ready && to_self) message.send_way = 11;
    message.key = at(number);
    messages_.push_back(message);
  }

  [[nodiscard]] bool is_from_me(const Message& message) const {
    return message.from == place_.rank && message.from_side == place_.side;
  }
  [[nodiscard]] bool is_to_me(const Message& message) const {
    const bool other = place_.inter && message.from_side == place_.side;
    return message.to == place_.rank && !other;
  }

  void start_persistent(MPI_Request& request) {
    if (dice_.chance(50)) {
      good(MPI_Start(&request));
    } else {
      good(MPI_Startall(1, &request));
    }
  }

  void send(const Message& message) {
    Sent& sent = sent_.emplace_back();
    const Type& type = types_.make(dice_, kind_, elements_, std::max(message.items, 1));
    const Block block{&type, 0, message.items, message.key};
    sent.memory.include(block);
    sent.memory.fill();
    sent.memory.put_content(block, seed_);
    const void* buffer = sent.memory.address();
    MPI_Datatype handle = type.handle;
    int count = message.items;
    if (dice_.chance(15)) {
      int bytes = 0;
      int position = 0;
      good(MPI_Pack_size(count, handle, place_.comm, &bytes));
      sent.packed.resize(at(bytes));
      good(MPI_Pack(buffer, count, handle, sent.packed.data(), bytes, &position, place_.comm));
      buffer = sent.packed.data();
      count = position;
      handle = MPI_PACKED;
    }
    good(send_in(message, buffer, count, handle, sent.request));
  }
  int send_in(const Message& message, const void* buffer, int count, MPI_Datatype type,
              MPI_Request& request) {
    const int to = message.to;
    const int tag = message.tag;
    MPI_Comm comm = place_.comm;
    const auto begin = [&](auto init) {
      good(init(buffer, count, type, to, tag, comm, &request));
      start_persistent(request);
      return MPI_SUCCESS;
    };
    switch (message.send_way) {
      case 0:
        return MPI_Isend(buffer, count, type, to, tag, comm, &request);
      case 1:
        return MPI_Issend(buffer, count, type, to, tag, comm, &request);
      case 2:
        return MPI_Ibsend(buffer, count, type, to, tag, comm, &request);
      case 3:
        return MPI_Bsend(buffer, count, type, to, tag, comm);
      case 4:
        return begin(MPI_Send_init);
      case 5:
        return begin(MPI_Ssend_init);
      case 6:
        return begin(MPI_Bsend_init);
      case 7:
        return MPI_Ssend(buffer, count, type, to, tag, comm);
      case 10:
        return MPI_Rsend(buffer, count, type, to, tag, comm);
      case 11:
        return MPI_Irsend(buffer, count, type, to, tag, comm, &request);
      case 12:
        return begin(MPI_Rsend_init);
      default:
        return MPI_Send(buffer, count, type, to, tag, comm);
    }
  }

  void receive(const Message& message) {
    Received& received = received_.emplace_back();
    received.message = &message;
    const Naming naming = namings_[at(place_.side)][at(place_.rank)];
    const bool plain = dice_.chance(20);  // elements instead of items
    const Type& type =
        plain ? types_.plain(kind_) : types_.make(dice_, kind_, elements_, most_ + 1);
    const int room = naming == Naming::exact ? message.items + dice_.below(2) : most_;
    received.room = {&type, 0, plain ? room * elements_ : room, 0};
    received.memory.include(received.room);
    received.memory.fill();
    const bool mixed = naming == Naming::mixed;
    const bool any_source = naming == Naming::any_source || naming == Naming::anything ||
                            (mixed && message.key >= named_sources_);
    const bool any_tag =
        naming == Naming::any_tag || naming == Naming::anything || (mixed && dice_.chance(50));
    received.tag = any_tag ? MPI_ANY_TAG : message.tag;
    good(receive_in(message.receive_way, any_source ? MPI_ANY_SOURCE : message.from, received));
  }
  int receive_in(int way, int source, Received& received) {
    void* buffer = received.memory.address();
    const int count = received.room.items;
    MPI_Datatype type = received.room.type->handle;
    MPI_Comm comm = place_.comm;
    const int tag = received.tag;
    MPI_Status* status = &received.status;
    MPI_Message found = MPI_MESSAGE_NULL;
    int flag = 0;
    switch (way) {
      case 0:
        return MPI_Irecv(buffer, count, type, source, tag, comm, &received.request);
      case 1:
        good(MPI_Recv_init(buffer, count, type, source, tag, comm, &received.request));
        start_persistent(received.request);
        return MPI_SUCCESS;
      case 2:
      case 3:
        good(MPI_Probe(source, tag, comm, status));
        if (way == 2)
          return MPI_Recv(buffer, count, type, status->MPI_SOURCE, status->MPI_TAG, comm, status);
        return MPI_Irecv(buffer, count, type, status->MPI_SOURCE, status->MPI_TAG, comm,
                         &received.request);
      case 4:
        while (flag == 0) good(MPI_Iprobe(source, tag, comm, &flag, status));
        return MPI_Recv(buffer, count, type, status->MPI_SOURCE, status->MPI_TAG, comm, status);
      case 5:
        good(MPI_Mprobe(source, tag, comm, &found, status));
        return MPI_Mrecv(buffer, count, type, &found, status);
      case 6:
        while (flag == 0) good(MPI_Improbe(source, tag, comm, &flag, &found, status));
        return MPI_Imrecv(buffer, count, type, &found, &received.request);
      default:
        return MPI_Recv(buffer, count, type, source, tag, comm, status);
    }
  }

  /// The message that this receive must have got: those of one source come in their order.
  const Message& expected_of(const Received& received, std::vector<bool>& taken) const {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Message& message = messages_[i];
      const bool fits = received.tag == MPI_ANY_TAG || received.tag == message.tag;
      if (taken[i] || !is_to_me(message) || message.from != received.status.MPI_SOURCE || !fits) {
        continue;
      }
      taken[i] = true;
      return message;
    }
    fail("a message from rank " + std::to_string(received.status.MPI_SOURCE) +
         " that was never sent");
  }

  void check(Received& received, std::vector<bool>& taken) const {
    const Naming naming = namings_[at(place_.side)][at(place_.rank)];
    if (naming == Naming::exact || naming == Naming::any_tag) {
      expect_equal(received.status.MPI_SOURCE, received.message->from, "source of a message");
    }
    const bool unique = early_ && naming == Naming::exact;
    const Message& message = unique ? *received.message : expected_of(received, taken);
    const std::string name = "message " + std::to_string(message.key) + " from " +
                             std::to_string(message.from) + " to " + std::to_string(message.to) +
                             ", sent in way " + std::to_string(message.send_way) +
                             ", received in way " + std::to_string(received.message->receive_way);
    expect_equal(received.status.MPI_TAG, message.tag, (name + ": tag").c_str());
    int count = -1;
    const Type& type = *received.room.type;
    good(MPI_Get_count(&received.status, type.handle, &count));
    Block got = received.room;
    got.items = message.items * elements_ / type.elements();
    got.key = message.key;
    expect_equal(count, got.items, (name + ": count").c_str());
    good(MPI_Get_elements(&received.status, type.handle, &count));
    expect_equal(count, message.items * elements_, (name + ": elements").c_str());
    Memory expected = received.memory;
    expected.fill();
    expected.put_content(got, seed_);
    received.memory.compare(expected, name);
  }

  Place& place_;
  Types& types_;
  Dice& dice_;
  std::uint64_t seed_;
  int tag_base_;
  bool early_ = false;
  bool has_wildcards_ = false;
  Kind kind_{};
  int elements_ = 1;
  int most_ = 1;
  std::uint64_t named_sources_ = 0;  ///< mixed naming: up to this message
  std::array<std::vector<Naming>, 2> namings_;
  std::vector<Message> messages_;
  // Addresses stay.
  std::deque<Sent> sent_;
  std::deque<Received> received_;
};

/// Every rank sends to the rank some places above, and receives from below, at once.
inline void shift(Place& place, Types& types, Dice& dice, Dice& own) {
  const int step = dice.below(8);
  const Kind kind = any_kind(dice);
  const int elements = dice.between(1, 5);
  const int items = dice.below(50);
  const int way = dice.below(4);
  const std::uint64_t seed = dice.any();
  if (!place.mine() || place.inter) return;
  const int size = place.size(0);
  const int to = (place.rank + step) % size;
  const int from = (place.rank + size - step % size) % size;
  const Type& out = types.make(own, kind, elements, items + 1);
  const Type& in = way % 2 == 0 ? types.make(own, kind, elements, items + 1) : out;
  const Block sent{&out, 0, items, at(place.rank)};
  const Block room{&in, 0, items, at(from)};
  Memory source;
  Memory target;
  source.include(sent);
  target.include(room);
  source.fill();
  target.fill();
  Memory expected = target;
  expected.put_content(room, seed);
  (way % 2 == 0 ? source : target).put_content(sent, seed);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  if (way == 0) {
    good(MPI_Sendrecv(source.address(), items, out.handle, to, 5, target.address(), items,
                      in.handle, from, 5, place.comm, &status));
  } else if (way == 1) {
    good(MPI_Sendrecv_replace(target.address(), items, in.handle, to, 5, from, 5, place.comm,
                              &status));
  } else if (way == 2) {
    good(MPI_Isendrecv(source.address(), items, out.handle, to, 5, target.address(), items,
                       in.handle, from, 5, place.comm, &request));
  } else {
    good(MPI_Isendrecv_replace(target.address(), items, in.handle, to, 5, from, 5, place.comm,
                               &request));
  }
  if (way >= 2) good(MPI_Wait(&request, &status));
  expect_equal(status.MPI_SOURCE, from, "source of a sendrecv");
  target.compare(expected, "sendrecv in way " + std::to_string(way));
}

}  // namespace generated

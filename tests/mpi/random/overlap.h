// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory.h"
#include "places.h"

// Receives of every kind (a source and a tag, either of them any, both) that are all there before
// the first message comes, and of which several accept the same messages: the order in which they
// were posted decides (MPI 5.0 section 3.5).
namespace generated {

class Overlap {
 public:
  /// `dice` is the same in all ranks; `own` is not. Nothing else of the program receives messages
  /// in this place at the time.
  Overlap(Place& place, Dice& dice, Dice& own)
      : place_(place), own_(own), seed_(dice.any()), side_(place.inter ? dice.below(2) : 0) {
    to_ = dice.below(place.size(side_));
    const int from_side = place.inter ? 1 - side_ : side_;
    senders_ = dice.order(place.size(from_side));
    if (length(senders_) > 3) senders_.resize(3);
    draw_wanted(dice);
    draw_messages(dice);
  }

  void run() {
    if (!place_.mine()) return;
    const bool receives = place_.side == side_ && place_.rank == to_;
    if (receives) post();
    good(MPI_Barrier(place_.comm));
    send();
    if (receives) receive();
    // What comes later must not be taken by a receive of this one.
    good(MPI_Barrier(place_.comm));
  }

 private:
  struct Wanted {
    int source;
    int tag;
  };
  struct Message {
    int tag;
    int elements;
  };
  static constexpr int first_tag = 7;
  static constexpr int most_elements = 200;

  [[nodiscard]] static bool accepts(const Wanted& wanted, int source, int tag) {
    return (wanted.source == MPI_ANY_SOURCE || wanted.source == source) &&
           (wanted.tag == MPI_ANY_TAG || wanted.tag == tag);
  }

  void draw_wanted(Dice& dice) {
    tags_ = dice.between(1, 2);
    const int any_source = dice.below(100);
    const int any_tag = dice.below(100);
    // Some more than a linear search compares.
    for (int left = dice.chance(50) ? dice.between(1, 8) : dice.between(9, 24); left > 0; --left) {
      const int source = senders_[at(dice.below(length(senders_)))];
      const int tag = first_tag + dice.below(tags_);
      wanted_.push_back({dice.chance(any_source) ? MPI_ANY_SOURCE : source,
                         dice.chance(any_tag) ? MPI_ANY_TAG : tag});
    }
  }
  /// Of each source and tag as many as receives accept, so that none of these waits for ever,
  /// whoever takes what; and at the end receives for what is left.
  void draw_messages(Dice& dice) {
    std::size_t all = 0;
    for (const int sender : senders_) {
      std::vector<Message>& messages = messages_[sender];
      for (int tag = first_tag; tag < first_tag + tags_; ++tag) {
        for (const Wanted& wanted : wanted_) {
          if (!accepts(wanted, sender, tag)) continue;
          messages.push_back({tag, dice.chance(20) ? dice.below(most_elements) : 1});
        }
      }
      dice.shuffle(messages);
      all += messages.size();
    }
    wanted_.resize(std::max(all, wanted_.size()), {MPI_ANY_SOURCE, MPI_ANY_TAG});
  }

  /// The first element says which message of its sender it is.
  [[nodiscard]] std::uint64_t element(int sender, std::size_t number, int i) const {
    return i == 0 ? number : mix({seed_, at(sender), number, at(i)});
  }

  void post() {
    requests_.assign(wanted_.size(), MPI_REQUEST_NULL);
    statuses_.resize(wanted_.size());
    memory_.assign(wanted_.size(), std::vector<std::uint64_t>(most_elements));
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const auto [source, tag] = wanted_[i];
      void* to = memory_[i].data();
      if (own_.chance(70)) {
        good(MPI_Irecv(to, most_elements, MPI_UINT64_T, source, tag, place_.comm, &requests_[i]));
      } else {
        good(MPI_Recv_init(to, most_elements, MPI_UINT64_T, source, tag, place_.comm,
                           &requests_[i]));
        good(MPI_Start(&requests_[i]));
      }
    }
  }

  void receive() {
    complete(requests_, statuses_, own_);
    for (MPI_Request& request : requests_) {
      if (request != MPI_REQUEST_NULL) good(MPI_Request_free(&request));
    }
    check();
  }

  void send() const {
    const bool sends = !place_.inter || place_.side != side_;
    const auto mine = messages_.find(place_.rank);
    if (!sends || mine == messages_.end()) return;
    std::vector<std::vector<std::uint64_t>> memory(mine->second.size());
    std::vector<MPI_Request> requests(mine->second.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const auto [tag, elements] = mine->second[i];
      for (int j = 0; j < std::max(elements, 1); ++j) {
        memory[i].push_back(element(place_.rank, i, j));
      }
      const auto way = own_.chance(80) ? MPI_Isend : MPI_Issend;
      good(way(memory[i].data(), length(memory[i]), MPI_UINT64_T, to_, tag, place_.comm,
               &requests[i]));
    }
    std::vector<MPI_Status> statuses;
    complete(requests, statuses, own_);
  }

  /// Which receive got each message; the content of all is compared.
  std::map<std::pair<int, std::size_t>, std::size_t> receives_by_message() const {
    std::map<std::pair<int, std::size_t>, std::size_t> takers;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const int source = statuses_[i].MPI_SOURCE;
      const int tag = statuses_[i].MPI_TAG;
      const std::size_t number = memory_[i][0];
      const auto sender = messages_.find(source);
      if (sender == messages_.end() || number >= sender->second.size()) {
        fail("receive " + std::to_string(i) + " of " + std::to_string(wanted_.size()) +
             " got what was never sent, from rank " + std::to_string(source) + " with tag " +
             std::to_string(tag));
      }
      const Message& message = sender->second[number];
      expect_equal(tag, message.tag, "tag of a message");
      expect(accepts(wanted_[i], source, tag), "a receive got a message that it does not accept");
      int count = -1;
      good(MPI_Get_count(&statuses_[i], MPI_UINT64_T, &count));
      expect_equal(count, std::max(message.elements, 1), "elements of a message");
      for (int j = 0; j < count; ++j) {
        expect(memory_[i][at(j)] == element(source, number, j), "content of a message");
      }
      expect(takers.emplace(std::pair(source, number), i).second, "a message came twice");
    }
    return takers;
  }

  /// Which messages of each sender have not found their receive in `check`.
  using Left = std::set<std::pair<int, std::size_t>>;

  /// Finds an order in which messages and receives can have met (MPI 5.0, 3.5): each message with
  /// the first receive left that accepts it, each receive with the first message left of this
  /// sender that it accepts. What may meet may do so at once: it takes nothing that others need.
  /// Messages that no receive accepts both of need not meet theirs in the order of the sends.
  void check() const {
    const auto takers = receives_by_message();
    std::vector<bool> taken(wanted_.size());
    Left left;
    for (const auto& [message, taker] : takers) left.insert(message);
    while (!left.empty()) {
      const auto next = std::find_if(left.begin(), left.end(), [&](const auto& message) {
        return may_meet(message, takers.at(message), left, taken);
      });
      if (next == left.end()) fail_order(left);
      taken[takers.at(*next)] = true;
      left.erase(next);
    }
  }
  [[nodiscard]] bool may_meet(const std::pair<int, std::size_t>& message, std::size_t taker,
                              const Left& left, const std::vector<bool>& taken) const {
    const auto [sender, number] = message;
    const std::vector<Message>& messages = messages_.at(sender);
    if (first_accepting(taken, sender, messages[number].tag) != taker) return false;
    return std::none_of(left.lower_bound({sender, 0}), left.find(message), [&](const auto& before) {
      return accepts(wanted_[taker], sender, messages[before.second].tag);
    });
  }
  [[nodiscard]] std::size_t first_accepting(const std::vector<bool>& taken, int sender,
                                            int tag) const {
    std::size_t i = 0;
    while (taken[i] || !accepts(wanted_[i], sender, tag)) ++i;
    return i;
  }
  [[noreturn]] static void fail_order(const Left& left) {
    std::string text =
        "receives that accept the same messages got them in an impossible order; left are";
    for (const auto& [sender, number] : left) {
      text += " " + std::to_string(sender) + ":" + std::to_string(number);
    }
    fail(text);
  }

  Place& place_;
  Dice& own_;
  std::uint64_t seed_;
  int side_;  ///< of the receiver
  int to_ = 0;
  int tags_ = 1;
  std::vector<int> senders_;
  std::vector<Wanted> wanted_;
  std::map<int, std::vector<Message>> messages_;  ///< of each sender, in order
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<std::vector<std::uint64_t>> memory_;
};

}  // namespace generated

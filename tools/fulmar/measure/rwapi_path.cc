// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <rwapi.h>

#include <algorithm>

#include "fulmar/measure/message_path.h"

namespace fulmar::measure {

namespace {

struct RwapiCalls {
  explicit RwapiCalls(const LoadedLibrary& library) {
    require(library.is_there(), rwapi_file);
    library.find("rwapi_init", init);
    library.find("rwapi_finalize", finalize);
    library.find("rwapi_alloc", alloc);
    library.find("rwapi_free", free);
    library.find("rwapi_send", send);
    library.find("rwapi_receive", receive);
    library.find("rwapi_write", write);
    library.find("rwapi_issent", issent);
  }
  decltype(rwapi_init)* init = nullptr;
  decltype(rwapi_finalize)* finalize = nullptr;
  decltype(rwapi_alloc)* alloc = nullptr;
  decltype(rwapi_free)* free = nullptr;
  decltype(rwapi_send)* send = nullptr;
  decltype(rwapi_receive)* receive = nullptr;
  decltype(rwapi_write)* write = nullptr;
  decltype(rwapi_issent)* issent = nullptr;
};

class RwapiPath final : public MessagePath {
 public:
  RwapiPath(const Team& team, std::size_t bytes)
      : calls_(LoadedLibrary(rwapi_file)), bytes_(bytes), peer_(1 - team.rank) {
    require(calls_.init(0, nullptr) == RWAPI_OK, "rwapi_init");
    source_block_ = calls_.alloc(std::max<std::size_t>(bytes, 1), &source_);
    target_block_ = calls_.alloc(std::max<std::size_t>(bytes, 1), &target_);
    require(source_block_ != nullptr && target_block_ != nullptr, "rwapi_alloc");
    remote_ = swap_values(team, target_);
  }
  ~RwapiPath() override {
    (void)calls_.free(source_block_);
    (void)calls_.free(target_block_);
    require(calls_.finalize() == RWAPI_OK, "rwapi_finalize");
  }
  void start() override {
    if (bytes_ > RWAPI_SMALL_BYTES) {
      sid_ = calls_.write(peer_, source_, remote_, bytes_);
      require(sid_ >= 0, "rwapi_write");
    }
    start_empty();
  }
  void start_empty() override {
    for (;;) {
      const int result = calls_.send(peer_, message_);
      if (result == RWAPI_OK) return;
      require(result == RWAPI_ERR_FULL, "rwapi_send");
      take();
    }
  }
  void complete() override {
    if (sid_ < 0) return;
    int state = 0;
    while ((state = calls_.issent(sid_)) == 0) take();
    require(state == 1, "rwapi_issent");
    sid_ = -1;
  }
  void receive(int count) override {
    while (here_ < count) take();
    here_ -= count;
  }

 private:
  void take() {
    rwapi_node node = 0;
    const int result = calls_.receive(&node, &received_);
    require(result >= 0, "rwapi_receive");
    here_ += result;
  }

  RwapiCalls calls_;
  std::size_t bytes_;
  rwapi_node peer_;
  void* source_block_ = nullptr;
  void* target_block_ = nullptr;
  rwapi_net source_{};
  rwapi_net target_{};
  rwapi_net remote_{};
  rwapi_small message_{};
  rwapi_small received_{};
  rwapi_sid sid_ = -1;  ///< of the last write that is not known to have ended
  int here_ = 0;        ///< messages that have come and were not asked for
};

}  // namespace

std::unique_ptr<MessagePath> make_rwapi_path(const Team& team, std::size_t bytes) {
  return std::make_unique<RwapiPath>(team, bytes);
}

}  // namespace fulmar::measure

// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma GCC visibility push(default)
#include "rwapi/rwapi.h"
#pragma GCC visibility pop

#include <memory>

#include "rwapi/node.h"

namespace {

/// The one pointer behind the C interface.
std::unique_ptr<fulmar::rwapi::Node>& node() {
  static auto* const the_node = new std::unique_ptr<fulmar::rwapi::Node>;
  return *the_node;
}

}  // namespace

int rwapi_init(int /*argc*/, char** /*argv*/) {
  if (node() != nullptr) return RWAPI_ERR_STATE;
  int error = RWAPI_OK;
  node() = fulmar::rwapi::Node::open(error);
  return error;
}

int rwapi_finalize(void) {
  if (node() == nullptr) return RWAPI_ERR_STATE;
  node()->close();
  node().reset();
  return RWAPI_OK;
}

int rwapi_size(void) { return node() == nullptr ? RWAPI_ERR_STATE : node()->size(); }

int rwapi_rank(void) { return node() == nullptr ? RWAPI_ERR_STATE : node()->rank(); }

void* rwapi_alloc(size_t size, rwapi_net* net) {
  if (node() == nullptr || size == 0 || net == nullptr) return nullptr;
  return node()->allocate(size, *net);
}

int rwapi_free(void* block) {
  if (node() == nullptr) return RWAPI_ERR_STATE;
  return node()->free(block);
}

int rwapi_send(rwapi_node to, rwapi_small message) {
  if (node() == nullptr) return RWAPI_ERR_STATE;
  return node()->send(to, message);
}

int rwapi_receive(rwapi_node* from, rwapi_small* message) {
  if (node() == nullptr) return RWAPI_ERR_STATE;
  if (from == nullptr || message == nullptr) return RWAPI_ERR_ARGUMENT;
  return node()->receive(*from, *message);
}

rwapi_sid rwapi_write(rwapi_node to, rwapi_net local, rwapi_net remote, size_t size) {
  if (node() == nullptr) return RWAPI_ERR_STATE;
  return node()->write(to, local, remote, size);
}

int rwapi_issent(rwapi_sid sid) {
  if (node() == nullptr) return RWAPI_ERR_STATE;
  return node()->is_sent(sid);
}

// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/type_description.h"

#include <utility>

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::Result;

// A layout is its shape with the length of its list (if it has one) in one word, and behind that
//
//   run       at, block
//   strided   at, count, stride, block
//   loop      at, count, stride, then the body
//   blocks    at, then at and bytes of each
//   sequence  at, then for each part at and the layout

constexpr unsigned list_shift = 8;

std::int64_t head_of(Layout::Shape shape, std::size_t entries) {
  return static_cast<std::int64_t>(shape) | static_cast<std::int64_t>(entries) << list_shift;
}

void describe(const Layout& layout, std::vector<std::int64_t>& words) {
  switch (layout.shape) {
    case Layout::Shape::run:
      words.insert(words.end(), {head_of(layout.shape, 0), layout.at, layout.block});
      return;
    case Layout::Shape::strided:
      words.insert(words.end(), {head_of(layout.shape, 0), layout.at, layout.count, layout.stride,
                                 layout.block});
      return;
    case Layout::Shape::loop:
      words.insert(words.end(), {head_of(layout.shape, 0), layout.at, layout.count, layout.stride});
      return describe(*layout.body, words);
    case Layout::Shape::blocks:
      words.insert(words.end(), {head_of(layout.shape, layout.blocks->size()), layout.at});
      for (const Layout::Block& block : *layout.blocks) {
        words.insert(words.end(), {block.at, block.bytes});
      }
      return;
    case Layout::Shape::sequence:
      words.insert(words.end(), {head_of(layout.shape, layout.parts->size()), layout.at});
      for (const Layout::Part& part : *layout.parts) {
        words.push_back(part.at);
        describe(*part.layout, words);
      }
      return;
  }
}

/// Reads words of another process: never beyond their end.
class Reader {
 public:
  Reader(std::span<const std::int64_t> words, TypeMap byte) noexcept
      : words_(words), byte_(std::move(byte)) {}

  [[nodiscard]] std::int64_t next() noexcept {
    if (at_ < words_.size()) return words_[at_++];
    bad_ = true;
    return 0;
  }
  [[nodiscard]] bool bad() const noexcept { return bad_; }
  [[nodiscard]] bool at_end() const noexcept { return !bad_ && at_ == words_.size(); }

  Result<TypeMap> layout(int depth);

 private:
  static Error malformed() {
    return base::failure(ErrorClass::type, "the description of a datatype makes no sense");
  }
  Result<TypeMap> run(std::int64_t at, std::int64_t bytes) const {
    if (bytes < 0) return malformed();
    return placed(at, bytes, byte_);
  }
  static Result<TypeMap> placed(std::int64_t at, std::int64_t count, const TypeMap& map) {
    const Placement placement{at, count, &map};
    return compose({&placement, 1});
  }
  Result<TypeMap> repeated(std::int64_t at, Result<TypeMap> (Reader::*body)(int), int depth);
  Result<TypeMap> block(int /*depth*/) { return run(0, next()); }
  Result<TypeMap> blocks(std::int64_t at, std::int64_t entries);
  Result<TypeMap> sequence(std::int64_t at, std::int64_t entries, int depth);
  [[nodiscard]] bool fits(std::int64_t entries) const noexcept {
    return entries >= 0 && static_cast<std::uint64_t>(entries) <= words_.size() - at_;
  }

  std::span<const std::int64_t> words_;
  TypeMap byte_;
  std::size_t at_ = 0;
  bool bad_ = false;
};

Result<TypeMap> Reader::repeated(std::int64_t at, Result<TypeMap> (Reader::*body)(int), int depth) {
  const std::int64_t count = next();
  const std::int64_t stride = next();
  if (bad_ || count < 0) return malformed();
  const auto one = (this->*body)(depth);
  if (one.failed()) return one;
  const auto all = repeat(one.value(), count, stride);
  if (all.failed()) return all;
  return placed(at, 1, all.value());
}

Result<TypeMap> Reader::blocks(std::int64_t at, std::int64_t entries) {
  std::vector<Placement> placements;
  for (std::int64_t i = 0; i < entries; ++i) {
    const std::int64_t begin = next();
    const std::int64_t bytes = next();
    if (bad_ || bytes < 0) return malformed();
    placements.push_back({begin, bytes, &byte_});
  }
  const auto all = compose(placements);
  if (all.failed()) return all;
  return placed(at, 1, all.value());
}

Result<TypeMap> Reader::sequence(std::int64_t at, std::int64_t entries, int depth) {
  std::vector<TypeMap> maps;
  std::vector<Placement> placements;
  maps.reserve(static_cast<std::size_t>(entries));  // placements point into it
  for (std::int64_t i = 0; i < entries; ++i) {
    const std::int64_t begin = next();
    auto part = layout(depth);
    if (part.failed()) return part;
    maps.push_back(std::move(part.value()));
    placements.push_back({begin, 1, &maps.back()});
  }
  const auto all = compose(placements);
  if (all.failed()) return all;
  return placed(at, 1, all.value());
}

Result<TypeMap> Reader::layout(int depth) {
  const std::int64_t head = next();
  const std::int64_t at = next();
  const std::int64_t entries = head >> list_shift;
  if (bad_ || depth >= Layout::max_depth || !fits(entries)) return malformed();
  switch (static_cast<Layout::Shape>(head & ((1 << list_shift) - 1))) {
    case Layout::Shape::run:
      return run(at, next());
    case Layout::Shape::strided:
      return repeated(at, &Reader::block, depth);
    case Layout::Shape::loop:
      return repeated(at, &Reader::layout, depth + 1);
    case Layout::Shape::blocks:
      return blocks(at, entries);
    case Layout::Shape::sequence:
      return sequence(at, entries, depth + 1);
  }
  return malformed();
}

}  // namespace

std::vector<std::int64_t> describe_type(const Datatype& type) {
  std::vector<std::int64_t> words = {type.lb, type.extent};
  describe(*type.layout, words);
  return words;
}

Result<std::unique_ptr<Datatype>> described_type(const Library& library,
                                                 std::span<const std::int64_t> words) {
  Reader reader(words, library.find<Datatype>(MPI_BYTE)->map());
  const std::int64_t lb = reader.next();
  const std::int64_t extent = reader.next();
  const auto map = reader.layout(0);
  if (map.failed()) return map.error();
  if (!reader.at_end()) {
    return base::failure(ErrorClass::type, "the description of a datatype has no end");
  }
  auto whole = resize(map.value(), lb, extent);
  if (whole.failed()) return whole.error();
  auto type = std::make_unique<Datatype>(std::move(whole.value()), nullptr);
  type->committed = true;
  return type;
}

}  // namespace fulmar::mpi

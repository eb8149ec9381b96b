// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/sent_types.h"

#include <vector>

#include "mpi/datatype/calls.h"
#include "mpi/rma/server/type_description.h"
#include "mpi/rma/win.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

class SentTypesTest : public Objects {
 protected:
  SentTypesTest() { win_.targets.resize(3); }
  void TearDown() override {
    sent_.reset();
    for (MPI_Datatype handle : made_) {
      EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    }
    Objects::TearDown();
  }
  /// A type of `blocks` blocks at uneven distances.
  const Datatype& uneven(int blocks) {
    std::vector<int> places;
    for (int i = 0; i < blocks; ++i) places.push_back(i * i);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    EXPECT_TRUE(type_create_indexed_block(library, Form::plain, blocks, 1,
                                          CountArray(places.data(), places.size()), type(MPI_INT),
                                          made)
                    .ok());
    made_.push_back(made);
    return type(made);
  }

  std::vector<MPI_Datatype> made_;
  Win win_{library};
  std::unique_ptr<SentTypes> sent_ = std::make_unique<SentTypes>(win_);
};

TEST_F(SentTypesTest, A_long_description_is_made_once) {
  const Datatype& type = uneven(100);
  const SentTypes::Description first = sent_->describe(type);
  const SentTypes::Description again = sent_->describe(type);
  EXPECT_NE(first.slot, SentTypes::no_slot);
  EXPECT_EQ(first.slot, again.slot);
  EXPECT_EQ(first.words.get(), again.words.get());
  EXPECT_EQ(*first.words, describe_type(type));
}

TEST_F(SentTypesTest, A_short_description_travels_with_each_request) {
  const SentTypes::Description description = sent_->describe(uneven(3));
  EXPECT_EQ(description.slot, SentTypes::no_slot);
  EXPECT_FALSE(description.words->empty());
}

TEST_F(SentTypesTest, The_oldest_type_makes_room_and_no_target_has_the_new_one) {
  std::vector<const Datatype*> types;
  for (int i = 0; i < static_cast<int>(wire::rma_type_slots); ++i) {
    types.push_back(&uneven(50 + i));
    EXPECT_EQ(sent_->describe(*types.back()).slot, i);
  }
  for (RmaTarget& target : win_.targets) target.kept_types = 0xff;
  const SentTypes::Description old = sent_->describe(*types[0]);
  EXPECT_EQ(sent_->describe(uneven(99)).slot, 0);
  for (const RmaTarget& target : win_.targets) EXPECT_EQ(target.kept_types, 0xfe);
  EXPECT_EQ(*old.words, describe_type(*types[0])) << "a message may still carry it";
  EXPECT_EQ(sent_->describe(*types[0]).slot, 1) << "it is described again";
}

TEST_F(SentTypesTest, Types_live_as_long_as_they_are_kept) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  {
    const Datatype& type = uneven(60);
    made = made_.back();
    made_.pop_back();
    EXPECT_EQ(sent_->describe(type).slot, 0);
  }
  EXPECT_TRUE(type_free(library, {&made, &type(made)}).ok());
  EXPECT_EQ(library.live(ObjectKind::datatype), 1U);
  sent_.reset();
  EXPECT_EQ(library.live(ObjectKind::datatype), 0U);
}

}  // namespace
}  // namespace fulmar::mpi

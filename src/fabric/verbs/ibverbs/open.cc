// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/open.h"

#include <utility>

#include "fabric/verbs/ibverbs/ib_adapter.h"
#include "fabric/verbs/ibverbs/library.h"
#include "fabric/verbs/ports.h"

namespace fulmar::fabric::verbs {

base::Result<std::unique_ptr<Adapter>> open_adapter(const Wish& wish) {
  const auto library = Library::load(wish.library);
  if (library.failed()) return library.error();
  Survey survey = survey_devices(library.value());
  const auto choice = choose_port(survey.ports, wish.device);
  if (choice.failed()) {
    if (survey.refused.empty()) return choice.error();
    return base::failure(choice.error().error_class(), "%s; %s", choice.error().text().c_str(),
                         survey.refused.c_str());
  }
  const std::size_t number = choice.value().port;
  OpenPort port{std::move(survey.open[survey.contexts[number]]), survey.ports[number],
                choice.value().gid};
  return IbAdapter::open(library.value(), std::move(port), wish);
}

bool is_built() noexcept { return true; }

std::string library_text() {
  const auto library = Library::load(Wish().library);
  if (library.failed()) return library.error().text();
  const Survey survey = survey_devices(library.value());
  return text_of(survey.ports) + (survey.refused.empty() ? "" : "; " + survey.refused);
}

}  // namespace fulmar::fabric::verbs

// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "study/study.h"

#include <utility>

#include "study/remote_design.h"

namespace fulmar::study {

base::Result<std::unique_ptr<DesignNetwork>> design_over(std::unique_ptr<fabric::Verbs> verbs,
                                                         const DesignPlan& plan) {
  if (!verbs->writes_in_order()) {
    return base::failure(base::ErrorClass::other,
                         "FULMAR_CHANNEL, FULMAR_STACK: the designs poll memory for what the "
                         "network verbs writes there, and this adapter may write its bytes in any "
                         "order; choose another one by FULMAR_VERBS_DEVICE, or leave both options "
                         "out");
  }
  return std::unique_ptr<DesignNetwork>(
      std::make_unique<RemoteDesign<fabric::Verbs>>(std::move(verbs), plan));
}

}  // namespace fulmar::study

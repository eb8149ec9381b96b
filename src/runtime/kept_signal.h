// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <csignal>

namespace fulmar::runtime {

/// SIGUSR1 while MPI is in use. Hydra (with -disable-auto-cleanup) sends it to the ranks of a job of
/// which one has died; its default is to end them. A program that has a handler of its own, or
/// ignores the signal, keeps that. No handler is installed.
///
/// Thread rule: the lock of the library; as for sigaction, the program does not change the signal at
/// the same time.
class KeptSignal {
 public:
  /// From now on the signal is ignored, if its disposition is the default.
  void ignore() noexcept {
    struct sigaction now{};
    if (ignores_ || ::sigaction(SIGUSR1, nullptr, &now) != 0 || !is(now, SIG_DFL)) return;
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    ignores_ = ::sigaction(SIGUSR1, &ignored, nullptr) == 0;
  }
  /// The default again, unless the program has set something else meanwhile.
  void restore() noexcept {
    struct sigaction now{};
    if (!ignores_) return;
    ignores_ = false;
    if (::sigaction(SIGUSR1, nullptr, &now) != 0 || !is(now, SIG_IGN)) return;
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    (void)::sigaction(SIGUSR1, &standard, nullptr);
  }

 private:
  static bool is(const struct sigaction& action, void (*handler)(int)) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
  }

  bool ignores_ = false;
};

}  // namespace fulmar::runtime

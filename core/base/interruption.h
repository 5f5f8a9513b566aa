// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a signal that ends this process (SIGHUP, SIGINT, SIGTERM) must not leave behind: folders are removed,
// and programs that this one runs end before it does. A signal that is ignored, or that the program handles
// itself, stays as it is.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace trimtab::base {

// While it lives, those signals wait on this thread.
class SignalsHeldBack {
  public:
    SignalsHeldBack();
    ~SignalsHeldBack();
    SignalsHeldBack(const SignalsHeldBack&) = delete;
    SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;
    [[nodiscard]] const sigset_t& before() const { return before_; }

  private:
    sigset_t before_{};
};

// From now on `folder` goes with this process; the text must live until it is forgotten.
void remove_if_interrupted(const char* folder);
void forget_folder(const char* folder);
// From now on `child` gets the signal too, unless a terminal has sent it to both, and is waited for.
void end_if_interrupted(pid_t child);
void forget_child(pid_t child);
// From now on all of that process group gets SIGTERM, those that were stopped too, and nobody waits for them: they may
// be other machines'.
void end_group_if_interrupted(pid_t group);
void forget_group(pid_t group);

// A file, or a folder with all that is in it. Calls nothing that a signal's handler may not.
void remove_tree(const char* path);

}  // namespace trimtab::base

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker: does the tasks that come in messages (message.h), and answers each.
//
//     on its stdout      {"trimtab_worker": 1, "version": ..}                     at once
//                        {"alive": 0.25}, the part that is done of a task         each second
//                        {"task": 17, ..}                                         what came of it
//     on its stdin       {"shared": id, ..} and a body                            what the next tasks need
//                        {"task": 17, "do": "kernel", ..}                        or "program"
//
// It ends where its stdin ends.
#pragma once

namespace trimtab::workers {

struct WorkerOptions {
    unsigned threads = 0;  // of this machine that a task may use; 0: all
};

// The exit code: 0, or 3 where what it read is no message.
[[nodiscard]] int serve(const WorkerOptions& options);

}  // namespace trimtab::workers

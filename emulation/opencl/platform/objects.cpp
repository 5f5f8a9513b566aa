// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/objects.h"

#include <shared_mutex>
#include <unordered_map>

namespace trimtab::opencl {
namespace {

struct Living {
    std::shared_mutex mutex;
    std::unordered_map<const void*, Kind> all;
};
Living& living() {
    static Living& everything = *new Living;  // never destroyed: programs release objects while they end
    return everything;
}

}  // namespace

Object::Object(Kind its_kind) : kind(its_kind) {
    const std::unique_lock lock(living().mutex);
    living().all[this] = its_kind;
}

Object::~Object() {
    const std::unique_lock lock(living().mutex);
    living().all.erase(this);
}

bool is_live(const void* handle, Kind kind) {
    const std::shared_lock lock(living().mutex);
    const auto place = living().all.find(handle);
    return place != living().all.end() && place->second == kind;
}

}  // namespace trimtab::opencl

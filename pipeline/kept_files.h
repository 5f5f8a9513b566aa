// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --trimtab-keep=DIR: what trimtab++ makes on its way, for people to read.
#pragma once

#include <string>

#include "core/analysis/describe.h"
#include "driver_gen/bundle.h"

namespace trimtab::pipeline {

// <kernel>.description.json of each kernel, and <architecture>.ptx. A folder that cannot be written is one
// warning.
void keep_description(const std::string& folder, const analysis::KernelDescription& kernel);
void keep_descriptions(const std::string& folder, const analysis::DescribedFatBinary& described);
// <kernel>.driver.c of each, the bundle's source, and the record as JSON.
void keep_sources(const std::string& folder, const driver_gen::GeneratedSources& sources);

}  // namespace trimtab::pipeline

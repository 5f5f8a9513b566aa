// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/bundles.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/variants.h"
#include "core/base/json_value.h"
#include "trimtab/section.h"

namespace trimtab::choosing {
namespace {

using nlohmann::json;

std::expected<json, Error> read_record(const trimtab_bundle& bundle, const std::string& origin) {
    if (bundle.json == nullptr || bundle.json_bytes == 0)
        return std::unexpected(Error{.message = "it has no record", .file = origin});
    auto record = base::parse_json({bundle.json, bundle.json_bytes}, origin);
    if (!record) return record;
    const auto checked = base::read_json(*record, "record", origin, [](const base::JsonValue& value) {
        if (value["abi"].natural() != record_abi) value["abi"].fail("is of another version of Trimtab");
        return value["kernels"].list().size();
    });
    if (!checked) return std::unexpected(checked.error());
    return record;
}

// Empty if the driver program is one that this runtime can call for this kernel.
std::string mismatch(const trimtab_driver& driver, const analysis::KernelDescription& description) {
    if (driver.abi != TRIMTAB_DRIVER_ABI)
        return fmt::format("its driver program has ABI {}, this runtime {}", driver.abi, TRIMTAB_DRIVER_ABI);
    if (driver.struct_bytes < offsetof(trimtab_driver, profiled_least) || driver.evaluate == nullptr ||
        driver.select == nullptr || (driver.data_count > 0 && driver.data_names == nullptr))
        return "its driver program is incomplete";
    if (driver.metric_count > TRIMTAB_MAX_METRICS) return "its driver program has too many metrics";
    if (driver.data_count != description.data.size())
        return fmt::format("its driver program takes {} data parameters, its description names {}",
                           driver.data_count, description.data.size());
    for (std::uint32_t i = 0; i < driver.data_count; ++i) {
        if (driver.data_names[i] == nullptr || description.data[i].name != driver.data_names[i])
            return fmt::format("its driver program's data parameter {} is not '{}'", i,
                               description.data[i].name);
    }
    return {};
}

const trimtab_driver* driver_of(const trimtab_bundle& bundle, const std::string& id) {
    for (std::uint32_t i = 0; bundle.drivers != nullptr && i < bundle.driver_count; ++i) {
        const trimtab_driver* driver = bundle.drivers[i];
        if (driver != nullptr && driver->id != nullptr && id == driver->id) return driver;
    }
    return nullptr;
}

}  // namespace

void Bundles::add(const trimtab_bundle* bundle) {
    if (bundle == nullptr) return;
    if (bundle->abi != TRIMTAB_DRIVER_ABI) {
        log_.warn_once(
            fmt::format("driver programs of ABI {} are ignored, this runtime has ABI {}: rebuild "
                        "the program with this version's trimtab++",
                        bundle->abi, TRIMTAB_DRIVER_ABI));
        return;
    }
    if (bundle->fat_binary_hash == nullptr) {
        log_.warn_once("driver programs that name no fat binary are ignored");
        return;
    }
    const std::lock_guard lock(mutex_);
    entries_.push_back({.bundle = bundle, .parsed = false, .broken = {}, .kernels = {}});
}

void Bundles::remove(const trimtab_bundle* bundle) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [bundle](const Entry& entry) { return entry.bundle == bundle; });
}

void Bundles::parse(Entry& entry) {
    entry.parsed = true;
    const std::string origin = fmt::format("driver programs of fat binary {}", entry.bundle->fat_binary_hash);
    const auto record = read_record(*entry.bundle, origin);
    if (!record) {
        entry.broken = record.error().text();
        log_.warn_once(entry.broken + ": its kernels are launched as written");
        return;
    }
    bool all_described = true;
    for (const json& kernel : (*record)["kernels"]) {
        if (!kernel.is_object() || !kernel.contains("description")) continue;
        auto description = analysis::description_from_json(kernel["description"], origin);
        if (!description) {
            log_.warn_once(description.error().text() + ": the kernel is launched as written");
            all_described = false;
            continue;
        }
        auto bundled = std::make_shared<BundledKernel>();
        bundled->description = std::move(*description);
        bundled->driver = driver_of(*entry.bundle, bundled->description.id);
        if (bundled->driver == nullptr) {
            const bool keeps_one_thread = bundled->description.verdict != analysis::Verdict::fixed &&
                                          analysis::keeps_its_block(bundled->description);
            bundled->no_driver = keeps_one_thread
                                     ? "the kernel does not read threadIdx: no other block is useful"
                                     : "it has no driver program";
            // Records of earlier builds do not say.
            if (const auto why = kernel.find("no_driver"); why != kernel.end() && why->is_string())
                bundled->no_driver += ": " + why->get<std::string>();
        } else if (bundled->no_driver = mismatch(*bundled->driver, bundled->description);
                   !bundled->no_driver.empty()) {
            bundled->driver = nullptr;
            log_.warn_once(fmt::format("{}: {}: it is launched as written", bundled->description.name,
                                       bundled->no_driver));
        }
        std::string name = bundled->description.name;
        entry.kernels.emplace(std::move(name), std::move(bundled));
    }
    if (all_described) complain_of_strays(entry);
}

void Bundles::complain_of_strays(const Entry& entry) {
    std::uint32_t strays = 0;
    for (std::uint32_t i = 0; entry.bundle->drivers != nullptr && i < entry.bundle->driver_count; ++i) {
        const trimtab_driver* driver = entry.bundle->drivers[i];
        const bool has_kernel =
            driver != nullptr && driver->id != nullptr &&
            std::any_of(entry.kernels.begin(), entry.kernels.end(),
                        [driver](const auto& kernel) { return kernel.second->description.id == driver->id; });
        if (!has_kernel) ++strays;
    }
    if (strays > 0)
        log_.warn_once(fmt::format(
            "driver programs of fat binary {}: {} of {} are for kernels that its record does not describe: "
            "those are launched as written",
            entry.bundle->fat_binary_hash, strays, entry.bundle->driver_count));
}

std::vector<std::shared_ptr<const BundledKernel>> Bundles::bodies_of(const BundledKernel& kernel,
                                                                     const Kernels& kernels) {
    std::vector<std::shared_ptr<const BundledKernel>> bodies;
    if (kernel.driver == nullptr) return bodies;
    for (const auto& [name, other] : kernels)
        if (other.get() != &kernel && other->driver != nullptr &&
            (analysis::variant_mismatch(kernel.description, other->description).empty() ||
             analysis::is_coarsened_from(other->description, kernel.description)))
            bodies.push_back(other);
    std::ranges::sort(bodies, {}, [](const auto& body) { return body->description.variant->value; });
    return bodies;
}

std::shared_ptr<const BundledKernel> Bundles::stand_in_of(const BundledKernel& kernel,
                                                          const Kernels& kernels) {
    if (!analysis::keeps_its_block(kernel.description)) return nullptr;
    for (const auto& [name, other] : kernels)
        if (other->driver != nullptr &&
            analysis::has_built_in_block_of(other->description, kernel.description))
            return other;
    return nullptr;
}

std::vector<std::shared_ptr<const BundledKernel>> Bundles::relatives(std::string_view fat_binary_hash,
                                                                     std::string_view kernel) {
    std::vector<std::shared_ptr<const BundledKernel>> found;
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
        if (fat_binary_hash != entry.bundle->fat_binary_hash) continue;
        if (!entry.parsed) parse(entry);
        const auto own = entry.kernels.find(kernel);
        if (own == entry.kernels.end()) break;
        for (const auto& [name, other] : entry.kernels)
            if (other != own->second &&
                analysis::take_the_same(own->second->description, other->description) &&
                analysis::are_variants(own->second->description, other->description))
                found.push_back(other);
        break;
    }
    std::ranges::sort(found, {}, [](const auto& body) { return body->description.variant->value; });
    return found;
}

Bundles::Found Bundles::find(std::string_view fat_binary_hash, std::string_view kernel) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
        if (fat_binary_hash != entry.bundle->fat_binary_hash) continue;
        if (!entry.parsed) parse(entry);
        Found found{.kernel = nullptr, .bundle = entry.bundle, .reason = entry.broken};
        const auto place = entry.kernels.find(kernel);
        if (place != entry.kernels.end()) {
            found.kernel = place->second;
            found.bodies = bodies_of(*found.kernel, entry.kernels);
            found.stand_in = stand_in_of(*found.kernel, entry.kernels);
        } else if (found.reason.empty()) {
            found.reason = "its fat binary's driver programs do not describe it";
        }
        return found;
    }
    return {.kernel = nullptr, .bundle = nullptr, .reason = "no driver programs came with its fat binary"};
}

Bundles::Found Bundles::find_by_name(std::string_view kernel) {
    const std::lock_guard lock(mutex_);
    Found found{.kernel = nullptr, .bundle = nullptr, .reason = "no driver program is known by its name"};
    for (Entry& entry : entries_) {
        if (!entry.parsed) parse(entry);
        const auto place = entry.kernels.find(kernel);
        if (place == entry.kernels.end()) continue;
        if (found.kernel != nullptr)
            return {.kernel = nullptr, .bundle = nullptr, .reason = "several kernels share its name"};
        found = {.kernel = place->second, .bundle = entry.bundle, .reason = {}};
    }
    return found;
}

}  // namespace trimtab::choosing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/run_record.h"

#include <nlohmann/json.hpp>

#include "core/base/json_value.h"

namespace trimtab::emulator {
namespace {

using base::JsonValue;
using nlohmann::json;

constexpr const char* version_member = "run_record";

struct SumField {
    const char* name;
    CopySum RunRecord::* member;
};
constexpr SumField sum_fields[] = {{"to_device", &RunRecord::to_device},
                                   {"to_host", &RunRecord::to_host},
                                   {"sent_again", &RunRecord::sent_again},
                                   {"round_trips", &RunRecord::round_trips},
                                   {"fetched_again", &RunRecord::fetched_again}};

double at_least_zero(const JsonValue& value) {
    const double number = value.number();
    if (!(number >= 0)) value.fail("is below 0");
    return number;
}

}  // namespace

json to_json(const RunRecord& record) {
    json out{{version_member, run_record_version}, {"device", record.device}};
    for (const SumField& field : sum_fields) {
        const CopySum& sum = record.*field.member;
        out[field.name] = {{"count", sum.count}, {"bytes", sum.bytes}, {"ns", sum.ns}};
    }
    out["serial"] = json::array();
    for (const SerialLaunches& serial : record.serial)
        out["serial"].push_back({{"kernels", serial.kernels},
                                 {"launches", serial.launches},
                                 {"ns", serial.ns},
                                 {"together_ns", serial.together_ns}});
    return out;
}

bool is_run_record(const json& value) {
    return value.is_object() && value.contains(version_member);
}

std::expected<RunRecord, Error> run_record_from_json(const json& value, const std::string& origin) {
    return base::read_json(value, "run", origin, [](const JsonValue& run) {
        if (run[version_member].natural() != run_record_version)
            run[version_member].fail("is a record of another version of Trimtab");
        RunRecord record;
        record.device = run["device"].text();
        for (const SumField& field : sum_fields) {
            const JsonValue sum = run[field.name];
            record.*field.member = {.count = sum["count"].natural(),
                                    .bytes = at_least_zero(sum["bytes"]),
                                    .ns = at_least_zero(sum["ns"])};
        }
        for (const JsonValue& entry : run["serial"].list()) {
            SerialLaunches serial{.kernels = {},
                                  .launches = entry["launches"].natural(),
                                  .ns = at_least_zero(entry["ns"]),
                                  .together_ns = at_least_zero(entry["together_ns"])};
            for (const JsonValue& kernel : entry["kernels"].list()) serial.kernels.push_back(kernel.text());
            record.serial.push_back(std::move(serial));
        }
        return record;
    });
}

}  // namespace trimtab::emulator

// Turns a suite into variants of a benchmark, scaled down to what a CPU can take.
#include "engine/suites.h"

#include "engine/device.h"
#include "engine/error.h"
#include "jobs/job_setup.h"
#include "jobs/option_effect.h"

#include <algorithm>

namespace jobs {
namespace {

using engine::ModelConfig;

constexpr double kMostWork = 8;  // of a step, in steps of the base

bool runsOnCpu(const std::string& device) {
    if (device != "auto") return device == "cpu";
    const std::vector<engine::DeviceInfo> devices = engine::inspectMachine().devices;
    return std::none_of(devices.begin(), devices.end(),
                        [](const engine::DeviceInfo& info) { return info.usable && info.id != "cpu"; });
}

/// Half as wide, with heads as wide as before where that can be.
ModelConfig narrower(ModelConfig model) {
    model.dModel /= 2;
    model.ffn /= 2;
    if (model.heads % 2 == 0) model.heads /= 2;
    if (model.kvHeads % 2 == 0) model.kvHeads /= 2;
    return model;
}

ModelConfig shallower(ModelConfig model) {
    model.layers = (model.layers + 1) / 2;
    return model;
}

/// "d-model 2048 → 512, heads 32 → 8, layers 12 → 6"; "" when nothing changed.
std::string changesBetween(const ModelConfig& full, const ModelConfig& scaled) {
    std::string text;
    const auto add = [&text](const char* what, int before, int after) {
        if (before == after) return;
        text += (text.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(before) + " → " +
                std::to_string(after);
    };
    add("d-model", full.dModel, scaled.dModel);
    add("ffn", full.ffn, scaled.ffn);
    add("heads", full.heads, scaled.heads);
    add("kv-heads", full.kvHeads, scaled.kvHeads);
    add("layers", full.layers, scaled.layers);
    return text;
}

/// Variants of one model: they are scaled alike, or their comparison would say nothing.
using Group = std::vector<BenchVariant*>;

class Scaler {
public:
    Scaler(std::vector<BenchVariant>& variants, const engine::RunConfig& base)
        : m_base(base), m_mostFlops(kMostWork * sizeOf(base).flopsPerStep) {
        for (BenchVariant& variant : variants) {
            groupOf(variant.config.model).push_back(&variant);
        }
    }

    void limitWork() {
        for (Group& group : m_groups) {
            while (flops(group) > m_mostFlops && shrink(group)) {
            }
        }
    }
    void limitMemory(double mostBytes) {
        while (totalBytes() > mostBytes) {
            std::vector<Group*> largestFirst;
            for (Group& group : m_groups) largestFirst.push_back(&group);
            std::sort(largestFirst.begin(), largestFirst.end(),
                      [](const Group* a, const Group* b) { return bytes(*a) > bytes(*b); });
            if (std::none_of(largestFirst.begin(), largestFirst.end(), [this](Group* group) { return shrink(*group); }))
                return;
        }
    }
    double totalBytes() const {
        double total = 0;
        for (const Group& group : m_groups) total += bytes(group);
        return total;
    }

private:
    Group& groupOf(const ModelConfig& model) {
        for (Group& group : m_groups) {
            if (group.front()->config.model == model) return group;
        }
        return m_groups.emplace_back();
    }
    static double bytes(const Group& group) {
        double total = 0;
        for (const BenchVariant* variant : group) total += static_cast<double>(sizeOf(variant->config).memoryBytes);
        return total;
    }
    static double flops(const Group& group) {
        double most = 0;
        for (const BenchVariant* variant : group) most = std::max(most, sizeOf(variant->config).flopsPerStep);
        return most;
    }

    /// Halves whatever stands further above the base's, never below it. False when neither can be halved.
    bool shrink(Group& group) const {
        const ModelConfig model = group.front()->config.model;
        const double width = static_cast<double>(model.dModel) / m_base.model.dModel;
        const double depth = static_cast<double>(model.layers) / m_base.model.layers;
        const bool widthFirst = width >= depth;
        return use(group, widthFirst ? narrower(model) : shallower(model)) ||
               use(group, widthFirst ? shallower(model) : narrower(model));
    }
    bool use(Group& group, const ModelConfig& model) const {
        const ModelConfig& floor = m_base.model;
        if (model == group.front()->config.model) return false;
        if (model.dModel < floor.dModel || model.layers < floor.layers) return false;
        for (const BenchVariant* variant : group) {
            engine::RunConfig config = variant->config;
            config.model = model;
            if (!engine::validate(config).empty()) return false;
        }
        for (BenchVariant* variant : group) variant->config.model = model;
        return true;
    }

    engine::RunConfig m_base;
    double m_mostFlops;
    std::vector<Group> m_groups;
};

void requireSound(const BenchVariant& variant, const std::string& suite) {
    const std::vector<engine::ConfigIssue> issues = engine::validate(variant.config);
    if (issues.empty()) return;
    throw engine::Error(engine::ErrorKind::Usage,
                        "suite " + suite + ", variant \"" + variant.label + "\", --" + issues.front().field,
                        issues.front().why, issues.front().fix);
}

}  // namespace

std::vector<std::string> suiteNames() {
    return engine::suiteNames();
}

engine::RunConfig suiteBase(const std::string& name) {
    return engine::presetConfig(engine::suite(name).preset);
}

BenchSuite makeSuite(const std::string& name, const engine::RunConfig& base, bool fullSize) {
    const engine::Suite suite = engine::suite(name);
    requireValid(base);
    BenchSuite result{suite.name, suite.summary, suite.preset, {}};
    std::vector<ModelConfig> fullModels;
    for (const engine::SuiteVariant& each : suite.variants) {
        BenchVariant variant;
        variant.config = withoutIdleSettings(each.applyTo(base));
        variant.label = each.label;
        variant.summary = each.summary;
        requireSound(variant, name);
        fullModels.push_back(variant.config.model);
        result.variants.push_back(std::move(variant));
    }
    if (!runsOnCpu(base.train.device)) return result;
    const auto memory = static_cast<double>(engine::cpuInfo().memoryBytes);
    Scaler scaler(result.variants, base);
    if (!fullSize) {
        scaler.limitWork();
        scaler.limitMemory(memory / 2);
    }
    const auto available = static_cast<double>(engine::availableMemoryBytes());
    if (available >= 0 && scaler.totalBytes() > available) {
        throw engine::Error(engine::ErrorKind::Usage, fullSize ? "--full-size" : "--suite " + name,
                            "its variants take " + gibibytes(scaler.totalBytes()) + " together, and " +
                                gibibytes(available) + " are available",
                            fullSize ? "leave --full-size out" : "use a smaller --batch or --seq-len");
    }
    for (std::size_t i = 0; i < result.variants.size(); ++i) {
        result.variants[i].scaledDown = changesBetween(fullModels[i], result.variants[i].config.model);
    }
    return result;
}

}  // namespace jobs

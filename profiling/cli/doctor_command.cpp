// amaxscope-cli doctor: what this machine can run, natively or emulated, and why not the rest.
#include "commands.h"
#include "engine/device.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/session.h"
#include "table.h"

#include <fmt/format.h>

#include <iostream>

namespace cli {
namespace {

struct DoctorOptions {
    bool json = false;
};

void printJson(const engine::MachineInfo& machine) {
    Json json = {{"type", "doctor"},
                 {"program_version", AMAXSCOPE_VERSION},
                 {"machine", jsonFromText(engine::toJson(machine))},
                 {"kernels", engine::chosenKernels()},
                 {"nvtx", engine::builtWithNvtx()},
                 {"range_capture", profiling::rangeCapturePath()},
                 {"devices", Json::array()}};
    for (const engine::DeviceInfo& device : machine.devices) {
        Json entry = {{"id", device.id}, {"name", device.name}, {"usable", device.usable}, {"reason", device.reason}};
        entry["precisions"] = Json::array();
        for (const engine::PrecisionSupport& support : device.precisions) {
            entry["precisions"].push_back({{"precision", engine::name(support.precision)},
                                           {"support", engine::name(support.support)},
                                           {"reason", support.reason}});
        }
        json["devices"].push_back(entry);
    }
    printJsonLine(json);
}

std::string instructionSets(const engine::CpuInfo& cpu) {
    std::string sets;
    const auto add = [&sets](bool has, const char* name) {
        if (has) sets += (sets.empty() ? "" : ", ") + std::string(name);
    };
    add(cpu.avx2, "AVX2 with FMA");
    add(cpu.avx512, "AVX-512");
    add(cpu.avx512Bf16, "AVX-512 BF16");
    return sets.empty() ? "none of AVX2, AVX-512, AVX-512 BF16" : sets;
}

void printText(const engine::MachineInfo& machine) {
    std::cout << fmt::format("amaxscope {}\n", AMAXSCOPE_VERSION)
              << fmt::format("host          {}, {}\n", machine.host, machine.system)
              << fmt::format("cpu           {}, {} cores, {}\n", machine.cpu.name, machine.cpu.cores,
                             bytesText(machine.cpu.memoryBytes))
              << fmt::format("instructions  {}\n", instructionSets(machine.cpu))
              << fmt::format("kernels       {}\n", engine::chosenKernels())
              << fmt::format("cuda          {}\n", machine.cudaStatus)
              << fmt::format("cuda plug-in  {}\n", machine.cudaPlugin)
              << fmt::format("nvtx          {}\n", engine::builtWithNvtx() ? "built with NVTX" : "built without NVTX")
              << fmt::format("ranges        {}\n", profiling::rangeCapturePath());
    for (const engine::GpuInfo& gpu : machine.gpus) {
        std::cout << fmt::format("gpu {}         {}, compute capability {}.{}, {}\n", gpu.index, gpu.name,
                                 gpu.computeMajor, gpu.computeMinor, bytesText(gpu.memoryBytes));
    }
    for (const engine::DeviceInfo& device : machine.devices) {
        std::cout << fmt::format("\ndevice {} ({}): {}\n", device.id, device.name,
                                 device.usable ? "usable" : "not usable: " + device.reason);
        Table table({"precision", "support", "why"}, {Align::Left, Align::Left, Align::Left});
        for (const engine::PrecisionSupport& support : device.precisions) {
            table.add({engine::name(support.precision), engine::name(support.support), support.reason});
        }
        if (!device.precisions.empty()) std::cout << table.text("  ");
    }
    std::cout << std::flush;
}

int doctor(const DoctorOptions& options) {
    const engine::MachineInfo machine = engine::inspectMachine();
    (options.json ? printJson : printText)(machine);
    return kDone;
}

}  // namespace

void addDoctor(CLI::App& app, Action& run) {
    const auto options = std::make_shared<DoctorOptions>();
    CLI::App& command = addCommand<DoctorOptions>(app, run, "doctor", "What this machine can run, and why",
                                                  "amaxscope-cli doctor", options, doctor);
    command.add_flag("--json", options->json, "one JSON object on stdout");
}

}  // namespace cli

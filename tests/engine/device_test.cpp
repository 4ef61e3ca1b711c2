// What the machine says of itself, and a CUDA plug-in that is missing, wrong or (in the cuda preset) real.
#include "engine/device.h"
#include "src/cuda_plugin.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>

namespace {

class CudaPlugin : public testing::Test {
protected:
    ~CudaPlugin() override { unsetenv("AMAXSCOPE_CUDA_PLUGIN"); }
    std::string statusWith(const std::string& path) {
        setenv("AMAXSCOPE_CUDA_PLUGIN", path.c_str(), 1);
        return engine::cudaPluginStatus();
    }
    TemporaryFolder m_folder;
};

TEST(Machine, describesTheCpuAndEveryPrecision) {
    const engine::MachineInfo machine = engine::inspectMachine();
    EXPECT_GE(machine.cpu.cores, 1);
    EXPECT_FALSE(machine.cudaStatus.empty());
    ASSERT_FALSE(machine.devices.empty());
    const engine::DeviceInfo& cpu = machine.devices.front();
    EXPECT_EQ(cpu.id, "cpu");
    EXPECT_TRUE(cpu.usable);
    ASSERT_EQ(cpu.precisions.size(), 3U);
    EXPECT_EQ(cpu.precisions[0].support, engine::Support::Native);
    EXPECT_EQ(cpu.precisions[2].precision, engine::Precision::Fp8);
    EXPECT_EQ(cpu.precisions[2].support, engine::Support::Emulated) << "no CPU multiplies FP8";
    const auto json = nlohmann::json::parse(engine::toJson(machine));
    EXPECT_EQ(json.at("devices").at(0).at("precisions").at("fp8").at("support"), "emulated");
}

TEST(Machine, knowsItsFreeMemory) {
    EXPECT_GT(engine::availableMemoryBytes(), 1 << 20);
    EXPECT_LE(engine::availableMemoryBytes(), engine::cpuInfo().memoryBytes);
}

TEST_F(CudaPlugin, missingIsNoError) {
    EXPECT_EQ(statusWith(m_folder.path() + "/none.so"), "not installed");
}

TEST_F(CudaPlugin, otherFilesAreNamed) {
    const std::string path = m_folder.path() + "/plugin.so";
    std::ofstream(path) << "not a library";
    EXPECT_NE(statusWith(path).find("cannot be opened"), std::string::npos);
}

#ifdef AMAXSCOPE_TEST_CUDA_PLUGIN
TEST_F(CudaPlugin, realOneStatesItsVersions) {
    const std::string status = statusWith(AMAXSCOPE_TEST_CUDA_PLUGIN);
    EXPECT_TRUE(status.starts_with("CUDA 13.")) << status;
    EXPECT_NE(status.find("GPU"), std::string::npos) << status;
}
#endif

}  // namespace

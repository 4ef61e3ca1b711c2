// Trains a model and writes all that a reference needs to train beside it: initial parameters, and per
// step the tokens, the loss, the gradients, the updated parameters and the operands of every product as they were cast.
// tests/reference reads it.
//
//   training_dump FILE MODEL RECIPE TRAIN    the last three as JSON, see runConfigFromJson()
//
// FILE is a sequence of records; engine_dump.py describes them and their names.
#include "engine/error.h"
#include "src/trainer_impl.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using engine::cpu::Type;

using Shape = std::vector<std::int64_t>;

class RecordFile {
public:
    explicit RecordFile(const std::string& path) : m_file(path, std::ios::binary) {}

    template <typename T>
    void write(const std::string& name, const Shape& shape, const T* elements) {
        word(static_cast<std::int64_t>(name.size()));
        bytes(name.data(), name.size());
        const char kind = kindOf(elements);
        bytes(&kind, 1);
        word(static_cast<std::int64_t>(shape.size()));
        std::size_t count = 1;
        for (const std::int64_t size : shape) {
            word(size);
            count *= static_cast<std::size_t>(size);
        }
        bytes(elements, count * sizeof(T));
    }
    template <typename T>
    void writeOne(const std::string& name, T value) {
        write(name, {1}, &value);
    }
    void writeText(const std::string& name, const std::string& text) {
        write(name, {static_cast<std::int64_t>(text.size())}, reinterpret_cast<const std::uint8_t*>(text.data()));
    }
    bool close() {
        m_file.close();
        return !m_file.fail();
    }

private:
    static char kindOf(const std::uint8_t*) { return 'b'; }
    static char kindOf(const std::uint16_t*) { return 'h'; }
    static char kindOf(const int*) { return 'i'; }
    static char kindOf(const float*) { return 'f'; }
    static char kindOf(const double*) { return 'd'; }
    void bytes(const void* data, std::size_t count) {
        m_file.write(static_cast<const char*>(data), static_cast<std::streamsize>(count));
    }
    void word(std::int64_t value) {
        const auto narrow = static_cast<std::uint32_t>(value);
        bytes(&narrow, sizeof narrow);
    }

    std::ofstream m_file;
};

std::string numbered(const char* what, std::int64_t number) {
    return what + std::to_string(number) + "/";
}

/// Vectors have one dimension in the file.
Shape shapeOf(const engine::ParameterSpec& spec) {
    return spec.rows == 1 ? Shape{spec.cols} : Shape{spec.rows, spec.cols};
}

/// Follows the ranges of a step: they tell when tokens, operands and gradients are complete and not yet overwritten.
class Dumper : public engine::StepObserver {
public:
    explicit Dumper(RecordFile& file) : m_file(file) {}
    ~Dumper() override { engine::setRangeSink(nullptr); }

    void watch(engine::TrainerImpl& trainer) {
        m_trainer = &trainer;
        s_instance = this;
        static constexpr engine::RangeSink kSink = {
            [](const char* name, engine::RangeKind kind, engine::RangeWork) { s_instance->push(name, kind); },
            [] { s_instance->pop(); }};
        engine::setRangeSink(&kSink);
    }

    void writeConfig() {
        const engine::RunConfig& config = m_trainer->config();
        m_file.writeText("config/model", engine::toJson(config.model));
        m_file.writeText("config/recipe", engine::toJson(config.recipe));
        m_file.writeText("config/train", engine::toJson(config.train));
    }

    // Weights that are stored quantised have no FP32 values. The array of gradients has them for a while: the initial
    // ones before the first step, and after an update those that were then rounded.
    void writeParameters(const std::string& prefix) {
        engine::Network& network = m_trainer->network();
        for (const engine::ParameterSpec& spec : network.table()) {
            const float* values = spec.home >= 0 ? network.parameters() + spec.home : network.gradients() + spec.offset;
            m_file.write(prefix + spec.name, shapeOf(spec), values);
        }
    }

    void onTensors(std::span<const engine::TensorInfo> /*tensors*/) override {}
    void onStepBegin(std::int64_t step) override {
        m_step = numbered("step.", step);
        m_microBatch = -1;
    }
    void onStepEnd(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> /*snapshots*/) override {
        m_file.writeOne(m_step + "loss", stats.loss);
        m_file.writeOne(m_step + "grad_norm", stats.gradNorm);
        m_file.writeOne(m_step + "lr", stats.lr);
        writeParameters(m_step + "updated/");
    }
    void onValidation(std::int64_t /*step*/, double /*loss*/) override {}
    void onEvent(const engine::EngineEvent& event) override {
        if (event.severity != engine::Severity::Info) std::fprintf(stderr, "%s\n", event.text.c_str());
    }
    void onGeneration(const engine::GenerationSample& /*sample*/) override {}

private:
    void push(const char* name, engine::RangeKind kind) {
        m_open.emplace_back(name);
        if (kind != engine::RangeKind::Phase) return;
        if (m_open.back() == "backward") writeTokens();
        if (m_open.back() == "optimizer") writeGradients();
    }

    void pop() {
        const bool wasLastProduct = m_open.back().ends_with("wgrad");
        m_open.pop_back();
        if (!wasLastProduct) return;
        for (const engine::GemmLayer& layer : m_trainer->network().layers()) {
            if (m_open.back() == layer.name) return writeOperands(layer);
        }
    }

    void writeTokens() {
        ++m_microBatch;
        const engine::RunConfig& config = m_trainer->config();
        const Shape shape{std::int64_t{config.train.batch} * config.model.seqLen};
        m_file.write(m_step + numbered("batch.", m_microBatch) + "inputs", shape, m_trainer->network().inputs());
        m_file.write(m_step + numbered("batch.", m_microBatch) + "targets", shape, m_trainer->network().targets());
    }

    void writeGradients() {
        for (const engine::ParameterSpec& spec : m_trainer->network().table()) {
            m_file.write(m_step + "gradient/" + spec.name, shapeOf(spec),
                         m_trainer->network().gradients() + spec.offset);
        }
    }

    void writeOperands(const engine::GemmLayer& layer) {
        for (const engine::Role role : {engine::Role::Input, engine::Role::Weight, engine::Role::GradOutput}) {
            if (role == engine::Role::Weight && m_microBatch > 0) continue;
            const std::string prefix = m_step + numbered("batch.", m_microBatch) + "operand/" + layer.name + "/" +
                                       engine::roleName(role) + "/";
            writeOperand(prefix, layer.operand(role));
        }
    }

    void writeOperand(const std::string& prefix, const engine::Operand& operand) {
        if (operand.type == Type::F32) return;
        const Shape shape{operand.rows, operand.cols};
        if (operand.type == Type::Bf16) {
            m_file.write(prefix + "data", shape, static_cast<const std::uint16_t*>(operand.data));
            return;
        }
        writeCodes(prefix + "data", operand, operand.data);
        m_file.writeOne(prefix + "scale", operand.scale);
        m_file.writeOne(prefix + "column_scale", operand.columnScale);
        if (operand.scales == nullptr) return;
        // Recipe::memory() lists the arrays in turn: codes, scales, and the same of the copy along the rows.
        const auto parts = m_trainer->network().recipe()->memory(operand);
        writeScales(prefix + "scales", parts.at(1));
        if (operand.columnData == nullptr) return;
        writeCodes(prefix + "column_data", operand, operand.columnData);
        writeScales(prefix + "column_scales", parts.at(3));
    }

    void writeCodes(const std::string& name, const engine::Operand& operand, const void* codes) {
        const std::int64_t perByte = operand.type == Type::E2M1 ? 2 : 1;
        m_file.write(name, {operand.rows, operand.cols / perByte}, static_cast<const std::uint8_t*>(codes));
    }

    void writeScales(const std::string& name, std::span<std::byte> scales) {
        const auto count = static_cast<std::int64_t>(scales.size());
        if (m_trainer->config().recipe.kind == engine::RecipeKind::Block) {
            const auto floats = count / static_cast<std::int64_t>(sizeof(float));
            m_file.write(name, {floats}, reinterpret_cast<const float*>(scales.data()));
        } else {
            m_file.write(name, {count}, reinterpret_cast<const std::uint8_t*>(scales.data()));
        }
    }

    static inline Dumper* s_instance = nullptr;

    RecordFile& m_file;
    engine::TrainerImpl* m_trainer = nullptr;
    std::vector<std::string_view> m_open;
    std::string m_step;
    int m_microBatch = -1;
};

int dump(const std::string& path, const engine::RunConfig& config) {
    RecordFile file(path);
    Dumper dumper(file);
    engine::TrainerImpl trainer(config, &dumper, engine::TrainerImpl::Purpose::Train, true);
    dumper.watch(trainer);
    dumper.writeConfig();
    dumper.writeParameters("parameter/");
    while (!trainer.done()) trainer.step();
    if (file.close()) return 0;
    std::fprintf(stderr, "%s could not be written: check that the folder exists and the disk has room\n", path.c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: training_dump FILE MODEL RECIPE TRAIN (the last three as JSON)\n");
        return 2;
    }
    try {
        return dump(argv[1], engine::runConfigFromJson(argv[2], argv[3], argv[4]));
    } catch (const engine::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

// Saving and resuming. File: magic, version, header length, header (JSON: configuration and counters), then FP32
// arrays — parameters, both moments, masters of stored weights, the recipe's state (delayed: scales, amax histories) —
// then each stored weight: its two scales and its bytes. A 64-bit FNV-1a digest of all before it ends the file.
#include "engine/error.h"
#include "engine/trainer.h"
#include "src/trainer_impl.h"

#include <fcntl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace engine {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

constexpr std::array<char, 8> kMagic = {'A', 'M', 'A', 'X', 'C', 'K', 'P', 'T'};
constexpr std::uint32_t kVersion = 2;  // 1: no stored weights, fallback by layer
constexpr std::size_t kPreamble = kMagic.size() + 2 * sizeof(std::uint32_t);
constexpr std::uint32_t kLongestHeader = 1U << 24;

Error failed(const std::string& path, const std::string& why, const std::string& fix) {
    return {ErrorKind::Failure, "checkpoint " + path, why, fix};
}

class Digest {
public:
    void add(const void* data, std::size_t count) {
        const auto* bytes = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < count; ++i) m_value = (m_value ^ bytes[i]) * 0x100000001B3ULL;
    }
    std::uint64_t value() const { return m_value; }

private:
    std::uint64_t m_value = 0xCBF29CE484222325ULL;
};

/// A checkpoint being read: checked as a whole when opened, its arrays read in place afterwards.
class Reader {
public:
    explicit Reader(const std::string& path) : m_path(path) {
        std::error_code ignored;
        if (std::filesystem::is_directory(path, ignored)) throw failed(path, "it is a folder", "name a file");
        m_file.open(path, std::ios::binary);
        if (!m_file) throw failed(path, std::strerror(errno), "check the path");
        m_size = std::filesystem::file_size(path, ignored);
        try {
            readHeader();
            checkDigest();
        } catch (const std::ios_base::failure&) {
            throw failed(path, "reading broke off", "use another checkpoint");
        }
        m_file.seekg(static_cast<std::streamoff>(m_arrays));
    }

    const nlohmann::json& header() const { return m_header; }
    const RunConfig& config() const { return m_config; }
    std::uint32_t version() const { return m_version; }

    void read(float* target, std::size_t count) { readBytes(target, count * sizeof(float)); }
    void readBytes(void* target, std::size_t count) {
        m_file.read(static_cast<char*>(target), static_cast<std::streamsize>(count));
        if (!m_file) throw failed(m_path, "its arrays do not fit its model", "use another checkpoint");
    }

private:
    void readHeader() {
        std::array<char, kPreamble> preamble{};
        m_file.read(preamble.data(), preamble.size());
        if (!m_file || std::memcmp(preamble.data(), kMagic.data(), kMagic.size()) != 0) {
            throw failed(m_path, "it is not an Amaxscope checkpoint", "name a file written by --checkpoint");
        }
        std::uint32_t version = 0;
        std::uint32_t bytes = 0;
        std::memcpy(&version, preamble.data() + kMagic.size(), sizeof version);
        std::memcpy(&bytes, preamble.data() + kMagic.size() + sizeof version, sizeof bytes);
        if (version > kVersion) {
            throw failed(
                m_path,
                "it has version " + std::to_string(version) + ", this program reads up to " + std::to_string(kVersion),
                "use a newer Amaxscope");
        }
        m_version = version;
        m_arrays = kPreamble + bytes;
        if (bytes > kLongestHeader || m_size < m_arrays + sizeof(std::uint64_t)) {
            throw failed(m_path, "its contents are damaged", "use another checkpoint");
        }
        std::string text(bytes, '\0');
        m_file.read(text.data(), bytes);
        try {
            m_header = nlohmann::json::parse(text);
            m_config = runConfigFromJson(m_header.at("model").dump(), m_header.at("recipe").dump(),
                                         m_header.at("train").dump());
        } catch (const nlohmann::json::exception&) {
            throw failed(m_path, "its contents are damaged", "use another checkpoint");
        }
    }

    void checkDigest() {
        m_file.seekg(0);
        Digest digest;
        std::vector<char> chunk(std::size_t{1} << 20);
        for (std::uintmax_t left = m_size - sizeof(std::uint64_t); left > 0;) {
            const std::size_t now = std::min<std::uintmax_t>(left, chunk.size());
            m_file.read(chunk.data(), static_cast<std::streamsize>(now));
            digest.add(chunk.data(), now);
            left -= now;
        }
        std::uint64_t stored = 0;
        m_file.read(reinterpret_cast<char*>(&stored), sizeof stored);
        if (!m_file || stored != digest.value()) {
            throw failed(m_path, "its contents are damaged", "use another checkpoint");
        }
    }

    std::string m_path;
    std::ifstream m_file;
    std::uint32_t m_version = 0;
    std::uintmax_t m_size = 0;
    std::uintmax_t m_arrays = 0;  // offset of the first array
    nlohmann::json m_header;
    RunConfig m_config;
};

/// A checkpoint being written beside its final place; only commit() puts it there.
class Writer {
public:
    explicit Writer(const std::string& path) : m_path(path), m_temporary(path + ".part") {
        m_descriptor = ::open(m_temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (m_descriptor < 0) {
            throw failed(path, std::strerror(errno), "choose a folder that exists and can be written");
        }
    }
    ~Writer() {
        if (m_descriptor < 0) return;
        ::close(m_descriptor);
        ::unlink(m_temporary.c_str());
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void write(const void* data, std::size_t count) {
        m_digest.add(data, count);
        writeBytes(data, count);
    }

    void commit() {
        const std::uint64_t digest = m_digest.value();
        writeBytes(&digest, sizeof digest);
        if (::fsync(m_descriptor) != 0) throw failed(m_path, std::strerror(errno), "check the disk");
        if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0) {
            throw failed(m_path, std::strerror(errno), "choose another path");
        }
        ::close(std::exchange(m_descriptor, -1));
        syncFolder();
    }

private:
    void writeBytes(const void* data, std::size_t count) {
        const auto* bytes = static_cast<const char*>(data);
        while (count > 0) {
            const ssize_t written = ::write(m_descriptor, bytes, count);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) throw failed(m_path, std::strerror(errno), "free some space or choose another path");
            bytes += written;
            count -= static_cast<std::size_t>(written);
        }
    }

    // The rename itself lasts through a power loss only once the folder is on the disk. Not every file system can.
    void syncFolder() const {
        const std::filesystem::path parent = std::filesystem::path(m_path).parent_path();
        const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) return;
        ::fsync(folder);
        ::close(folder);
    }

    std::string m_path;
    std::string m_temporary;
    int m_descriptor = -1;
    Digest m_digest;
};

constexpr std::array<float Operand::*, 2> kStoredScales = {&Operand::scale, &Operand::columnScale};

void restoreStoredWeights(Network& network, Reader& file) {
    for (const ParameterSpec& spec : network.table()) {
        GemmLayer* layer = network.storedLayer(spec);
        if (layer == nullptr) continue;
        for (float Operand::*scale : kStoredScales) file.read(&(layer->weightOperand.*scale), 1);
        for (const std::span<std::byte> part : network.recipe()->memory(layer->weightOperand)) {
            file.readBytes(part.data(), part.size());
        }
    }
}

// The state of the recipe as it was saved, with the history length it was saved with.
void restoreRecipe(Network& network, const Fp8Recipe& saved, Reader& file) {
    if (network.recipe() == nullptr) return;
    std::size_t floats = network.recipe()->state().size();
    if (saved.kind == RecipeKind::Delayed) {
        floats = network.slots().size() * (1 + static_cast<std::size_t>(saved.amaxHistoryLen));
    }
    std::vector<float> state(floats);
    file.read(state.data(), state.size());
    network.recipe()->restore(state);
}

// Whether tensors were in BF16 when the run was saved.
bool hasFallbacks(const Reader& file) {
    const auto until = file.header().at("guard").value("bf16_until", std::vector<std::int64_t>());
    const auto step = file.header().at("step").get<std::int64_t>();
    return file.header().contains("pinned") ||
           std::any_of(until.begin(), until.end(), [&](std::int64_t end) { return end > step; });
}

GuardState readGuard(const Network& network, const Reader& file) {
    const nlohmann::json& guard = file.header().at("guard");
    GuardState state{guard.at("last_saturated").get<std::vector<std::int64_t>>(),
                     guard.at("in_a_row").get<std::vector<int>>(),
                     guard.value("bf16_until", std::vector<std::int64_t>(network.slots().size(), 0)),
                     guard.at("skipped_in_a_row").get<int>()};
    const auto pinned = file.header().value("pinned", std::vector<std::string>());
    for (std::size_t slot = 0; slot < network.slots().size(); ++slot) {
        const int tensor = network.slots()[slot]->tensor;
        const std::string& layer = network.tensors()[static_cast<std::size_t>(tensor)].layer;
        if (std::find(pinned.begin(), pinned.end(), layer) != pinned.end()) {
            state.bf16Until[slot] = NumericsGuard::kForever;
        }
    }
    return state;
}

void restore(TrainerImpl& trainer, Reader& file) {
    Network& network = trainer.network();
    const auto moments = static_cast<std::size_t>(network.gradientFloats());
    file.read(network.parameters(), static_cast<std::size_t>(network.parameterFloats()));
    file.read(trainer.moments1(), moments);
    file.read(trainer.moments2(), moments);
    file.read(trainer.masters().data(), trainer.masters().size());
    restoreRecipe(network, file.config().recipe, file);
    restoreStoredWeights(network, file);
    TrainingState state;
    state.step = file.header().at("step").get<std::int64_t>();
    state.updates = file.header().at("updates").get<std::int64_t>();
    trainer.restoreState(state);
    GuardState guard = readGuard(network, file);
    for (std::size_t slot = 0; slot < guard.bf16Until.size(); ++slot) {
        if (guard.bf16Until[slot] <= state.step) continue;
        network.setFallback(static_cast<int>(slot), true);
    }
    trainer.guard().restore(std::move(guard));
}

// What may differ between the saved run and its continuation.
RunConfig withAllowedChanges(RunConfig saved, const RunConfig& changes) {
    const TrainConfig& train = changes.train;
    saved.train.steps = train.steps;
    saved.train.threads = train.threads;
    saved.train.guard = train.guard;
    saved.train.guardLimit = train.guardLimit;
    saved.train.guardSteps = train.guardSteps;
    saved.train.snapshotEvery = train.snapshotEvery;
    saved.train.snapshotFrom = train.snapshotFrom;
    saved.train.snapshotTo = train.snapshotTo;
    saved.train.exponentsEvery = train.exponentsEvery;
    saved.train.observe = train.observe;
    saved.train.validateEvery = train.validateEvery;
    saved.train.data = train.data;
    saved.recipe.amaxHistoryLen = changes.recipe.amaxHistoryLen;
    return saved;
}

// The first setting that may not change but does, for the message: "--lr: was 0.001, is 0.01".
void requireUnchanged(const RunConfig& kept, const RunConfig& asked) {
    const auto compare = [](const std::string& saved, const std::string& wanted) {
        const auto before = nlohmann::json::parse(saved);
        const auto after = nlohmann::json::parse(wanted);
        for (const auto& [key, value] : after.items()) {
            if (before.contains(key) && before.at(key) == value) continue;
            std::string option = "--" + key;
            for (char& c : option) c = c == '_' ? '-' : c;
            throw Error(ErrorKind::Usage, option,
                        "the checkpoint was trained with " + before.value(key, nlohmann::json()).dump() + ", not " +
                            value.dump(),
                        "leave the option out, or start a new run");
        }
    };
    RunConfig wanted = asked;
    if (wanted.model.vocab == 0) wanted.model.vocab = kept.model.vocab;
    compare(toJson(kept.model), toJson(wanted.model));
    compare(toJson(kept.recipe), toJson(wanted.recipe));
    compare(toJson(kept.train), toJson(wanted.train));
}

}  // namespace

void TrainerImpl::save(const std::string& path) {
    const GuardState& guard = m_guard->state();
    const nlohmann::json header = {{"model", nlohmann::json::parse(toJson(m_config.model))},
                                   {"recipe", nlohmann::json::parse(toJson(m_config.recipe))},
                                   {"train", nlohmann::json::parse(toJson(m_config.train))},
                                   {"step", m_state.step},
                                   {"updates", m_state.updates},
                                   {"guard",
                                    {{"last_saturated", guard.lastSaturated},
                                     {"in_a_row", guard.inARow},
                                     {"bf16_until", guard.bf16Until},
                                     {"skipped_in_a_row", guard.skippedInARow}}}};
    const std::string text = header.dump();
    const auto headerBytes = static_cast<std::uint32_t>(text.size());
    const auto writeFloats = [](Writer& writer, const float* data, std::int64_t count) {
        writer.write(data, static_cast<std::size_t>(count) * sizeof(float));
    };
    Writer writer(path);
    writer.write(kMagic.data(), kMagic.size());
    writer.write(&kVersion, sizeof kVersion);
    writer.write(&headerBytes, sizeof headerBytes);
    writer.write(text.data(), text.size());
    writeFloats(writer, m_network->parameters(), m_network->parameterFloats());
    writeFloats(writer, m_moments1, m_network->gradientFloats());
    writeFloats(writer, m_moments2, m_network->gradientFloats());
    writeFloats(writer, m_masters, m_masterFloats);
    if (m_network->recipe() != nullptr) {
        const std::vector<float> state = m_network->recipe()->state();
        writeFloats(writer, state.data(), static_cast<std::int64_t>(state.size()));
    }
    for (const ParameterSpec& spec : m_network->table()) {
        const GemmLayer* layer = m_network->storedLayer(spec);
        if (layer == nullptr) continue;
        for (float Operand::*scale : kStoredScales) writeFloats(writer, &(layer->weightOperand.*scale), 1);
        for (const std::span<std::byte> part : m_network->recipe()->memory(layer->weightOperand)) {
            writer.write(part.data(), part.size());
        }
    }
    writer.commit();
    report(Severity::Info, "checkpoint", "saved to " + path);
}

RunConfig Trainer::readConfig(const std::string& path) {
    return Reader(path).config();
}

std::unique_ptr<Trainer> Trainer::resume(const std::string& path, const RunConfig& changes, StepObserver* observer) {
    Reader file(path);
    const RunConfig config = withAllowedChanges(file.config(), changes);
    requireUnchanged(config, changes);
    auto trainer =
        std::make_unique<TrainerImpl>(config, observer, TrainerImpl::Purpose::Train, false, hasFallbacks(file));
    restore(*trainer, file);
    trainer->report(Severity::Info, "resume", "continues " + path + " at step " + std::to_string(trainer->nextStep()));
    if (trainer->done()) {
        throw Error(ErrorKind::Usage, "--steps " + std::to_string(config.train.steps),
                    "the checkpoint is already at step " + std::to_string(trainer->nextStep()), "ask for more steps");
    }
    return trainer;
}

std::unique_ptr<Trainer> Trainer::load(const std::string& path) {
    Reader file(path);
    auto trainer = std::make_unique<TrainerImpl>(file.config(), nullptr, TrainerImpl::Purpose::Generate, false,
                                                 hasFallbacks(file));
    restore(*trainer, file);
    return trainer;
}

}  // namespace engine

// Saving and resuming. File: magic, version, header length, header (JSON: configuration and counters), then FP32
// arrays — parameters, both moments, scales, amax histories — and a 64-bit FNV-1a digest of all before it.
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
constexpr std::uint32_t kVersion = 1;
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

    void read(float* target, std::size_t count) {
        m_file.read(reinterpret_cast<char*>(target), static_cast<std::streamsize>(count * sizeof(float)));
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

std::vector<std::string> pinnedLayers(const Reader& file) {
    return file.header().value("pinned", std::vector<std::string>());
}

void restore(TrainerImpl& trainer, Reader& file) {
    const auto floats = static_cast<std::size_t>(trainer.network().floats());
    file.read(trainer.network().parameters(), floats);
    file.read(trainer.moments1(), floats);
    file.read(trainer.moments2(), floats);
    DelayedScaling& scaling = trainer.network().scaling();
    std::vector<float> scales(scaling.scales().size());
    std::vector<float> histories(scaling.histories().size());
    file.read(scales.data(), scales.size());
    file.read(histories.data(), histories.size());
    scaling.restore(std::move(scales), std::move(histories));
    TrainingState state;
    state.step = file.header().at("step").get<std::int64_t>();
    state.updates = file.header().at("updates").get<std::int64_t>();
    state.pinned = pinnedLayers(file);
    trainer.restoreState(state);
    const nlohmann::json& guard = file.header().at("guard");
    trainer.guard().restore({guard.at("last_saturated").get<std::vector<std::int64_t>>(),
                             guard.at("in_a_row").get<std::vector<int>>(), guard.at("skipped_in_a_row").get<int>()});
}

// What may differ between the saved run and its continuation.
RunConfig withAllowedChanges(RunConfig saved, const RunConfig& changes) {
    saved.train.steps = changes.train.steps;
    saved.train.threads = changes.train.threads;
    saved.train.guard = changes.train.guard;
    saved.train.snapshotEvery = changes.train.snapshotEvery;
    saved.train.validateEvery = changes.train.validateEvery;
    saved.train.data = changes.train.data;
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
                                   {"pinned", m_state.pinned},
                                   {"guard",
                                    {{"last_saturated", guard.lastSaturated},
                                     {"in_a_row", guard.inARow},
                                     {"skipped_in_a_row", guard.skippedInARow}}}};
    const std::string text = header.dump();
    const auto headerBytes = static_cast<std::uint32_t>(text.size());
    const std::size_t floatBytes = static_cast<std::size_t>(m_network->floats()) * sizeof(float);
    const DelayedScaling& scaling = m_network->scaling();
    Writer writer(path);
    writer.write(kMagic.data(), kMagic.size());
    writer.write(&kVersion, sizeof kVersion);
    writer.write(&headerBytes, sizeof headerBytes);
    writer.write(text.data(), text.size());
    writer.write(m_network->parameters(), floatBytes);
    writer.write(m_moments1, floatBytes);
    writer.write(m_moments2, floatBytes);
    writer.write(scaling.scales().data(), scaling.scales().size() * sizeof(float));
    writer.write(scaling.histories().data(), scaling.histories().size() * sizeof(float));
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
    auto trainer = std::make_unique<TrainerImpl>(config, observer, true, pinnedLayers(file));
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
    auto trainer = std::make_unique<TrainerImpl>(file.config(), nullptr, false, pinnedLayers(file));
    restore(*trainer, file);
    return trainer;
}

}  // namespace engine

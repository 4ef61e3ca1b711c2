// Saving and resuming. File: magic, version, header length, header (JSON: configuration and counters), then FP32
// arrays — parameters, both moments, scales, amax histories — and a 64-bit FNV-1a digest of all before it.
#include "engine/error.h"
#include "engine/trainer.h"
#include "src/trainer_impl.h"

#include <fcntl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace engine {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

constexpr char kMagic[8] = {'A', 'M', 'A', 'X', 'C', 'K', 'P', 'T'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPreamble = sizeof kMagic + 2 * sizeof(std::uint32_t);

std::uint64_t digestOf(const char* bytes, std::size_t count) {
    std::uint64_t digest = 0xCBF29CE484222325ULL;
    for (std::size_t i = 0; i < count; ++i) {
        digest = (digest ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3ULL;
    }
    return digest;
}

Error failed(const std::string& path, const std::string& why, const std::string& fix) {
    return {ErrorKind::Failure, "checkpoint " + path, why, fix};
}

struct File {
    nlohmann::json header;
    RunConfig config;
    std::string bytes;
    std::size_t arrays = 0;  // offset of the first array
};

File readFile(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw failed(path, std::strerror(errno), "check the path");
    File file;
    file.bytes.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (file.bytes.size() < kPreamble || std::memcmp(file.bytes.data(), kMagic, sizeof kMagic) != 0) {
        throw failed(path, "it is not an Amaxscope checkpoint", "name a file written by --checkpoint");
    }
    std::uint32_t version = 0;
    std::uint32_t headerBytes = 0;
    std::memcpy(&version, file.bytes.data() + sizeof kMagic, sizeof version);
    std::memcpy(&headerBytes, file.bytes.data() + sizeof kMagic + sizeof version, sizeof headerBytes);
    if (version > kVersion) {
        throw failed(
            path,
            "it has version " + std::to_string(version) + ", this program reads up to " + std::to_string(kVersion),
            "use a newer Amaxscope");
    }
    file.arrays = kPreamble + headerBytes;
    std::uint64_t digest = 0;
    if (file.bytes.size() < file.arrays + sizeof digest)
        throw failed(path, "it is cut short", "use another checkpoint");
    const std::size_t body = file.bytes.size() - sizeof digest;
    std::memcpy(&digest, file.bytes.data() + body, sizeof digest);
    if (digestOf(file.bytes.data(), body) != digest) {
        throw failed(path, "its contents are damaged", "use another checkpoint");
    }
    try {
        file.header = nlohmann::json::parse(file.bytes.substr(kPreamble, headerBytes));
        file.config = runConfigFromJson(file.header.at("model").dump(), file.header.at("recipe").dump(),
                                        file.header.at("train").dump());
    } catch (const nlohmann::json::exception& error) {
        throw failed(path, error.what(), "use another checkpoint");
    }
    return file;
}

class ArrayReader {
public:
    ArrayReader(const File& file, const std::string& path) : m_file(file), m_path(path), m_at(file.arrays) {}
    void read(float* target, std::size_t count) {
        const std::size_t bytes = count * sizeof(float);
        if (m_at + bytes + sizeof(std::uint64_t) > m_file.bytes.size()) {
            throw failed(m_path, "its arrays do not fit its model", "use another checkpoint");
        }
        std::memcpy(target, m_file.bytes.data() + m_at, bytes);
        m_at += bytes;
    }

private:
    const File& m_file;
    const std::string& m_path;
    std::size_t m_at;
};

void restore(TrainerImpl& trainer, const File& file, const std::string& path) {
    ArrayReader reader(file, path);
    const auto floats = static_cast<std::size_t>(trainer.network().floats());
    reader.read(trainer.network().parameters(), floats);
    reader.read(trainer.moments1(), floats);
    reader.read(trainer.moments2(), floats);
    DelayedScaling& scaling = trainer.network().scaling();
    std::vector<float> scales(scaling.scales().size());
    std::vector<float> histories(scaling.histories().size());
    reader.read(scales.data(), scales.size());
    reader.read(histories.data(), histories.size());
    scaling.restore(std::move(scales), std::move(histories));
    TrainingState state;
    state.step = file.header.at("step").get<std::int64_t>();
    state.updates = file.header.at("updates").get<std::int64_t>();
    state.pinned = file.header.at("pinned").get<std::vector<std::string>>();
    trainer.restoreState(state);
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

void writeAll(int descriptor, const std::string& path, const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw failed(path, std::strerror(errno), "free some space or choose another path");
        done += static_cast<std::size_t>(count);
    }
    if (::fsync(descriptor) != 0) throw failed(path, std::strerror(errno), "check the disk");
}

}  // namespace

void TrainerImpl::save(const std::string& path) {
    const nlohmann::json header = {{"model", nlohmann::json::parse(toJson(m_config.model))},
                                   {"recipe", nlohmann::json::parse(toJson(m_config.recipe))},
                                   {"train", nlohmann::json::parse(toJson(m_config.train))},
                                   {"step", m_state.step},
                                   {"updates", m_state.updates},
                                   {"pinned", m_state.pinned}};
    const std::string text = header.dump();
    const auto append = [](std::string& bytes, const void* data, std::size_t count) {
        bytes.append(static_cast<const char*>(data), count);
    };
    std::string bytes(kMagic, sizeof kMagic);
    const auto headerBytes = static_cast<std::uint32_t>(text.size());
    append(bytes, &kVersion, sizeof kVersion);
    append(bytes, &headerBytes, sizeof headerBytes);
    bytes += text;
    const std::size_t floatBytes = static_cast<std::size_t>(m_network->floats()) * sizeof(float);
    append(bytes, m_network->parameters(), floatBytes);
    append(bytes, m_moments1, floatBytes);
    append(bytes, m_moments2, floatBytes);
    const DelayedScaling& scaling = m_network->scaling();
    append(bytes, scaling.scales().data(), scaling.scales().size() * sizeof(float));
    append(bytes, scaling.histories().data(), scaling.histories().size() * sizeof(float));
    const std::uint64_t digest = digestOf(bytes.data(), bytes.size());
    append(bytes, &digest, sizeof digest);

    const std::string temporary = path + ".part";
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) throw failed(path, std::strerror(errno), "choose a folder that exists and can be written");
    try {
        writeAll(descriptor, path, bytes);
        ::close(descriptor);
    } catch (...) {
        ::close(descriptor);
        ::unlink(temporary.c_str());
        throw;
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
        const int code = errno;
        ::unlink(temporary.c_str());
        throw failed(path, std::strerror(code), "choose another path");
    }
    report(Severity::Info, "checkpoint", "saved to " + path);
}

RunConfig Trainer::readConfig(const std::string& path) {
    return readFile(path).config;
}

std::unique_ptr<Trainer> Trainer::resume(const std::string& path, const RunConfig& changes, StepObserver* observer) {
    const File file = readFile(path);
    const RunConfig config = withAllowedChanges(file.config, changes);
    requireUnchanged(config, changes);
    auto trainer = std::make_unique<TrainerImpl>(config, observer, true);
    restore(*trainer, file, path);
    trainer->report(Severity::Info, "resume", "continues " + path + " at step " + std::to_string(trainer->nextStep()));
    if (trainer->done()) {
        throw Error(ErrorKind::Usage, "--steps " + std::to_string(config.train.steps),
                    "the checkpoint is already at step " + std::to_string(trainer->nextStep()), "ask for more steps");
    }
    return trainer;
}

std::unique_ptr<Trainer> Trainer::load(const std::string& path) {
    const File file = readFile(path);
    auto trainer = std::make_unique<TrainerImpl>(file.config, nullptr, false);
    restore(*trainer, file, path);
    return trainer;
}

}  // namespace engine

// The model as a whole: one file, or all that an index names, and the walk over a tensor in tiles of bounded size.
#include "engine/weights.h"

#include "src/json_walker.h"
#include "src/safetensors.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace engine {

namespace {

/// Collects the index's weight_map: tensor name → file name. Everything else in the index is passed over.
class IndexVisitor : public JsonVisitor {
public:
    explicit IndexVisitor(const InputFile& file) : m_file(file) {}

    std::map<std::string, std::string> fileOf;

    void open(const JsonPlace& place, bool array) override {
        if (place.keys[0] != kMap) return;
        if (place.keys.size() > 1 || array) failMap();
        m_found = true;
    }
    void close(const JsonPlace& /*place*/) override {}
    void value(const JsonPlace& place, const JsonValue& value) override {
        if (place.keys[0] != kMap) return;
        const auto* name = std::get_if<std::string>(&value);
        if (place.keys.size() != 2 || name == nullptr) failMap();
        const bool plain = !name->empty() && name->find('/') == std::string::npos && *name != "." && *name != ".." &&
                           !hasControlCharacters(*name);
        if (!plain) {
            throw tensorFailure(m_file.path(), place.keys[1],
                                "\"" + printable(*name) + "\" is not the name of a file in the same folder",
                                "the index is damaged: get it again");
        }
        fileOf.emplace(place.keys[1], *name);
    }
    bool found() const { return m_found; }

private:
    static constexpr const char* kMap = "weight_map";

    [[noreturn]] void failMap() const {
        throw m_file.failure("its weight_map does not name one file for each tensor",
                             "the index is damaged: get it again");
    }

    const InputFile& m_file;
    bool m_found = false;
};

std::map<std::string, std::string> readIndex(const std::string& path) {
    const InputFile file(path);
    const std::string text = file.readText(kLongestHeader);
    IndexVisitor visitor(file);
    try {
        constexpr int kDepth = 16;
        walkJson(text, kDepth, visitor);
    } catch (const JsonProblem& problem) {
        throw file.failure(std::string("it ") + problem.what(), "name a .safetensors.index.json");
    }
    if (!visitor.found() || visitor.fileOf.empty()) {
        throw file.failure("it names no tensors", "name a .safetensors.index.json");
    }
    return std::move(visitor.fileOf);
}

}  // namespace

WeightFile::WeightFile(const std::string& path) : m_path(path) {
    if (path.ends_with(".json")) {
        openIndex();
    } else {
        add(path);
    }
    m_byName.reserve(m_tensors.size());
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        const auto [entry, fresh] = m_byName.emplace(m_tensors[i].name, i);
        if (!fresh) {
            throw tensorFailure(
                m_path, m_tensors[i].name,
                "it is both in " + m_files[m_tensors[entry->second].file] + " and in " + m_files[m_tensors[i].file],
                "the files do not belong together: get them again");
        }
    }
}

WeightFile::~WeightFile() = default;
WeightFile::WeightFile(WeightFile&&) noexcept = default;
WeightFile& WeightFile::operator=(WeightFile&&) noexcept = default;

void WeightFile::add(const std::string& path) {
    m_parts.push_back(std::make_unique<SafetensorsFile>(path));
    for (WeightTensor& tensor : m_parts.back()->takeTensors()) {
        tensor.file = m_files.size();
        m_tensors.push_back(std::move(tensor));
    }
    m_files.push_back(path);
}

void WeightFile::openIndex() {
    const std::map<std::string, std::string> fileOf = readIndex(m_path);
    const std::size_t slash = m_path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : m_path.substr(0, slash + 1);
    std::map<std::string, std::size_t> files;  // to the position in m_files
    for (const auto& [tensor, file] : fileOf) files.emplace(file, 0);
    for (auto& [file, position] : files) {
        position = m_files.size();
        add(folder + file);
    }
    std::map<std::string_view, std::size_t> present;
    for (const WeightTensor& tensor : m_tensors) present.emplace(tensor.name, tensor.file);
    for (const auto& [tensor, file] : fileOf) {
        const auto found = present.find(tensor);
        if (found != present.end() && found->second == files.at(file)) continue;
        throw tensorFailure(m_path, tensor, "it is not in " + folder + file + ", where the index puts it",
                            "the files do not belong together: get them again");
    }
}

const WeightTensor* WeightFile::find(std::string_view name) const {
    const auto found = m_byName.find(name);
    return found == m_byName.end() ? nullptr : &m_tensors[found->second];
}

void WeightFile::read(const WeightTensor& tensor, std::int64_t first, std::int64_t count, float* out) const {
    m_parts.at(tensor.file)->read(tensor, first, count, out);
}

void WeightFile::visitTiles(const WeightTensor& tensor, const std::function<void(const WeightTile&)>& visit) const {
    if (tensor.elements == 0) return;
    const auto aligned = [](std::int64_t count) {
        return std::max(kWeightTileAlign, count / kWeightTileAlign * kWeightTileAlign);
    };
    // Whole rows as far as 128 of them fit, then as many rows as still fit.
    const std::int64_t height = std::min(tensor.rows, kWeightTileAlign);
    const std::int64_t width = std::min(tensor.cols, aligned(kWeightTileFloats / height));
    const std::int64_t rowsAtOnce = std::min(tensor.rows, aligned(kWeightTileFloats / width));
    std::vector<float> values(static_cast<std::size_t>(rowsAtOnce * width));
    for (std::int64_t row = 0; row < tensor.rows; row += rowsAtOnce) {
        const std::int64_t rows = std::min(rowsAtOnce, tensor.rows - row);
        for (std::int64_t col = 0; col < tensor.cols; col += width) {
            const std::int64_t cols = std::min(width, tensor.cols - col);
            if (cols == tensor.cols) {
                read(tensor, row * cols, rows * cols, values.data());
            } else {
                for (std::int64_t r = 0; r < rows; ++r) {
                    read(tensor, (row + r) * tensor.cols + col, cols, values.data() + r * cols);
                }
            }
            visit({row, col, rows, cols, values.data()});
        }
    }
}

}  // namespace engine

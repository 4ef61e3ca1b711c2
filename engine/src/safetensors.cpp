// Reading and checking a header, and converting numbers to float. Nothing is believed: every length is compared with
// the file's size before memory is set aside, and tensors must fill the rest of the file without overlap or gap.
#include "src/safetensors.h"

#include "engine/formats.h"
#include "src/json_walker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace engine {

namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::int64_t kLengthBytes = 8;
constexpr std::size_t kLongestName = 1024;
constexpr std::size_t kMostDimensions = 64;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kDamaged = "the file is damaged: get it again";

struct TypeInfo {
    const char* name;
    WeightType type;
    int bits;  // per element
};

constexpr std::array<TypeInfo, 22> kTypes{{{"F64", WeightType::F64, 64},
                                           {"F32", WeightType::F32, 32},
                                           {"F16", WeightType::F16, 16},
                                           {"BF16", WeightType::Bf16, 16},
                                           {"F8_E4M3", WeightType::E4M3, 8},
                                           {"F8_E5M2", WeightType::E5M2, 8},
                                           {"F8_E4M3FNUZ", WeightType::E4M3Fnuz, 8},
                                           {"F8_E5M2FNUZ", WeightType::E5M2Fnuz, 8},
                                           {"F8_E8M0", WeightType::E8M0, 8},
                                           {"F6_E2M3", WeightType::E2M3, 6},
                                           {"F6_E3M2", WeightType::E3M2, 6},
                                           {"F4", WeightType::E2M1, 4},
                                           {"C64", WeightType::C64, 64},
                                           {"I64", WeightType::I64, 64},
                                           {"I32", WeightType::I32, 32},
                                           {"I16", WeightType::I16, 16},
                                           {"I8", WeightType::I8, 8},
                                           {"U64", WeightType::U64, 64},
                                           {"U32", WeightType::U32, 32},
                                           {"U16", WeightType::U16, 16},
                                           {"U8", WeightType::U8, 8},
                                           {"BOOL", WeightType::Bool, 8}}};

const TypeInfo& infoOf(WeightType type) {
    const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& info) { return info.type == type; });
    ENGINE_CHECK(found != kTypes.end(), "a type of weights is not in the table");
    return *found;
}

/// Builds the list of tensors from the header's values.
class HeaderVisitor : public JsonVisitor {
public:
    HeaderVisitor(const std::string& path, std::int64_t dataStart, std::int64_t fileSize)
        : m_path(path), m_dataStart(dataStart), m_dataBytes(static_cast<std::uint64_t>(fileSize - dataStart)) {}

    std::vector<WeightTensor> tensors;

    void open(const JsonPlace& place, bool array) override {
        const bool entry = place.keys.size() == 1;
        if (entry && array) fail(place, "its entry is not a JSON object");
        if (entry && !isMetadata(place)) begin(place);
        if (entry) return;
        const std::string& key = place.keys[1];
        if (isMetadata(place)) fail(place, "its value of \"" + printable(key) + "\" is not a text");
        if (!array || place.arrays > 0 || (key != "shape" && key != "data_offsets")) failField(place);
        (key == "shape" ? m_hasShape : m_hasOffsets) = true;
    }

    void close(const JsonPlace& place) override {
        if (place.keys.size() == 1 && !isMetadata(place)) finish(place);
    }

    void value(const JsonPlace& place, const JsonValue& value) override {
        if (place.keys.size() == 1) fail(place, "its entry is not a JSON object");
        const std::string& key = place.keys[1];
        const auto* text = std::get_if<std::string>(&value);
        if (isMetadata(place)) {
            if (text == nullptr) fail(place, "its value of \"" + printable(key) + "\" is not a text");
        } else if (place.arrays == 0) {
            if (key != "dtype" || text == nullptr) failField(place);
            setType(place, *text);
        } else {
            addNumber(place, value);
        }
    }

private:
    static bool isMetadata(const JsonPlace& place) { return place.keys[0] == kMetadata; }

    [[noreturn]] void fail(const JsonPlace& place, const std::string& why, const std::string& fix = kDamaged) const {
        throw tensorFailure(m_path, place.keys[0], why, fix);
    }

    [[noreturn]] void failField(const JsonPlace& place) const {
        const std::string& key = place.keys[1];
        if (key == "dtype") fail(place, "its dtype is not a text");
        if (key == "shape" || key == "data_offsets") fail(place, "its " + key + " is not a list of whole numbers");
        // It could change what the numbers mean.
        fail(place, "its entry has an unknown field \"" + printable(key) + "\"", "use a file without it");
    }

    void begin(const JsonPlace& place) {
        const std::string& name = place.keys[0];
        if (name.empty()) fail(place, "a tensor has no name");
        if (name.size() > kLongestName)
            fail(place, "its name is longer than " + std::to_string(kLongestName) + " bytes");
        if (hasControlCharacters(name)) fail(place, "its name holds control characters");
        m_type.reset();
        m_hasShape = m_hasOffsets = false;
        m_shape.clear();
        m_offsets.clear();
    }

    void setType(const JsonPlace& place, const std::string& text) {
        for (const TypeInfo& info : kTypes) {
            if (text == info.name) m_type = info.type;
        }
        if (!m_type) fail(place, "its dtype \"" + printable(text) + "\" is unknown");
    }

    void addNumber(const JsonPlace& place, const JsonValue& value) {
        const bool shape = place.keys[1] == "shape";
        const auto* number = std::get_if<std::uint64_t>(&value);
        if (std::holds_alternative<std::int64_t>(value))
            fail(place, "its " + place.keys[1] + " holds a negative number");
        if (number == nullptr) failField(place);
        std::vector<std::uint64_t>& list = shape ? m_shape : m_offsets;
        if (shape && list.size() == kMostDimensions) {
            fail(place, "it has more than " + std::to_string(kMostDimensions) + " dimensions");
        }
        if (!shape && list.size() == 2) fail(place, "its data_offsets are not two numbers");
        list.push_back(*number);
    }

    /// Bits of all elements. Dimensions of 0 count as 1 in the check for overflow, so that no partial product of the
    /// shape, which callers may form, can overflow either.
    std::uint64_t countBits(const JsonPlace& place, WeightTensor& tensor) const {
        std::int64_t most = infoOf(*m_type).bits;
        tensor.elements = 1;
        for (const std::uint64_t size : m_shape) {
            if (size > INT64_MAX ||
                __builtin_mul_overflow(most, std::max<std::int64_t>(1, static_cast<std::int64_t>(size)), &most)) {
                fail(place, "its shape is too large for any file");
            }
            tensor.shape.push_back(static_cast<std::int64_t>(size));
            tensor.elements *= tensor.shape.back();
        }
        tensor.cols = tensor.shape.empty() ? 1 : tensor.shape.back();
        tensor.rows = 1;
        for (std::size_t i = 0; i + 1 < tensor.shape.size(); ++i) tensor.rows *= tensor.shape[i];
        return static_cast<std::uint64_t>(tensor.elements) * static_cast<std::uint64_t>(infoOf(*m_type).bits);
    }

    void finish(const JsonPlace& place) {
        if (!m_type) fail(place, "its dtype is missing");
        if (!m_hasShape) fail(place, "its shape is missing");
        if (!m_hasOffsets) fail(place, "its data_offsets are missing");
        if (m_offsets.size() != 2) fail(place, "its data_offsets are not two numbers");
        const auto [begin, end] = std::pair(m_offsets[0], m_offsets[1]);
        const std::string offsets = "its data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) + "] ";
        if (begin > end) fail(place, offsets + "are reversed");
        if (end > m_dataBytes) {
            fail(place, offsets + "reach beyond the end of the file, which holds " + std::to_string(m_dataBytes) +
                            " bytes of numbers");
        }
        WeightTensor tensor;
        tensor.name = place.keys[0];
        tensor.type = *m_type;
        const std::uint64_t bits = countBits(place, tensor);
        if (bits % 8 != 0) fail(place, "its elements do not fill whole bytes");
        if (bits / 8 != end - begin) {
            fail(place, offsets + "span " + std::to_string(end - begin) + " bytes, but " + infoOf(*m_type).name + " " +
                            shapeText(tensor.shape) + " takes " + std::to_string(bits / 8));
        }
        tensor.bytes = static_cast<std::int64_t>(end - begin);
        tensor.offset = m_dataStart + static_cast<std::int64_t>(begin);
        tensors.push_back(std::move(tensor));
    }

    std::string m_path;
    std::int64_t m_dataStart;
    std::uint64_t m_dataBytes;
    std::optional<WeightType> m_type;
    std::vector<std::uint64_t> m_shape;
    std::vector<std::uint64_t> m_offsets;
    bool m_hasShape = false;
    bool m_hasOffsets = false;
};

/// Sorts by offset; every byte after the header must belong to exactly one tensor.
void checkLayout(const InputFile& file, std::int64_t dataStart, std::vector<WeightTensor>& tensors) {
    std::sort(tensors.begin(), tensors.end(), [](const WeightTensor& a, const WeightTensor& b) {
        return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;
    });
    std::int64_t next = dataStart;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const WeightTensor& tensor = tensors[i];
        if (tensor.offset < next) {
            throw tensorFailure(file.path(), tensor.name,
                                "its bytes overlap those of " + printable(tensors[i - 1].name), kDamaged);
        }
        if (tensor.offset > next) {
            throw tensorFailure(file.path(), tensor.name,
                                std::to_string(tensor.offset - next) + " bytes before it belong to no tensor",
                                kDamaged);
        }
        next += tensor.bytes;
    }
    if (next != file.size()) {
        const std::string last =
            tensors.empty() ? "its header" : "its last tensor, " + printable(tensors.back().name) + ",";
        throw file.failure(std::to_string(file.size() - next) + " bytes after " + last + " belong to no tensor",
                           kDamaged);
    }
}

std::string readHeader(const InputFile& file) {
    const char* fix = "name a whole .safetensors file";
    if (file.size() < kLengthBytes) {
        throw file.failure("it is only " + std::to_string(file.size()) + " bytes long, too short for a header", fix);
    }
    std::uint64_t length = 0;
    file.readAt(0, &length, kLengthBytes);
    const auto rest = static_cast<std::uint64_t>(file.size() - kLengthBytes);
    if (length == 0) throw file.failure("its header has a length of 0", fix);
    if (length > rest) {
        throw file.failure("its header should be " + std::to_string(length) + " bytes long, but only " +
                               std::to_string(rest) + " follow: it is cut short or no safetensors file",
                           fix);
    }
    if (length > static_cast<std::uint64_t>(kLongestHeader)) {
        throw file.failure("its header of " + std::to_string(length) + " bytes is longer than the " +
                               std::to_string(kLongestHeader) + " that the format allows",
                           fix);
    }
    std::string header(length, '\0');
    file.readAt(kLengthBytes, header.data(), static_cast<std::int64_t>(length));
    if (header[0] != '{') throw file.failure("its header does not begin with {: it is no safetensors file", fix);
    return header;
}

/// A table per 8-bit format: decoding bit by bit would take longer than reading the file.
const std::array<float, 256>& decoded(Fp8Format format) {
    const auto fill = [](Fp8Format which) {
        std::array<float, 256> table{};
        for (unsigned code = 0; code < 256; ++code) table[code] = decodeFp8(static_cast<std::uint8_t>(code), which);
        return table;
    };
    static const std::array<float, 256> kE4M3 = fill(Fp8Format::E4M3);
    static const std::array<float, 256> kE5M2 = fill(Fp8Format::E5M2);
    return format == Fp8Format::E4M3 ? kE4M3 : kE5M2;
}

template <typename Stored, typename Decode>
void convertAs(const std::byte* bytes, std::int64_t count, float* out, Decode decode) {
    for (std::int64_t i = 0; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, bytes + i * static_cast<std::int64_t>(sizeof stored), sizeof stored);
        out[i] = decode(stored);
    }
}

void convert(WeightType type, const std::byte* bytes, std::int64_t count, float* out) {
    const auto code8 = [&](Fp8Format format) {
        convertAs<std::uint8_t>(bytes, count, out, [&table = decoded(format)](std::uint8_t c) { return table[c]; });
    };
    switch (type) {
        case WeightType::F64:
            return convertAs<double>(bytes, count, out, [](double value) { return static_cast<float>(value); });
        case WeightType::F32:
            return convertAs<float>(bytes, count, out, [](float value) { return value; });
        case WeightType::F16:
            return convertAs<std::uint16_t>(bytes, count, out, decodeF16);
        case WeightType::Bf16:
            return convertAs<std::uint16_t>(bytes, count, out, decodeBf16);
        case WeightType::E4M3:
            return code8(Fp8Format::E4M3);
        case WeightType::E5M2:
            return code8(Fp8Format::E5M2);
        default:
            ENGINE_CHECK(false, "a type that cannot be read is read");
    }
}

}  // namespace

const char* name(WeightType type) {
    return infoOf(type).name;
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
    if (shape.empty()) return "[]";
    std::string text;
    for (const std::int64_t size : shape) text += "[" + std::to_string(size) + "]";
    return text;
}

Error tensorFailure(const std::string& path, const std::string& tensor, const std::string& why,
                    const std::string& fix) {
    return {ErrorKind::Failure, "weights " + path + ", tensor " + printable(tensor), why, fix};
}

SafetensorsFile::SafetensorsFile(const std::string& path) : m_file(path) {
    const std::string header = readHeader(m_file);
    const std::int64_t dataStart = kLengthBytes + static_cast<std::int64_t>(header.size());
    HeaderVisitor visitor(path, dataStart, m_file.size());
    try {
        constexpr int kDepth = 4;  // one more than a header has, so that the visitor can name the tensor
        walkJson(header, kDepth, visitor);
    } catch (const JsonProblem& problem) {
        throw m_file.failure(std::string("its header ") + problem.what(), kDamaged);
    }
    checkLayout(m_file, dataStart, visitor.tensors);
    m_tensors = std::move(visitor.tensors);
}

void SafetensorsFile::read(const WeightTensor& tensor, std::int64_t first, std::int64_t count, float* out) const {
    ENGINE_CHECK(first >= 0 && count >= 0 && count <= tensor.elements - first, "a tensor is read beyond its end");
    if (!isReadable(tensor.type)) {
        throw tensorFailure(m_file.path(), tensor.name,
                            std::string("it is not a floating-point tensor that can be read, but ") + name(tensor.type),
                            "choose F64, F32, F16, BF16, F8_E4M3 or F8_E5M2");
    }
    constexpr std::int64_t kChunk = std::int64_t{1} << 20;
    const std::int64_t width = infoOf(tensor.type).bits / 8;
    std::int64_t offset = tensor.offset + first * width;
    if (tensor.type == WeightType::F32) return m_file.readAt(offset, out, count * width);
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(count * width, kChunk)));
    while (count > 0) {
        const std::int64_t now = std::min(count, kChunk / width);
        m_file.readAt(offset, bytes.data(), now * width);
        convert(tensor.type, bytes.data(), now, out);
        offset += now * width;
        out += now;
        count -= now;
    }
}

}  // namespace engine

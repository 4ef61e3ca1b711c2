// Files of weights: good ones of every type read to the bit, and everything that can be wrong with a file refused with
// its name, the tensor's and the cause. The sizes and offsets of bad headers are worked out in the tests.
#include "engine/error.h"
#include "engine/weights.h"
#include "safetensors_writer.h"
#include "temporary_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

namespace {

using engine::WeightFile;
using engine::WeightTensor;
using engine::WeightTile;

std::string refusal(const std::string& path) {
    try {
        const WeightFile file(path);
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.kind(), engine::ErrorKind::Failure);
        EXPECT_FALSE(error.fix().empty());
        return error.what();
    }
    return "";
}

class Weights : public testing::Test {
protected:
    std::string path(const std::string& name = "model.safetensors") const { return m_folder.path() + "/" + name; }

    std::string write(const std::string& bytes, const std::string& name = "model.safetensors") const {
        writeFile(path(name), bytes);
        return path(name);
    }

    /// The refusal must name the file and say each of `parts`.
    void expectRefused(const std::string& bytes, const std::vector<std::string>& parts) const {
        const std::string text = refusal(write(bytes));
        EXPECT_NE(text.find("weights " + path()), std::string::npos) << text;
        for (const std::string& part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\nrefused with: " << text;
        }
    }

    /// A tensor called "w" with this entry, before `data`; refused for `why`.
    void expectEntryRefused(const std::string& entry, const std::string& why, const std::string& data = "") const {
        expectRefused(safetensorsBytes(R"({"w":)" + entry + "}", data), {"tensor w: ", why});
    }

    TemporaryFolder m_folder;
};

std::vector<float> readAll(const WeightFile& file, const std::string& name) {
    const WeightTensor* tensor = file.find(name);
    if (tensor == nullptr) throw std::runtime_error("no tensor " + name);
    std::vector<float> values(static_cast<std::size_t>(tensor->elements));
    file.read(*tensor, 0, tensor->elements, values.data());
    return values;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// ---------------------------------------------------------------- good files

TEST_F(Weights, floatsComeBackToTheBit) {
    // Patterns that any arithmetic would change: a signalling NaN, the smallest subnormal, −0.
    const std::vector<std::uint32_t> bits{0x3F800000, 0x80000000, 0x00000001, 0x7F800001, 0xFF7FFFFF, 0x7F800000};
    const WeightFile file(write(safetensorsBytes({StoredTensor{"w", "F32", {2, 3}, bytesOf(bits)}})));
    const std::vector<float> values = readAll(file, "w");
    for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), bits[i]) << i;
}

TEST_F(Weights, everyFloatingTypeIsConvertedByItsOwnRules) {
    const auto words = [](const std::vector<std::uint16_t>& codes) { return bytesOf(codes); };
    const std::string path = write(safetensorsBytes({
        // 1.0, −2^−1074 (rounds to −0), 1 + 2^−24 (a tie, to even), 1e300, the largest float
        StoredTensor{
            "f64", "F64", {5}, bytesOf(std::vector<double>{1.0, -0x1p-1074, 1 + 0x1p-24, 1e300, 0x1.fffffep127})},
        // sign 1, exponent 5, mantissa 10: 1.0, −2.0, largest, smallest subnormal, infinity, 1/3 rounded
        StoredTensor{"f16", "F16", {6}, words({0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x3555})},
        // the upper half of a float: 1.0, −3.140625, largest, −infinity
        StoredTensor{"bf16", "BF16", {2, 2}, words({0x3F80, 0xC049, 0x7F7F, 0xFF80})},
        // 1.0 = 0|0111|000, −1.125 = 1|0111|001, 448 = 0|1111|110, 2^−9, NaN
        StoredTensor{"e4m3", "F8_E4M3", {5}, bytesOf(std::vector<std::uint8_t>{0x38, 0xB9, 0x7E, 0x01, 0x7F})},
        // 1.0 = 0|01111|00, −1.25 = 1|01111|01, 57344 = 0|11110|11, 2^−16, −infinity
        StoredTensor{"e5m2", "F8_E5M2", {5}, bytesOf(std::vector<std::uint8_t>{0x3C, 0xBD, 0x7B, 0x01, 0xFC})},
    }));
    const WeightFile file(path);
    const std::vector<float> f64 = readAll(file, "f64");
    EXPECT_EQ(f64, (std::vector<float>{1.0F, -0.0F, 1.0F, kInfinity, 0x1.fffffep127F}));
    EXPECT_TRUE(std::signbit(f64[1]));
    EXPECT_EQ(readAll(file, "f16"), (std::vector<float>{1.0F, -2.0F, 65504.0F, 0x1p-24F, kInfinity, 0x1.554p-2F}));
    EXPECT_EQ(readAll(file, "bf16"), (std::vector<float>{1.0F, -3.140625F, 0x1.fep127F, -kInfinity}));
    std::vector<float> e4m3 = readAll(file, "e4m3");
    EXPECT_TRUE(std::isnan(e4m3.back()));
    e4m3.pop_back();
    EXPECT_EQ(e4m3, (std::vector<float>{1.0F, -1.125F, 448.0F, 0x1p-9F}));
    EXPECT_EQ(readAll(file, "e5m2"), (std::vector<float>{1.0F, -1.25F, 57344.0F, 0x1p-16F, -kInfinity}));
}

TEST_F(Weights, typesThatAreNoFloatsAreListedButNotRead) {
    struct Case {
        const char* dtype;
        std::int64_t elements;  // in 24 bytes
    };
    const std::vector<Case> cases{{"I64", 3},      {"I32", 6},      {"I16", 12},         {"I8", 24},
                                  {"U64", 3},      {"U32", 6},      {"U16", 12},         {"U8", 24},
                                  {"BOOL", 24},    {"C64", 3},      {"F4", 48},          {"F6_E2M3", 32},
                                  {"F6_E3M2", 32}, {"F8_E8M0", 24}, {"F8_E4M3FNUZ", 24}, {"F8_E5M2FNUZ", 24}};
    std::vector<StoredTensor> tensors;
    for (const Case& one : cases) tensors.push_back({one.dtype, one.dtype, {one.elements}, std::string(24, 'x')});
    const WeightFile file(write(safetensorsBytes(tensors)));
    ASSERT_EQ(file.tensors().size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const WeightTensor& tensor = file.tensors()[i];
        EXPECT_EQ(tensor.name, cases[i].dtype);
        EXPECT_STREQ(name(tensor.type), cases[i].dtype);
        EXPECT_EQ(tensor.elements, cases[i].elements);
        EXPECT_EQ(tensor.bytes, 24);
        EXPECT_FALSE(isReadable(tensor.type));
        float value = 0;
        try {
            file.read(tensor, 0, 1, &value);
            ADD_FAILURE() << tensor.name << " was read";
        } catch (const engine::Error& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find(path() + ", tensor " + cases[i].dtype + ": it is not a floating-point tensor"),
                      std::string::npos)
                << text;
        }
    }
}

TEST_F(Weights, tensorsAreListedInTheOrderOfTheirNumbers) {
    const std::string header =
        "{\"last\":" + headerEntry("F32", {2}, 16, 24) + ",\"first\":" + headerEntry("F32", {2, 1, 2}, 0, 16) +
        ",\"empty\":" + headerEntry("F32", {0, 7}, 16, 16) + ",\"scalar\":" + headerEntry("F32", {}, 24, 28) + "}   ";
    const WeightFile file(write(safetensorsBytes(header, bytesOf(std::vector<float>{1, 2, 3, 4, 5, 6, 7}))));
    ASSERT_EQ(file.tensors().size(), 4U);
    const WeightTensor& first = file.tensors()[0];
    EXPECT_EQ(first.name, "first");
    EXPECT_EQ(first.rows, 2);
    EXPECT_EQ(first.cols, 2);
    EXPECT_EQ(first.offset, static_cast<std::int64_t>(8 + header.size()));
    EXPECT_EQ(engine::shapeText(first.shape), "[2][1][2]");
    EXPECT_EQ(file.tensors()[1].name, "empty");
    EXPECT_EQ(file.tensors()[1].elements, 0);
    EXPECT_EQ(file.tensors()[2].name, "last");
    EXPECT_EQ(file.tensors()[3].name, "scalar");
    EXPECT_EQ(engine::shapeText(file.tensors()[3].shape), "[]");
    EXPECT_EQ(readAll(file, "first"), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(readAll(file, "empty"), std::vector<float>());
    EXPECT_EQ(readAll(file, "last"), (std::vector<float>{5, 6}));
    EXPECT_EQ(readAll(file, "scalar"), std::vector<float>{7});
    EXPECT_EQ(file.find("Last"), nullptr);
}

TEST_F(Weights, aFileWithoutTensorsIsEmpty) {
    EXPECT_TRUE(WeightFile(write(safetensorsBytes("{}", ""))).tensors().empty());
    EXPECT_TRUE(WeightFile(write(safetensorsBytes(R"({"__metadata__":{"a":"b"}})", ""))).tensors().empty());
}

TEST_F(Weights, partsAreReadAcrossTheBoundariesOfTheBuffer) {
    // 1.5 MiB of BF16: the buffer holds 1 MiB. The code of each element is its index, modulo 2^15: no NaN but 0x7F8x.
    constexpr std::int64_t kCount = 786432;
    std::vector<std::uint16_t> codes(kCount);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i % 0x7F80);
    const WeightFile file(write(safetensorsBytes({StoredTensor{"w", "BF16", {kCount}, bytesOf(codes)}})));
    const auto expected = [&](std::int64_t i) {
        return std::bit_cast<float>(std::uint32_t{codes[static_cast<std::size_t>(i)]} << 16);
    };
    std::vector<float> values(700000);
    file.read(file.tensors()[0], 70001, 700000, values.data());
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], expected(70001 + static_cast<std::int64_t>(i)));
    file.read(file.tensors()[0], kCount - 1, 1, values.data());
    EXPECT_EQ(values[0], expected(kCount - 1));
    EXPECT_THROW(file.read(file.tensors()[0], kCount - 1, 2, values.data()), std::logic_error);
    EXPECT_THROW(file.read(file.tensors()[0], -1, 1, values.data()), std::logic_error);
}

TEST_F(Weights, aMovedFileStillFindsItsTensors) {
    WeightFile first(write(safetensorsBytes({floatTensor("w", {1}, {4})})));
    WeightFile second(std::move(first));
    EXPECT_EQ(readAll(second, "w"), std::vector<float>{4});
}

// ---------------------------------------------------------------- tiles

/// Visits a tensor whose elements are their own index, and checks that each is seen once and where it belongs.
void checkTiles(const WeightFile& file) {
    const WeightTensor& tensor = file.tensors().at(0);
    std::vector<bool> seen(static_cast<std::size_t>(tensor.elements));
    file.visitTiles(tensor, [&](const WeightTile& tile) {
        EXPECT_EQ(tile.firstRow % engine::kWeightTileAlign, 0);
        EXPECT_EQ(tile.firstCol % engine::kWeightTileAlign, 0);
        EXPECT_LE(tile.rows * tile.cols, engine::kWeightTileFloats);
        EXPECT_TRUE(tile.rows % engine::kWeightTileAlign == 0 || tile.firstRow + tile.rows == tensor.rows);
        EXPECT_TRUE(tile.cols % engine::kWeightTileAlign == 0 || tile.firstCol + tile.cols == tensor.cols);
        for (std::int64_t r = 0; r < tile.rows; ++r) {
            for (std::int64_t c = 0; c < tile.cols; ++c) {
                const std::int64_t index = (tile.firstRow + r) * tensor.cols + tile.firstCol + c;
                ASSERT_EQ(tile.values[r * tile.cols + c], static_cast<float>(index));
                ASSERT_FALSE(seen[static_cast<std::size_t>(index)]) << index;
                seen[static_cast<std::size_t>(index)] = true;
            }
        }
    });
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_TRUE(seen[i]) << "element " << i << " was not visited";
}

TEST_F(Weights, tilesCoverEachElementOnceWhateverTheShape) {
    // Narrow, wide, wider than a tile, one row longer than a tile, small, of three dimensions.
    const std::vector<std::vector<std::int64_t>> shapes{{9000, 130}, {130, 9001}, {3, 400000}, {1500000},
                                                        {5, 7},      {64, 33, 3}, {1200001, 1}};
    for (const auto& shape : shapes) {
        std::int64_t count = 1;
        for (const std::int64_t size : shape) count *= size;
        std::vector<float> values(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);  // exact below 2^24
        SCOPED_TRACE(engine::shapeText(shape));
        checkTiles(WeightFile(write(safetensorsBytes({floatTensor("w", shape, values)}))));
    }
}

TEST_F(Weights, anEmptyTensorHasNoTiles) {
    const WeightFile file(write(safetensorsBytes({floatTensor("w", {0, 5}, {})})));
    file.visitTiles(file.tensors()[0], [](const WeightTile&) { ADD_FAILURE(); });
}

TEST_F(Weights, whatAVisitorThrowsEndsTheVisit) {
    const WeightFile file(write(safetensorsBytes({floatTensor("w", {1}, {4})})));
    EXPECT_THROW(file.visitTiles(file.tensors()[0], [](const WeightTile&) { throw std::runtime_error("stop"); }),
                 std::runtime_error);
}

// ---------------------------------------------------------------- larger than memory

TEST_F(Weights, aHugeFileIsListedAndReadAtItsEndWithoutItsSizeInMemory) {
    // A sparse file: 3·2^30 BF16 zeros, 6 GiB, then four floats.
    constexpr std::int64_t kHuge = std::int64_t{6} << 30;
    const std::string header = "{\"huge\":" + headerEntry("BF16", {3, 1 << 30}, 0, kHuge) +
                               ",\"end\":" + headerEntry("F32", {4}, kHuge, kHuge + 16) + "}";
    write(safetensorsBytes(header, ""));
    const auto start = static_cast<std::int64_t>(8 + header.size());
    ASSERT_EQ(::truncate(path().c_str(), start + kHuge + 16), 0) << "no sparse files here";
    const std::vector<float> stored{1, 2, 3, 4};
    const int descriptor = ::open(path().c_str(), O_WRONLY);
    ASSERT_EQ(::pwrite(descriptor, stored.data(), 16, start + kHuge), 16);
    const std::uint16_t last = 0x4049;  // 3.140625
    ASSERT_EQ(::pwrite(descriptor, &last, 2, start + kHuge - 2), 2);
    ::close(descriptor);

    rusage before{};
    getrusage(RUSAGE_SELF, &before);
    const WeightFile file(path());
    const WeightTensor* huge = file.find("huge");
    ASSERT_NE(huge, nullptr);
    EXPECT_EQ(huge->elements, std::int64_t{3} << 30);
    float value = 0;
    file.read(*huge, huge->elements - 1, 1, &value);
    EXPECT_EQ(value, 3.140625F);
    EXPECT_EQ(readAll(file, "end"), stored);
    std::int64_t visited = 0;
    const auto countOneTile = [&](const WeightTile& tile) {
        visited = tile.rows * tile.cols;
        throw std::runtime_error("enough");
    };
    EXPECT_THROW(file.visitTiles(*huge, countOneTile), std::runtime_error);
    EXPECT_GT(visited, 0);
    EXPECT_LE(visited, engine::kWeightTileFloats);
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB more at the peak";
}

// ---------------------------------------------------------------- files that are none

TEST_F(Weights, pathsThatAreNoPlainFileAreRefusedWithoutWaiting) {
    EXPECT_NE(refusal(path("absent")).find("weights " + path("absent") + ": No such file"), std::string::npos);
    EXPECT_NE(refusal(m_folder.path()).find("it is a folder"), std::string::npos);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_NE(refusal(path("pipe")).find("it is a pipe"), std::string::npos);
    EXPECT_NE(refusal("/dev/zero").find("it is a device"), std::string::npos);
    std::filesystem::create_symlink(path("b"), path("a"));
    std::filesystem::create_symlink(path("a"), path("b"));
    EXPECT_NE(refusal(path("a")).find("lead in a circle"), std::string::npos);
    EXPECT_NE(refusal(write("", "plain") + "/x").find("Not a directory"), std::string::npos);
    EXPECT_NE(refusal("").find("No such file"), std::string::npos);
}

TEST_F(Weights, anUnreadableFileIsRefused) {
    write(safetensorsBytes("{}", ""));
    ASSERT_EQ(::chmod(path().c_str(), 0), 0);
    ASSERT_EQ(::chmod(m_folder.path().c_str(), 0755), 0);
    constexpr uid_t kNobody = 65534;
    const uid_t user = ::geteuid();
    ASSERT_EQ(user == 0 ? ::seteuid(kNobody) : 0, 0);  // root reads everything
    const std::string text = refusal(path());
    ASSERT_EQ(user == 0 ? ::seteuid(user) : 0, 0);
    EXPECT_NE(text.find("weights " + path() + ": Permission denied: check the file's permissions"), std::string::npos)
        << text;
}

TEST_F(Weights, aFileThatShrinksAfterOpeningIsAnError) {
    const WeightFile file(write(safetensorsBytes({floatTensor("w", {2}, {1, 2})})));
    std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1);
    std::vector<float> values(2);
    try {
        file.read(file.tensors()[0], 0, 2, values.data());
        ADD_FAILURE() << "read";
    } catch (const engine::Error& error) {
        EXPECT_NE(std::string(error.what()).find(path() + ": it became shorter"), std::string::npos) << error.what();
    }
}

// ---------------------------------------------------------------- headers

TEST_F(Weights, filesTooShortForAHeaderAreRefused) {
    expectRefused("", {"only 0 bytes long"});
    expectRefused("1234567", {"only 7 bytes long"});
    expectRefused(std::string(8, '\0'), {"header has a length of 0"});
    expectRefused(std::string(100, '\0'), {"header has a length of 0"});
}

TEST_F(Weights, aHeaderLongerThanTheFileIsRefused) {
    expectRefused(bytesOf(std::vector<std::uint64_t>{3}) + "{}", {"3 bytes long, but only 2 follow"});
    expectRefused(bytesOf(std::vector<std::uint64_t>{UINT64_MAX}) + "{}", {"18446744073709551615 bytes"});
    expectRefused(bytesOf(std::vector<std::uint64_t>{UINT64_MAX - 7}) + "{}", {"but only 2 follow"});
    expectRefused(bytesOf(std::vector<std::uint64_t>{std::uint64_t{1} << 63}) + "{}", {"but only 2 follow"});
    expectRefused("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", {"cut short or no safetensors file"});
}

TEST_F(Weights, aHugeHeaderIsRefusedThoughTheFileHoldsIt) {
    write(bytesOf(std::vector<std::uint64_t>{100'000'001}) + "{");
    std::filesystem::resize_file(path(), 200'000'000);  // sparse
    EXPECT_NE(refusal(path()).find("100000001 bytes is longer than the 100000000"), std::string::npos);
}

TEST_F(Weights, aHeaderThatIsNoJsonObjectInUtf8IsRefused) {
    for (const char* header : {"[]", "null", "\"w\"", " {}", "\xEF\xBB\xBF{}"}) {
        expectRefused(safetensorsBytes(header, ""), {"does not begin with {"});
    }
    for (const std::string& header :
         {std::string("{"), std::string("{}}"), std::string("{} x"), std::string("{'a':1}"),
          std::string("{\"__metadata__\":{},}"), std::string("{}\0", 3), std::string("{/**/}"),
          std::string("{\"\xFF\":{}}"), std::string("{\"\xC0\x80\":{}}"), std::string("{\"a\nb\":{}}"),
          std::string("{\"\\ud800\":{}}")}) {
        expectRefused(safetensorsBytes(header, ""), {"its header is not valid JSON in UTF-8 (byte "});
    }
}

TEST_F(Weights, deepNestingEndsAtOnce) {
    const std::string bomb(4'000'000, '[');
    expectRefused(safetensorsBytes("{\"w\":" + bomb, ""), {"tensor w: its entry is not a JSON object"});
    expectRefused(safetensorsBytes(R"({"w":{"shape":)" + bomb, ""), {"tensor w: its shape is not a list"});
    expectRefused(safetensorsBytes(R"({"w":{"x":)" + bomb, ""), {"tensor w: its entry has an unknown field"});
    expectRefused(safetensorsBytes(R"({"__metadata__":{"x":)" + bomb, ""), {"its value of \"x\" is not a text"});
    std::string objects;
    for (int i = 0; i < 100000; ++i) objects += "{\"w\":";
    expectRefused(safetensorsBytes(objects, ""), {"tensor w: its entry has an unknown field \"w\""});
}

TEST_F(Weights, namesThatAppearTwiceAreRefused) {
    const std::string entry = headerEntry("F32", {1}, 0, 4);
    expectRefused(
        safetensorsBytes("{\"a.w\":" + entry + ",\"b\":" + headerEntry("F32", {1}, 4, 8) + ",\"a.w\":" + entry + "}",
                         std::string(8, '\0')),
        {"its header names \"a.w\" twice"});
    expectRefused(safetensorsBytes("{\"w\":" + entry + R"(,"\u0077":)" + entry + "}", "1234"), {"names \"w\" twice"});
    expectRefused(safetensorsBytes(R"({"w":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", "1234"),
                  {"names \"shape\" twice"});
    expectRefused(safetensorsBytes(R"({"__metadata__":{"a":"","a":""}})", ""), {"names \"a\" twice"});
}

TEST_F(Weights, namesThatCannotBeShownAreRefused) {
    const std::string entry = headerEntry("F32", {1}, 0, 4);
    expectRefused(safetensorsBytes(R"({"a\u001b[2Jb":)" + entry + "}", "1234"),
                  {"tensor a\\x1B[2Jb: its name holds control characters"});
    expectRefused(safetensorsBytes(R"({"a\u0000":)" + entry + "}", "1234"), {"tensor a\\x00: "});
    expectRefused(safetensorsBytes("{\"a\x7F\":" + entry + "}", "1234"), {"tensor a\\x7F: "});
    expectRefused(safetensorsBytes("{\"a\xC2\x9B\":" + entry + "}", "1234"), {"tensor a\\xC2\\x9B: "});
    expectRefused(safetensorsBytes("{\"\":" + entry + "}", "1234"), {"has no name"});
    expectRefused(safetensorsBytes("{\"" + std::string(1025, 'n') + "\":" + entry + "}", "1234"),
                  {"longer than 1024 bytes", "n…"});
    EXPECT_EQ(refusal(write(safetensorsBytes("{\"ä ö\xC2\xA0\":" + entry + "}", "1234"))), "");
}

TEST_F(Weights, metadataThatIsNotTextIsRefused) {
    for (const char* value : {"1", "null", "[]", "{}", "true"}) {
        expectRefused(safetensorsBytes(R"({"__metadata__":{"a":)" + std::string(value) + "}}", ""),
                      {"__metadata__: its value of \"a\" is not a text"});
    }
    expectRefused(safetensorsBytes(R"({"__metadata__":"a"})", ""), {"__metadata__: its entry is not a JSON object"});
}

// ---------------------------------------------------------------- entries

TEST_F(Weights, entriesThatAreIncompleteAreRefused) {
    expectEntryRefused("5", "its entry is not a JSON object");
    expectEntryRefused("[]", "its entry is not a JSON object");
    expectEntryRefused("{}", "its dtype is missing");
    expectEntryRefused(R"({"shape":[1],"data_offsets":[0,4]})", "its dtype is missing");
    expectEntryRefused(R"({"dtype":"F32","data_offsets":[0,4]})", "its shape is missing");
    expectEntryRefused(R"({"dtype":"F32","shape":[1]})", "its data_offsets are missing");
    expectEntryRefused(R"({"dtype":"F32","shape":[0],"data_offsets":[0,0],"strides":[1]})",
                       "unknown field \"strides\"");
}

TEST_F(Weights, unknownTypesAreRefused) {
    for (const std::string dtype : {"F33", "f32", "", "F32 ", "FLOAT", "BF17"}) {
        expectEntryRefused(R"({"dtype":")" + dtype + R"(","shape":[1],"data_offsets":[0,4]})",
                           "its dtype \"" + dtype + "\" is unknown", "1234");
    }
    expectEntryRefused(R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})", "its dtype is not a text");
    expectEntryRefused(R"({"dtype":["F32"],"shape":[1],"data_offsets":[0,4]})", "its dtype is not a text");
}

TEST_F(Weights, impossibleShapesAreRefused) {
    const auto shaped = [](const std::string& shape) {
        return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]})";
    };
    expectEntryRefused(shaped("[-1]"), "its shape holds a negative number", "1234");
    expectEntryRefused(shaped("[-1,-1]"), "its shape holds a negative number", "1234");
    expectEntryRefused(shaped("[1.0]"), "its shape is not a list of whole numbers", "1234");
    expectEntryRefused(shaped("[\"1\"]"), "its shape is not a list of whole numbers", "1234");
    expectEntryRefused(shaped("[[1]]"), "its shape is not a list of whole numbers", "1234");
    expectEntryRefused(shaped("1"), "its shape is not a list of whole numbers", "1234");
    expectEntryRefused(shaped("{}"), "its shape is not a list of whole numbers", "1234");
    // 2^64 is no 64-bit number; 2^63 is none with a sign; 2^62 elements of 32 bits, and 2^32 · 2^32 + 1, wrap around.
    expectEntryRefused(shaped("[18446744073709551616]"), "its shape is not a list of whole numbers", "1234");
    expectEntryRefused(shaped("[9223372036854775808]"), "its shape is too large", "1234");
    expectEntryRefused(shaped("[4611686018427387904]"), "its shape is too large", "1234");
    expectEntryRefused(shaped("[4294967296,4294967297]"), "its shape is too large", "1234");
    expectEntryRefused(shaped("[4294967296,4294967296,0]"), "its shape is too large", "1234");
    expectEntryRefused(shaped("[0,4294967296,4294967296]"), "its shape is too large", "1234");
    std::string dimensions = "[1";
    for (int i = 0; i < 64; ++i) dimensions += ",1";
    expectEntryRefused(shaped(dimensions + "]"), "it has more than 64 dimensions", "1234");
    expectEntryRefused(R"({"dtype":"F4","shape":[3],"data_offsets":[0,1]})", "its elements do not fill whole bytes",
                       "1");
}

TEST_F(Weights, impossibleOffsetsAreRefused) {
    const auto at = [](const std::string& offsets) {
        return R"({"dtype":"F32","shape":[1],"data_offsets":)" + offsets + "}";
    };
    expectEntryRefused(at("[]"), "its data_offsets are not two numbers", "1234");
    expectEntryRefused(at("[0]"), "its data_offsets are not two numbers", "1234");
    expectEntryRefused(at("[0,4,8]"), "its data_offsets are not two numbers", "1234");
    expectEntryRefused(at("[-4,0]"), "its data_offsets holds a negative number", "1234");
    expectEntryRefused(at("[0,4.0]"), "its data_offsets is not a list of whole numbers", "1234");
    expectEntryRefused(at("null"), "its data_offsets is not a list of whole numbers", "1234");
    expectEntryRefused(at("[4,0]"), "[4, 0] are reversed", "1234");
    expectEntryRefused(at("[0,5]"), "[0, 5] reach beyond the end of the file, which holds 4 bytes", "1234");
    expectEntryRefused(at("[4,8]"), "reach beyond the end of the file", "1234");
    expectEntryRefused(at("[18446744073709551612,18446744073709551615]"), "reach beyond the end of the file", "1234");
    expectEntryRefused(at("[0,3]"), "[0, 3] span 3 bytes, but F32 [1] takes 4", "123");
    expectEntryRefused(at("[0,8]"), "[0, 8] span 8 bytes, but F32 [1] takes 4", "12345678");
    expectEntryRefused(R"({"dtype":"F32","shape":[0],"data_offsets":[0,4]})", "span 4 bytes, but F32 [0] takes 0",
                       "1234");
}

TEST_F(Weights, tensorsThatOverlapAreRefused) {
    const auto two = [](std::size_t a, std::size_t b) {
        return "{\"a\":" + headerEntry("F32", {2}, a, a + 8) + ",\"b\":" + headerEntry("F32", {1}, b, b + 4) + "}";
    };
    expectRefused(safetensorsBytes(two(0, 4), std::string(8, '\0')), {"tensor b: its bytes overlap those of a"});
    expectRefused(safetensorsBytes(two(2, 0), std::string(10, '\0')), {"tensor a: its bytes overlap those of b"});
    expectRefused(safetensorsBytes(two(0, 0), std::string(8, '\0')), {"tensor a: its bytes overlap those of b"});
    // An empty tensor inside another.
    expectRefused(
        safetensorsBytes("{\"a\":" + headerEntry("F32", {2}, 0, 8) + ",\"b\":" + headerEntry("F32", {0}, 4, 4) + "}",
                         std::string(8, '\0')),
        {"tensor b: its bytes overlap those of a"});
}

TEST_F(Weights, bytesThatBelongToNoTensorAreRefused) {
    const std::string eight(8, '\0');
    expectRefused(safetensorsBytes("{\"w\":" + headerEntry("F32", {1}, 4, 8) + "}", eight),
                  {"tensor w: 4 bytes before it belong to no tensor"});
    expectRefused(
        safetensorsBytes("{\"a\":" + headerEntry("F32", {1}, 0, 4) + ",\"b\":" + headerEntry("F32", {1}, 5, 9) + "}",
                         eight + "1"),
        {"tensor b: 1 bytes before it belong to no tensor"});
    expectRefused(safetensorsBytes("{\"w\":" + headerEntry("F32", {1}, 0, 4) + "}", eight),
                  {"4 bytes after its last tensor, w, belong to no tensor"});
    expectRefused(safetensorsBytes("{}", eight), {"8 bytes after its header belong to no tensor"});
}

TEST_F(Weights, everyTruncationOfAGoodFileIsRefused) {
    const std::string good = safetensorsBytes({floatTensor("a", {3}, {1, 2, 3}), floatTensor("b", {1, 2}, {4, 5})});
    ASSERT_EQ(refusal(write(good)), "");
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_NE(refusal(write(good.substr(0, length))), "") << length << " bytes";
    }
}

TEST_F(Weights, anyFlippedBitOfAHeaderIsRefusedOrHarmless) {
    // Whatever happens, what is handed out must be readable within the file.
    const std::string good = safetensorsBytes({floatTensor("a", {3}, {1, 2, 3}), floatTensor("b", {1, 2}, {4, 5})});
    const std::size_t headerEnd = good.size() - 20;
    int refused = 0;
    for (std::size_t bit = 0; bit < 8 * headerEnd; ++bit) {
        std::string bytes = good;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
        try {
            const WeightFile file(write(bytes));
            for (const WeightTensor& tensor : file.tensors()) {
                if (isReadable(tensor.type)) readAll(file, tensor.name);
            }
        } catch (const engine::Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, static_cast<int>(4 * headerEnd));  // names and metadata may change; the rest may not
}

}  // namespace

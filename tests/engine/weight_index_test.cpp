// Models in several files: the index names which tensor is where, and must agree with the files beside it.
#include "engine/error.h"
#include "engine/weights.h"
#include "safetensors_writer.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace {

using engine::WeightFile;

class WeightIndex : public testing::Test {
protected:
    void SetUp() override {
        writeFile(path("model-00001-of-00002.safetensors"),
                  safetensorsBytes({floatTensor("b", {2}, {3, 4}), floatTensor("a", {1}, {5})}));
        writeFile(path("model-00002-of-00002.safetensors"), safetensorsBytes({floatTensor("c", {3}, {6, 7, 8})}));
    }

    std::string path(const std::string& name) const { return m_folder.path() + "/" + name; }

    std::string index(const std::string& json) const {
        writeFile(path("model.safetensors.index.json"), json);
        return path("model.safetensors.index.json");
    }

    std::string indexOf(const std::string& map) const {
        return index(R"({"metadata":{"total_size":24,"x":[{"deep":[1]}]},"weight_map":{)" + map + "}}");
    }

    static std::string refusal(const std::string& path) {
        try {
            const WeightFile file(path);
        } catch (const engine::Error& error) {
            EXPECT_EQ(error.kind(), engine::ErrorKind::Failure);
            return error.what();
        }
        return "";
    }

    void expectRefused(const std::string& index, const std::vector<std::string>& parts) const {
        const std::string text = refusal(index);
        EXPECT_NE(text.find("weights " + index), std::string::npos) << text;
        for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }

    static constexpr const char* kAll =
        R"("a":"model-00001-of-00002.safetensors","b":"model-00001-of-00002.safetensors",)"
        R"("c":"model-00002-of-00002.safetensors")";

    TemporaryFolder m_folder;
};

TEST_F(WeightIndex, itsFilesAreReadAsOne) {
    const WeightFile file(indexOf(kAll));
    ASSERT_EQ(file.files().size(), 2U);
    EXPECT_EQ(file.files()[1], path("model-00002-of-00002.safetensors"));
    ASSERT_EQ(file.tensors().size(), 3U);
    EXPECT_EQ(file.tensors()[0].name, "b");
    EXPECT_EQ(file.tensors()[1].name, "a");
    EXPECT_EQ(file.tensors()[2].file, 1U);
    std::vector<float> values(3);
    file.read(*file.find("c"), 0, 3, values.data());
    EXPECT_EQ(values, (std::vector<float>{6, 7, 8}));
    file.read(*file.find("b"), 1, 1, values.data());
    EXPECT_EQ(values[0], 4);
}

TEST_F(WeightIndex, aTensorThatItDoesNotNameIsListedAllTheSame) {
    const WeightFile file(indexOf(R"("a":"model-00001-of-00002.safetensors")"));
    EXPECT_EQ(file.tensors().size(), 2U);
}

TEST_F(WeightIndex, aTensorThatIsNotWhereItSaysIsAnError) {
    expectRefused(indexOf(R"("a":"model-00002-of-00002.safetensors")"),
                  {"tensor a: it is not in " + path("model-00002-of-00002.safetensors")});
    expectRefused(indexOf(R"("d":"model-00002-of-00002.safetensors")"), {"tensor d: it is not in "});
}

TEST_F(WeightIndex, aTensorInTwoFilesIsAnError) {
    writeFile(path("model-00002-of-00002.safetensors"),
              safetensorsBytes({floatTensor("c", {3}, {6, 7, 8}), floatTensor("a", {1}, {9})}));
    expectRefused(indexOf(kAll), {"tensor a: it is both in " + path("model-00001-of-00002.safetensors") + " and in "});
}

TEST_F(WeightIndex, filesThatAreMissingOrDamagedAreNamed) {
    const std::string missing = refusal(indexOf(R"("a":"absent.safetensors")"));
    EXPECT_NE(missing.find("weights " + path("absent.safetensors") + ": No such file"), std::string::npos) << missing;
    writeFile(path("model-00002-of-00002.safetensors"), "short");
    const std::string damaged = refusal(indexOf(kAll));
    EXPECT_NE(damaged.find(path("model-00002-of-00002.safetensors") + ": it is only 5 bytes"), std::string::npos)
        << damaged;
}

TEST_F(WeightIndex, namesThatLeaveTheFolderAreRefused) {
    for (const std::string name :
         {"../a.safetensors", "/etc/passwd", "sub/a.safetensors", "..", ".", "", "a\\u0000b"}) {
        expectRefused(indexOf("\"a\":\"" + name + "\""),
                      {"tensor a: ", "is not the name of a file in the same folder"});
    }
}

TEST_F(WeightIndex, whatIsNoIndexIsRefused) {
    expectRefused(index(""), {"it is not valid JSON"});
    expectRefused(index("[]"), {"it is not a JSON object"});
    expectRefused(index("7"), {"it is not a JSON object"});
    expectRefused(index("{}"), {"it names no tensors"});
    expectRefused(index(R"({"weight_map":{}})"), {"it names no tensors"});
    for (const char* map : {"[]", "1", "\"a\"", R"({"a":1})", R"({"a":["b"]})", R"({"a":{}})", "null"}) {
        expectRefused(index(R"({"weight_map":)" + std::string(map) + "}"), {"its weight_map does not name one file"});
    }
    expectRefused(index(R"({"weight_map":{"a":"x","a":"y"}})"), {"it names \"a\" twice"});
    expectRefused(index(R"({"metadata":)" + std::string(1'000'000, '[')), {"nested deeper than 16 levels"});
}

}  // namespace

// Reads the source tree and checks the rules that keep the modules apart: who may include whom, where SQL may be,
// how long files may get, and that every path a README names exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = AMAXSCOPE_SOURCE_DIR;

struct SourceFile {
    std::string path;  // relative to the root, with '/'
    std::vector<std::string> lines;
};

struct Include {
    const SourceFile* file;
    std::size_t line;  // from 1
    std::string target;
    bool quoted;

    std::string where() const { return file->path + ":" + std::to_string(line) + " includes " + target; }
};

std::vector<std::string> readLines(const fs::path& path) {
    std::vector<std::string> lines;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

bool isSource(const fs::path& path) {
    static const std::vector<std::string> kEndings{".h", ".cpp", ".inl", ".cu", ".cuh"};
    return std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

std::vector<SourceFile> sourcesUnder(const std::string& folder) {
    std::vector<SourceFile> files;
    if (!fs::exists(kRoot / folder)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
        if (!entry.is_regular_file() || !isSource(entry.path())) continue;
        files.push_back({fs::relative(entry.path(), kRoot).generic_string(), readLines(entry.path())});
    }
    return files;
}

std::vector<Include> includesOf(const std::vector<SourceFile>& files) {
    static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
    std::vector<Include> includes;
    for (const SourceFile& file : files) {
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            std::smatch match;
            if (!std::regex_search(file.lines[i], match, kInclude)) continue;
            includes.push_back({&file, i + 1, match[2].str(), match[1].str() == "\""});
        }
    }
    return includes;
}

bool startsWith(const std::string& text, const std::string& start) {
    return text.rfind(start, 0) == 0;
}

/// The file of ours that an include means, relative to the root; "" for a system header. Quoted includes look beside
/// the including file first, as the compiler does, then in the modules' include folders.
std::string resolve(const Include& include) {
    std::vector<fs::path> folders;
    if (include.quoted) folders.push_back((kRoot / include.file->path).parent_path());
    for (const char* folder : {"engine/include", "profiling/include", "engine", "profiling", "gui", "profiling/src",
                               "engine/src", "engine/cpu", "."}) {
        folders.push_back(kRoot / folder);
    }
    for (const fs::path& folder : folders) {
        const fs::path candidate = folder / include.target;
        if (fs::is_regular_file(candidate))
            return fs::weakly_canonical(candidate).lexically_relative(kRoot).generic_string();
    }
    return "";
}

TEST(Layering, theTreeIsThere) {
    for (const char* folder : {"engine", "profiling", "gui"}) EXPECT_GT(sourcesUnder(folder).size(), 5U) << folder;
}

TEST(Layering, engineIncludesNothingOfOtherModules) {
    const auto files = sourcesUnder("engine");
    for (const Include& include : includesOf(files)) {
        const std::string target = resolve(include);
        EXPECT_TRUE(target.empty() || startsWith(target, "engine/")) << include.where();
    }
}

TEST(Layering, captureAndStoreKnowOnlyTheObserverOfTheEngine) {
    for (const char* folder : {"profiling/src", "profiling/include"}) {
        const auto files = sourcesUnder(folder);
        for (const Include& include : includesOf(files)) {
            const std::string target = resolve(include);
            EXPECT_FALSE(startsWith(target, "engine/") && target != "engine/include/engine/observer.h")
                << include.where();
            EXPECT_FALSE(startsWith(target, "profiling/jobs/") || startsWith(target, "profiling/cli/"))
                << include.where();
        }
    }
}

TEST(Layering, jobsAndCommandLineUsePublicHeadersOnly) {
    for (const char* folder : {"profiling/jobs", "profiling/cli"}) {
        const auto files = sourcesUnder(folder);
        for (const Include& include : includesOf(files)) {
            const std::string target = resolve(include);
            const bool privateEngine = startsWith(target, "engine/") && !startsWith(target, "engine/include/");
            EXPECT_FALSE(privateEngine || startsWith(target, "profiling/src/")) << include.where();
        }
    }
}

TEST(Layering, noQtBelowTheWindow) {
    static const std::regex kQt(R"(^(Q[A-Z]\w*|Qt\w+/.*|qcustomplot\.h|gui/.*)$)");
    for (const char* folder : {"engine", "profiling"}) {
        const auto files = sourcesUnder(folder);
        for (const Include& include : includesOf(files)) {
            EXPECT_FALSE(std::regex_match(include.target, kQt)) << include.where();
            EXPECT_FALSE(startsWith(resolve(include), "gui/")) << include.where();
        }
    }
}

TEST(Layering, theWindowIncludesNoPrivateHeader) {
    const auto files = sourcesUnder("gui");
    for (const Include& include : includesOf(files)) {
        const std::string target = resolve(include);
        for (const char* hidden : {"engine/src/", "engine/cpu/", "engine/cuda/", "profiling/src/", "profiling/cli/"}) {
            EXPECT_FALSE(startsWith(target, hidden)) << include.where();
        }
        EXPECT_NE(include.target, "sqlite3.h") << include.where();
    }
}

TEST(Layering, publicHeadersShowNoLibraryTypes) {
    static const std::regex kLibrary(R"(^(sqlite3\.h|cupti.*|cuda.*|cublas.*|nvtx3/.*|nlohmann/.*|toml.*|fmt/.*)$)");
    for (const char* folder : {"engine/include", "profiling/include"}) {
        const auto files = sourcesUnder(folder);
        for (const Include& include : includesOf(files)) {
            EXPECT_FALSE(std::regex_match(include.target, kLibrary)) << include.where();
        }
    }
}

TEST(Layering, sqlIsOnlyInTheStore) {
    // Statements as they stand in a string: upper case, with the word that must follow.
    static const std::regex kSql(
        R"re("[^"]*\b(SELECT\s+\S|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TABLE|INDEX|VIEW)|PRAGMA\s+\w))re");
    for (const char* folder : {"engine", "profiling", "gui"}) {
        for (const SourceFile& file : sourcesUnder(folder)) {
            if (startsWith(file.path, "profiling/src/store/")) continue;
            for (std::size_t i = 0; i < file.lines.size(); ++i) {
                EXPECT_FALSE(std::regex_search(file.lines[i], kSql))
                    << file.path << ":" << i + 1 << " holds SQL: " << file.lines[i];
            }
        }
    }
}

TEST(Layering, sqliteIsKnownOnlyToTheStore) {
    for (const char* folder : {"engine", "profiling"}) {
        const auto files = sourcesUnder(folder);
        for (const Include& include : includesOf(files)) {
            EXPECT_FALSE(include.target == "sqlite3.h" && !startsWith(include.file->path, "profiling/src/store/"))
                << include.where();
        }
    }
}

TEST(Layering, noFileIsLongerThan600Lines) {
    for (const char* folder : {"engine", "profiling", "gui", "tests"}) {
        for (const SourceFile& file : sourcesUnder(folder)) EXPECT_LE(file.lines.size(), 600U) << file.path;
    }
}

TEST(Layering, everyFileOpensWithItsJob) {
    for (const char* folder : {"engine", "profiling", "gui", "tests"}) {
        for (const SourceFile& file : sourcesUnder(folder)) {
            ASSERT_FALSE(file.lines.empty()) << file.path;
            EXPECT_TRUE(startsWith(file.lines.front(), "//")) << file.path << " opens with: " << file.lines.front();
        }
    }
}

/// "engine/src/{trainer,model}.cpp" names two paths.
std::vector<std::string> expandBraces(const std::string& text) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return {text};
    std::vector<std::string> paths;
    std::istringstream list(text.substr(open + 1, close - open - 1));
    for (std::string word; std::getline(list, word, ',');) {
        for (const std::string& path : expandBraces(text.substr(0, open) + word + text.substr(close + 1))) {
            paths.push_back(path);
        }
    }
    return paths;
}

/// Paths in `code` and in links and images, but for addresses, anchors, patterns and what builds make.
std::vector<std::string> pathsNamedIn(const fs::path& readme) {
    static const std::regex kPath(
        R"re(`([A-Za-z0-9_.][A-Za-z0-9_.{},-]*(/[A-Za-z0-9_.{},-]*)+)`|\]\(([^)#:]+)(#[^)]*)?\)|src(?:set)?="([^":]+)")re");
    std::vector<std::string> paths;
    for (const std::string& line : readLines(readme)) {
        for (std::sregex_iterator match(line.begin(), line.end(), kPath), end; match != end; ++match) {
            const std::string found = (*match)[1].str() + (*match)[3].str() + (*match)[5].str();
            if (startsWith(found, "build/")) continue;
            for (const std::string& path : expandBraces(found)) paths.push_back(path);
        }
    }
    return paths;
}

/// "gui/selection" means the pair selection.h and selection.cpp.
bool existsAs(const fs::path& path) {
    return fs::exists(path) || fs::exists(path.string() + ".h") || fs::exists(path.string() + ".cpp");
}

TEST(Readme, everyPathNamedExists) {
    std::vector<fs::path> readmes;
    for (const auto& entry : fs::directory_iterator(kRoot)) {
        if (entry.path().extension() == ".md") readmes.push_back(entry.path());
        const fs::path inside = entry.path() / "README.md";
        const std::string folder = entry.path().filename().string();
        if (entry.is_directory() && !startsWith(folder, ".") && !startsWith(folder, "build") && fs::exists(inside)) {
            readmes.push_back(inside);
        }
    }
    ASSERT_FALSE(readmes.empty());
    std::size_t checked = 0;
    for (const fs::path& readme : readmes) {
        for (const std::string& path : pathsNamedIn(readme)) {
            ++checked;
            EXPECT_TRUE(existsAs(kRoot / path) || existsAs(readme.parent_path() / path))
                << fs::relative(readme, kRoot) << " names " << path << ", which does not exist";
        }
    }
    EXPECT_GT(checked, 10U);
}

TEST(Readme, bracesNameSeveralPaths) {
    EXPECT_EQ(expandBraces("a/{b,c}.{h,cpp}"), (std::vector<std::string>{"a/b.h", "a/b.cpp", "a/c.h", "a/c.cpp"}));
}

TEST(FileFormat, documentNamesEveryTableAndColumn) {
    static const std::regex kTable(R"(^CREATE TABLE (\w+))");
    static const std::regex kColumn(R"(^\s+(\w+)\s+(INTEGER|TEXT|REAL|BLOB)\b)");
    std::string document;
    for (const std::string& line : readLines(kRoot / "resources/docs/file-format.md")) document += line + "\n";
    std::size_t columns = 0;
    std::string section;
    for (const std::string& line : readLines(kRoot / "profiling/src/store/schema.sql")) {
        std::smatch match;
        if (std::regex_search(line, match, kTable)) {
            const std::size_t start = document.find("### " + match[1].str() + "\n");
            ASSERT_NE(start, std::string::npos) << match[1] << " is not in resources/docs/file-format.md";
            section = document.substr(start, document.find("\n### ", start) - start);
        } else if (std::regex_search(line, match, kColumn)) {
            ++columns;
            EXPECT_NE(section.find("| `" + match[1].str() + "` | " + match[2].str()), std::string::npos)
                << match[1] << " is missing in: " << section.substr(0, 40);
        }
    }
    EXPECT_GT(columns, 50U);
}

}  // namespace

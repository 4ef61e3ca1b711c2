// Inspecting files of weights; see inspect_weights.h.
#include "inspect_weights.h"

#include "engine/inspection.h"
#include "engine/observer.h"
#include "inspection_report.h"
#include "jobs/job_setup.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/session.h"
#include "table.h"
#include "terminal.h"
#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

namespace cli {
namespace {

using engine::WeightFile;
using engine::WeightTensor;
using profiling::InspectedTensor;

struct SkippedTensor {
    const WeightTensor* tensor;
    std::string why;
};

/// One file, opened and checked, with what is to be done to it.
struct Subject {
    WeightFile file;
    std::vector<const WeightTensor*> chosen;
    std::vector<SkippedTensor> skipped;
    std::int64_t beganNs = 0;
    std::vector<InspectedTensor> results;
};

std::vector<engine::Fp8Recipe> recipesNamed(const std::string& list) {
    std::vector<std::string> words = engine::choices<engine::RecipeKind>();
    if (!list.empty()) {
        const std::vector<std::string> known = words;
        words.clear();
        std::istringstream items(list);
        for (std::string word; std::getline(items, word, ',');) {
            const std::string near = nearest(word, known);
            if (std::find(known.begin(), known.end(), word) == known.end()) {
                throw UsageError("--recipes " + list, "\"" + word + "\" is no recipe",
                                 (near.empty() ? "" : "did you mean " + near + "? ") + "use " +
                                     fmt::format("{}", fmt::join(known, ", ")));
            }
            if (std::find(words.begin(), words.end(), word) != words.end()) {
                throw UsageError("--recipes " + list, word + " is there twice", "name each recipe once");
            }
            words.push_back(word);
        }
    }
    std::vector<engine::Fp8Recipe> recipes;
    for (const std::string& word : words) {
        recipes.emplace_back().kind = engine::parse<engine::RecipeKind>(word);
    }
    return recipes;
}

/// "" when the tensor is to be inspected.
std::string whySkipped(const WeightTensor& tensor, bool all) {
    if (!engine::isReadable(tensor.type)) return std::string(engine::name(tensor.type)) + " is not cast";
    if (tensor.elements == 0) return "no elements";
    if (!all && tensor.shape.size() < 2) return "no matrix, --all includes it";
    return "";
}

Subject openSubject(const std::string& path, const WeightOptions& options) {
    Subject subject{WeightFile(path), {}, {}, 0, {}};
    for (const WeightTensor& tensor : subject.file.tensors()) {
        if (!options.tensors.empty() && !engine::matchesPatterns(options.tensors, tensor.name)) continue;
        const std::string why = whySkipped(tensor, options.all);
        if (why.empty()) {
            subject.chosen.push_back(&tensor);
        } else {
            subject.skipped.push_back({&tensor, why});
        }
    }
    if (!options.tensors.empty() && subject.chosen.empty() && subject.skipped.empty()) {
        throw UsageError("--tensors " + options.tensors, "no tensor of " + path + " has such a name",
                         "see amaxscope-cli inspect " + path);
    }
    return subject;
}

/// A line that is rewritten on a terminal, ten times a second at most; nothing elsewhere.
class ProgressLine {
public:
    ProgressLine(bool shown, std::int64_t elements) : m_shown(shown), m_elements(elements) {}
    ~ProgressLine() {
        if (m_open) std::cout << "\r\x1b[K" << std::flush;
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void advance(std::int64_t elements, const std::string& tensor) {
        constexpr std::int64_t kRewriteNs = 100'000'000;
        m_done += elements;
        const std::int64_t now = engine::clockNs();
        if (!m_shown || now - m_shownNs < kRewriteNs) return;
        m_shownNs = now;
        const auto columns = static_cast<std::size_t>(std::max(20, terminalColumns() - 1));
        const double share = static_cast<double>(m_done) / static_cast<double>(m_elements);
        std::cout << '\r' << fmt::format("{:3.0f} %  {}", share * 100, oneLine(tensor)).substr(0, columns) << "\x1b[K"
                  << std::flush;
        m_open = true;
    }

private:
    bool m_shown;
    std::int64_t m_elements;  // to be read, every pass counted
    std::int64_t m_done = 0;
    std::int64_t m_shownNs = 0;
    bool m_open = false;
};

InspectedTensor rowOf(const WeightTensor& tensor, const engine::TensorInspection& result) {
    InspectedTensor row;
    row.tensor = tensor.name;
    row.recipe = engine::name(result.recipe);
    row.role = "weight";
    row.format = result.format;
    row.dtype = engine::name(tensor.type);
    row.rows = tensor.rows;
    row.cols = tensor.cols;
    row.count = result.count;
    row.amax = static_cast<double>(result.amax);
    row.smallest = static_cast<double>(result.smallest);
    row.scaleInvMin = static_cast<double>(result.scaleInvMin);
    row.scaleInvMax = static_cast<double>(result.scaleInvMax);
    row.saturated = result.saturated;
    row.underflowed = result.underflowed;
    row.zeros = result.zeros;
    row.nonFinite = result.nonFinite;
    row.sqError = result.sqError;
    row.sqSignal = result.sqSignal;
    return row;
}

void inspectSubject(Subject& subject, const std::vector<engine::Fp8Recipe>& recipes, bool json) {
    subject.beganNs = engine::clockNs();
    std::int64_t elements = 0;
    for (const WeightTensor* tensor : subject.chosen) elements += tensor->elements;
    ProgressLine progress(!json && stdoutIsTerminal(), elements * engine::inspectionPasses(recipes));
    for (const WeightTensor* tensor : subject.chosen) {
        const auto note = [&](std::int64_t read) { progress.advance(read, tensor->name); };
        for (const engine::TensorInspection& result : engine::inspectTensor(subject.file, *tensor, recipes, note)) {
            subject.results.push_back(rowOf(*tensor, result));
        }
    }
}

std::int64_t elementsOf(const WeightFile& file) {
    std::int64_t elements = 0;
    for (const WeightTensor& tensor : file.tensors()) elements += tensor.elements;
    return elements;
}

void printSubject(const Subject& subject) {
    const std::string architecture = engine::weightArchitecture(subject.file);
    std::cout << fmt::format("{}: weights{}, {} tensors, {} elements\n", oneLine(subject.file.path()),
                             architecture.empty() ? "" : " with the names of " + architecture,
                             subject.file.tensors().size(), grouped(static_cast<double>(elementsOf(subject.file))));
    printInspected(subject.results);
    if (subject.skipped.empty()) return;
    Table table({"tensor", "dtype", "shape", "why"}, {Align::Left, Align::Left, Align::Left, Align::Left});
    for (const SkippedTensor& skipped : subject.skipped) {
        table.add({skipped.tensor->name, engine::name(skipped.tensor->type), engine::shapeText(skipped.tensor->shape),
                   skipped.why});
    }
    std::cout << "\nNot inspected\n" << table.text("  ");
}

void printSubjectJson(const Subject& subject) {
    const std::string architecture = engine::weightArchitecture(subject.file);
    printJsonLine({{"type", "weights"},
                   {"path", subject.file.path()},
                   {"files", subject.file.files()},
                   {"architecture", architecture.empty() ? Json(nullptr) : Json(architecture)},
                   {"tensors", subject.file.tensors().size()},
                   {"elements", elementsOf(subject.file)}});
    printInspectedJson(subject.file.path(), subject.results);
    for (const SkippedTensor& skipped : subject.skipped) {
        printJsonLine({{"type", "skipped"},
                       {"path", subject.file.path()},
                       {"tensor", skipped.tensor->name},
                       {"dtype", engine::name(skipped.tensor->type)},
                       {"shape", skipped.tensor->shape},
                       {"why", skipped.why}});
    }
}

void store(profiling::Session& session, const Subject& subject, const WeightOptions& options) {
    const WeightFile& file = subject.file;
    const auto writer = session.startInspection(
        {file.path(), engine::weightArchitecture(file), static_cast<std::int64_t>(file.tensors().size())},
        subject.beganNs);
    for (const InspectedTensor& row : subject.results) writer->add(row);
    const profiling::InspectionId id = writer->commit();
    if (options.json) {
        printJsonLine(
            {{"type", "stored"}, {"path", file.path()}, {"inspection", id.value}, {"database", options.database}});
    } else {
        std::cout << fmt::format("\nstored as inspection {} in {}\n", id.value, oneLine(options.database));
    }
}

}  // namespace

bool looksLikeWeights(const std::string& path) {
    const std::string extension = std::filesystem::path(path).extension().string();
    if (extension == ".safetensors" || extension == ".json") return true;
    // A header's length in eight bytes, at most 100 MB, then the header, which is a JSON object.
    std::array<char, 9> start{};
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), start.size());
    return file.gcount() == start.size() && start[8] == '{' &&
           std::all_of(start.begin() + 4, start.begin() + 8, [](char byte) { return byte == 0; });
}

void inspectWeights(const std::vector<std::string>& paths, const WeightOptions& options) {
    const std::vector<engine::Fp8Recipe> recipes = recipesNamed(options.recipes);
    std::vector<Subject> subjects;
    for (const std::string& path : paths) subjects.push_back(openSubject(path, options));
    std::shared_ptr<profiling::Session> session;
    if (!options.database.empty()) session = jobs::openBeforeBuilding(options.database);
    for (Subject& subject : subjects) {
        inspectSubject(subject, recipes, options.json);
        (options.json ? printSubjectJson : printSubject)(subject);
    }
    if (options.database.empty()) return;
    if (!session) session = profiling::Session::open(options.database);
    for (const Subject& subject : subjects) store(*session, subject, options);
}

}  // namespace cli

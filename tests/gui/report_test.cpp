// Reports: what they say (from a store made of plain rows), that they are sound files, and what goes wrong clearly
// (through real databases).
#include "profiling/session.h"
#include "report/html_report.h"
#include "report/markdown_report.h"
#include "report/report_command.h"
#include "report/report_content.h"
#include "report/report_writer.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QLocale>
#include <QTemporaryDir>
#include <QXmlStreamReader>

#include <clocale>
#include <cmath>
#include <limits>

#include <unistd.h>

namespace {

using profiling::RunId;

profiling::RunRow makeRun(std::int64_t id, const char* name, const char* precision) {
    profiling::RunRow row;
    row.id = RunId{id};
    row.name = name;
    row.status = profiling::RunStatus::Finished;
    row.description.name = name;
    row.description.precision = precision;
    row.description.precisionAsked = precision;
    row.description.modelJson = R"({"layers":4,"d_model":256})";
    row.description.trainJson = id == 1 ? R"({"lr":0.001})" : R"({"lr":0.0025})";
    row.description.hostJson = R"({"cpu":{"model":"Test <CPU> & more"}})";
    row.description.data = "stride";
    row.stepsDone = 4;
    return row;
}

/// Two runs: #1 fp32 at 1000 tokens/s, #2 fp8 at 1250 tokens/s with two tensors that were cast
/// and two that were not.
class FakeStore : public profiling::Store {
public:
    std::int64_t dataVersion() override { return 1; }
    profiling::FileInfo fileInfo() override { return {"/data/a.amax", 1, 1, 2, 8}; }
    std::vector<profiling::RunRow> runs() override { return {makeRun(2, "fp8", "fp8"), makeRun(1, "fp32", "fp32")}; }
    profiling::RunRow run(RunId id) override {
        for (const auto& row : runs()) {
            if (row.id == id) return row;
        }
        throw profiling::Error(profiling::ErrorKind::Usage, "run", "there is no such run", "use 1 or 2");
    }
    std::vector<profiling::StepRow> steps(RunId id, std::int64_t) override {
        std::vector<profiling::StepRow> rows;
        for (std::int64_t i = 0; i < 4; ++i) {
            const double loss = i == 2 ? std::nan("") : 4.0 / static_cast<double>(i + 1) + (id.value == 2 ? 0.5 : 0.0);
            rows.push_back({i, i * 2'000'000'000, id.value == 2 ? 800'000'000 : 1'000'000'000, loss, std::nullopt, 1.0,
                            1e-3, 1000, i == 2, 1 << 20});
        }
        rows.back().valLoss = id.value == 2 ? 2.02 : 2.0;
        return rows;
    }
    std::vector<profiling::TensorRow> tensors(RunId id) override {
        if (id.value != 2) return {};
        return {{profiling::TensorId{1}, "layer.0.mlp.fc1", "input", "E4M3", 8, 8},
                {profiling::TensorId{2}, "layer.0.mlp.fc1", "grad_output", "E5M2", 8, 8},
                {profiling::TensorId{3}, "layer.0.mlp.fc1", "output", "BF16", 8, 8},
                {profiling::TensorId{4}, "lm_head", "input", "BF16", 8, 8}};
    }
    std::vector<profiling::SnapshotRow> snapshots(RunId, profiling::TensorId tensor, std::int64_t) override {
        const double infinity = std::numeric_limits<double>::infinity();
        return {{0, 2.0, 64.0, 0, 0, 0, 0, 64, 0.1, 10},
                {1, tensor.value == 1 ? 4.0 : infinity, 128.0, 3, 0, 0, 0, 64, 1, 10}};
    }
    profiling::HeatMap heatMap(RunId id, profiling::HeatMetric, profiling::StepWindow, int) override {
        profiling::HeatMap map;
        map.tensors = tensors(id);
        if (map.tensors.empty()) return map;
        map.columns = 2;
        map.values = {1.8F, -0.2F, std::nanf(""), 3.0F};
        map.values.resize(map.tensors.size() * 2, std::nanf(""));
        return map;
    }
    std::vector<profiling::SummaryRow> kernelSummary(RunId, profiling::StepWindow) override {
        profiling::SummaryRow row;
        row.name = "ns::k<A, B>::run(int, float)";
        row.calls = 12;
        row.totalNs = 3'000'000;
        row.share = 0.25;
        return {row};
    }
    std::vector<profiling::SummaryRow> rangeSummary(RunId, profiling::StepWindow) override { return {}; }
    std::vector<profiling::RangeRow> ranges(RunId, profiling::StepWindow) override { return {}; }
    std::vector<profiling::EventRow> events(RunId id) override {
        if (id.value != 2) return {};
        return {{2, 5, engine::Severity::Warning, "non_finite", "the loss was not finite; the step was skipped"}};
    }
    std::vector<profiling::SampleRow> samples(RunId id) override {
        const double base = id.value == 2 ? 1250.0 : 1000.0;
        return {{id, "tokens_per_second", 0, base - 50},
                {id, "tokens_per_second", 1, base},
                {id, "tokens_per_second", 2, base + 50},
                {id, "step_ms", 0, 1.0}};
    }
    std::vector<profiling::GenerationRow> generations(RunId) override { return {{3, "0,3,6", "9,12", 1, 2}}; }
    void saveCopy(const std::string&, bool) override {}
};

gui::ReportContent content(std::int64_t baseline = 1) {
    FakeStore store;
    gui::ReportRequest request;
    request.baseline = RunId{baseline};
    return gui::buildReportContent(gui::collectReportData(store, request));
}

struct Parsed {
    QString error;
    QString text;       // all characters outside <style>
    QStringList links;  // src, href and xlink:href values
    QStringList elements;
};

Parsed parse(const QByteArray& html) {
    Parsed parsed;
    QXmlStreamReader xml(html);
    bool inStyle = false;
    while (!xml.atEnd()) {
        xml.readNext();
        if (xml.isStartElement()) {
            inStyle = xml.name() == QLatin1String("style");
            parsed.elements << xml.name().toString();
            for (const QXmlStreamAttribute& attribute : xml.attributes()) {
                if (attribute.name() == QLatin1String("src") || attribute.name() == QLatin1String("href")) {
                    parsed.links << attribute.value().toString();
                }
            }
        } else if (xml.isEndElement()) {
            inStyle = false;
        } else if (xml.isCharacters() && !inStyle) {
            parsed.text += xml.text().toString() + QLatin1Char('\n');
        }
    }
    if (xml.hasError()) parsed.error = xml.errorString();
    return parsed;
}

const gui::ReportSection& section(const gui::ReportContent& report, const char* id) {
    for (const gui::ReportSection& one : report.sections) {
        if (one.id == QLatin1String(id)) return one;
    }
    throw std::runtime_error(id);
}

QStringList rowOf(const gui::ReportSection& one, const char* start) {
    for (const gui::ReportBlock& block : one.blocks) {
        for (const QStringList& row : block.table.rows) {
            if (row.first().startsWith(QString::fromUtf8(start))) return row;
        }
    }
    return {};
}

TEST(HtmlReport, isWellFormed) {
    const Parsed parsed = parse(gui::htmlReport(content()));
    EXPECT_EQ(parsed.error, QString()) << parsed.error.toStdString();
    EXPECT_TRUE(parsed.elements.contains(QStringLiteral("svg")));
    EXPECT_TRUE(parsed.elements.contains(QStringLiteral("table")));
}

TEST(HtmlReport, loadsNothingFromAnywhere) {
    const QByteArray html = gui::htmlReport(content());
    const Parsed parsed = parse(html);
    EXPECT_FALSE(parsed.elements.contains(QStringLiteral("script")));
    EXPECT_FALSE(parsed.elements.contains(QStringLiteral("link")));
    EXPECT_FALSE(html.contains("url("));
    EXPECT_FALSE(html.contains("@import"));
    ASSERT_FALSE(parsed.links.isEmpty());
    for (const QString& link : parsed.links) {
        EXPECT_TRUE(link.startsWith(QLatin1Char('#')) || link.startsWith(QLatin1String("data:image/png;base64,")))
            << link.toStdString();
    }
}

TEST(HtmlReport, followsLightAndDark) {
    EXPECT_TRUE(gui::htmlReport(content()).contains("prefers-color-scheme: dark"));
}

TEST(HtmlReport, showsAngleBracketsOfKernelNames) {
    const QByteArray html = gui::htmlReport(content());
    EXPECT_FALSE(html.contains("k<A"));
    EXPECT_TRUE(parse(html).text.contains(QStringLiteral("ns::k<A, B>::run(int, float)")));
}

TEST(HtmlReport, leavesNoElementThatHtmlWouldReadAsUnclosed) {
    const QByteArray html = gui::htmlReport(content());
    for (const char* name : {"<td/>", "<th/>", "<span/>", "<p/>", "<div/>", "<title/>"}) {
        EXPECT_FALSE(html.contains(name)) << name;
    }
}

TEST(ReportContent, measuresAgainstTheBaseline) {
    // 1250 against 1000 tokens/s; validation loss 2.02 against 2.
    const gui::ReportContent report = content();
    const QStringList throughput = rowOf(section(report, "summary"), "Throughput, tokens/s");
    ASSERT_EQ(throughput.size(), 3);
    EXPECT_EQ(throughput[1].toStdString(), "1.00 k");
    EXPECT_EQ(throughput[2].toStdString(), "1.25 k  (Δ +250, +25 %)");
    const QStringList loss = rowOf(section(report, "summary"), "Validation loss");
    ASSERT_EQ(loss.size(), 3);
    EXPECT_EQ(loss[1].toStdString(), "2.0000");
    EXPECT_TRUE(loss[2].startsWith(QStringLiteral("2.0200  (Δ +0.020"))) << loss[2].toStdString();
    EXPECT_TRUE(loss[2].contains(QStringLiteral("+1"))) << loss[2].toStdString();
}

TEST(ReportContent, putsAnotherBaselineFirst) {
    const QStringList throughput = rowOf(section(content(2), "summary"), "Throughput, tokens/s");
    ASSERT_EQ(throughput.size(), 3);
    EXPECT_EQ(throughput[1].toStdString(), "1.25 k");
    EXPECT_EQ(throughput[2].toStdString(), "1.00 k  (Δ −250, −20 %)");
}

TEST(ReportContent, refusesABaselineOutsideTheReport) {
    FakeStore store;
    gui::ReportRequest request;
    request.runs = {RunId{1}};
    request.baseline = RunId{2};
    EXPECT_THROW(gui::collectReportData(store, request), profiling::Error);
}

TEST(ReportContent, holdsTheConfigurationOfEachRunAndMarksDifferences) {
    const gui::ReportSection configuration = section(content(), "configuration");
    EXPECT_EQ(rowOf(configuration, "model.d_model"), (QStringList{"model.d_model", "256", "256"}));
    EXPECT_EQ(rowOf(configuration, "train.lr"), (QStringList{QStringLiteral("train.lr ≠"), "0.001", "0.0025"}));
    EXPECT_EQ(rowOf(configuration, "machine.cpu.model"),
              (QStringList{"machine.cpu.model", "Test <CPU> & more", "Test <CPU> & more"}));
}

TEST(ReportContent, picksTheTensorWithLeastHeadroomFirst) {
    FakeStore store;
    const gui::ReportData data = gui::collectReportData(store, {});
    ASSERT_EQ(data.runs.size(), 2U);
    EXPECT_EQ(data.runs[0].row.id, RunId{1});
    ASSERT_EQ(data.runs[1].worstTensors.size(), 2U);
    EXPECT_EQ(data.runs[1].worstTensors[0].tensor.role, "input");
    EXPECT_NEAR(data.runs[1].worstTensors[0].leastHeadroom, -0.2, 1e-6);
    EXPECT_EQ(data.runs[1].worstTensors[1].tensor.role, "grad_output");  // not those that were not cast
    EXPECT_EQ(data.runs[1].headroom.tensors.size(), 3U);
}

TEST(ReportContent, drawsOneDotForEveryRepeat) {
    const gui::ReportSection throughput = section(content(), "throughput");
    const gui::PlotBar& bar = std::get<gui::BarPlot>(throughput.blocks.back().plot).bars.at(1);
    EXPECT_EQ(bar.dots, (std::vector<double>{1200, 1250, 1300}));
    const QString svg = gui::svgText(throughput.blocks.back().plot, gui::PlotTheme::paper());
    EXPECT_EQ(svg.count(QStringLiteral("<circle")), 6);
}

TEST(SvgPlot, breaksTheLineAtNaN) {
    gui::LinePlot plot;
    plot.series.push_back({QStringLiteral("loss"), 0, {}, 1, {0, 100, 200, 300, 400}, {1, 2, std::nan(""), 2, 1}});
    const QString svg = gui::svgText(plot, gui::PlotTheme::paper());
    const qsizetype start = svg.indexOf(QStringLiteral("stroke-width:1.2"));
    ASSERT_GT(start, 0);
    const qsizetype path = svg.lastIndexOf(QStringLiteral("d=\""), start);
    EXPECT_EQ(svg.mid(path, start - path).count(QLatin1Char('M')), 2);
}

TEST(SvgPlot, labelsPowersOfTwoOnALogAxis) {
    gui::LinePlot plot;
    plot.log2Y = true;
    plot.series.push_back({QStringLiteral("scale"), 0, {}, 1, {0, 1, 2}, {1, 8, 0}});
    const QString svg = gui::svgText(plot, gui::PlotTheme::paper());
    EXPECT_TRUE(svg.contains(QStringLiteral(">2^0<")));
    EXPECT_TRUE(svg.contains(QStringLiteral(">2^3<")));
    EXPECT_FALSE(svg.contains(QStringLiteral("inf")));
    EXPECT_FALSE(svg.contains(QStringLiteral("nan")));
}

TEST(SvgPlot, putsTicksOnRoundNumbers) {
    EXPECT_EQ(gui::linearTicks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_TRUE(gui::linearTicks(3, 3, 5).empty());
    EXPECT_TRUE(gui::linearTicks(0, std::numeric_limits<double>::infinity(), 5).empty());
}

TEST(MarkdownReport, escapesCellSeparatorsAndTags) {
    gui::ReportContent report;
    gui::ReportBlock block;
    block.kind = gui::ReportBlock::Kind::Table;
    block.table.header << QStringLiteral("a") << QStringLiteral("b");
    block.table.rows.push_back({QStringLiteral("x|y"), QStringLiteral("k<A>")});
    report.sections.push_back({QStringLiteral("s"), QStringLiteral("S"), {block}});
    EXPECT_TRUE(gui::markdownReport(report).contains("| x\\|y | k\\<A\\> |"));
}

/// A real database with one short run.
class ReportFile : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(m_folder.isValid());
        auto session = profiling::Session::open(database().toStdString());
        profiling::RunDescription about;
        about.name = "ns::k<A, B>, first";
        about.device = "cpu";
        about.precision = "fp32";
        about.precisionAsked = "fp32";
        about.modelJson = R"({"layers":2})";
        about.trainJson = R"({"lr":0.00125})";
        about.hostJson = R"({"cpu":"a machine"})";
        about.data = "stride";
        auto recorder = session->startRun(about, {});
        recorder->onTensors({});
        for (std::int64_t step = 0; step < 5; ++step) {
            recorder->onStepBegin(step);
            engine::StepStats stats{};
            stats.step = step;
            stats.startNs = engine::clockNs();
            stats.durationNs = 1'000'000;
            stats.loss = 3.5 - 0.25 * static_cast<double>(step);
            stats.gradNorm = 0.5;
            stats.lr = 1e-3;
            stats.tokens = 64;
            recorder->onStepEnd(stats, {});
        }
        recorder->close(profiling::RunStatus::Finished);
    }
    QString database() const { return m_folder.filePath(QStringLiteral("a.amax")); }
    QString path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    int run(const QStringList& options) const { return gui::runReportCommand(QStringList{database()} + options); }
    static QByteArray read(const QString& name) {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir m_folder;
};

TEST_F(ReportFile, writesEveryFormat) {
    for (const QString& extension : gui::reportExtensions()) {
        const QString out = path("report.") + extension;
        EXPECT_EQ(run({QStringLiteral("--out"), out}), 0) << extension.toStdString();
        EXPECT_GT(QFile(out).size(), 100) << extension.toStdString();
    }
    EXPECT_EQ(parse(read(path("report.html"))).error, QString());
    EXPECT_EQ(QDir(m_folder.path()).entryList({QStringLiteral("*.part")}).size(), 0);
}

TEST_F(ReportFile, writesAPdfWithPages) {
    ASSERT_EQ(run({QStringLiteral("--out"), path("r.pdf")}), 0);
    const QByteArray pdf = read(path("r.pdf"));
    EXPECT_TRUE(pdf.startsWith("%PDF"));
    EXPECT_GE(pdf.count("/Type /Page\n") + pdf.count("/Type /Page "), 1);
}

TEST_F(ReportFile, keepsDecimalPointsUnderAGermanLocale) {
    const QLocale before;
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    std::setlocale(LC_NUMERIC, "de_DE.UTF-8");  // counts where that locale is installed
    const int html = run({QStringLiteral("--out"), path("r.html")});
    const int csv = run({QStringLiteral("--out"), path("r.csv"), QStringLiteral("--table"), QStringLiteral("steps")});
    std::setlocale(LC_NUMERIC, "C");
    QLocale::setDefault(before);
    ASSERT_EQ(html, 0);
    ASSERT_EQ(csv, 0);
    EXPECT_TRUE(parse(read(path("r.html"))).text.contains(QStringLiteral("0.00125")));
    EXPECT_TRUE(read(path("r.csv")).contains("3.25"));
    EXPECT_FALSE(read(path("r.csv")).contains("3,25"));
}

TEST_F(ReportFile, doesNotOverwriteUnlessForced) {
    QFile existing(path("r.html"));
    ASSERT_TRUE(existing.open(QIODevice::WriteOnly));
    existing.write("mine");
    existing.close();
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run({QStringLiteral("--out"), path("r.html")}), 2);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("exists already"), std::string::npos);
    EXPECT_EQ(read(path("r.html")), QByteArray("mine"));
    EXPECT_EQ(run({QStringLiteral("--out"), path("r.html"), QStringLiteral("--force")}), 0);
    EXPECT_TRUE(read(path("r.html")).startsWith("<!DOCTYPE html>"));
}

TEST_F(ReportFile, saysWhyAFolderIsNoUse) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run({QStringLiteral("--out"), path("missing/r.html")}), 1);
    const std::string missing = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(missing.rfind("amaxscope: ", 0), 0U) << missing;
    EXPECT_NE(missing.find("does not exist"), std::string::npos) << missing;
}

TEST_F(ReportFile, saysWhenTheFolderCannotBeWritten) {
    // Root may write anywhere but in /proc.
    const QString out = ::geteuid() == 0 ? QStringLiteral("/proc/r.html") : path("locked/r.html");
    if (::geteuid() != 0) {
        ASSERT_TRUE(QDir(m_folder.path()).mkdir(QStringLiteral("locked")));
        QFile::setPermissions(path("locked"), QFileDevice::ReadOwner | QFileDevice::ExeOwner);
    }
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run({QStringLiteral("--out"), out}), 1);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("could not be written"), std::string::npos);
}

TEST_F(ReportFile, refusesBadUsage) {
    const QString out = path("r.html");
    const std::vector<QStringList> wrong{{},
                                         {"--out"},
                                         {"--out", path("r.docx")},
                                         {"--out", out, "--runs", "x"},
                                         {"--out", out, "--runs", "7"},
                                         {"--out", out, "--baseline", "2"},
                                         {"--out", out, "--color", "red"},
                                         {"--out", database(), "--force"},
                                         {"--out", path("r.csv"), "--table", "nonsense"}};
    for (const QStringList& options : wrong) {
        ::testing::internal::CaptureStderr();
        EXPECT_EQ(run(options), 2) << options.join(QLatin1Char(' ')).toStdString();
        EXPECT_EQ(::testing::internal::GetCapturedStderr().rfind("amaxscope: ", 0), 0U);
        EXPECT_FALSE(QFile::exists(out));
    }
}

TEST_F(ReportFile, refusesAFileThatIsNoRunDatabase) {
    QFile other(path("other.amax"));
    ASSERT_TRUE(other.open(QIODevice::WriteOnly));
    other.write("PNG, really, and long enough to look like something that could be a file of some program");
    other.close();
    ::testing::internal::CaptureStderr();
    EXPECT_NE(gui::runReportCommand({path("other.amax"), QStringLiteral("--out"), path("r.html")}), 0);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("other.amax"), std::string::npos);
    EXPECT_FALSE(QFile::exists(path("r.html")));
}

}  // namespace

// Text export: quoting, numbers that read back the same, and JSON that stays JSON with non-finite numbers.
#include "profiling/exchange.h"
#include "recording.h"
#include "store/sqlite.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <clocale>
#include <limits>
#include <sstream>

using namespace profiling;

namespace {

std::string csv(const std::string& path, const std::string& table, const std::vector<RunId>& runs) {
    const auto store = Store::open(path);
    std::ostringstream out;
    exportCsv(*store, runs, table, out);
    return out.str();
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::size_t begin = 0;
    for (std::size_t end = text.find("\r\n"); end != std::string::npos; end = text.find("\r\n", begin)) {
        result.push_back(text.substr(begin, end - begin));
        begin = end + 2;
    }
    return result;
}

/// One run whose step has an odd loss and whose kernel and event have odd texts.
RunId recordOddities(const std::string& path) {
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("a \"quoted\", name\nin two lines"), {});
    recorder->activate();
    recorder->onTensors(test::twoTensors());
    recorder->onStepBegin(0);
    { const engine::Range kernel("ns::k<A, B>::run(int, float)", engine::RangeKind::Kernel, {3, 4}); }
    engine::StepStats stats = test::stepStats(0);
    stats.loss = std::numeric_limits<double>::infinity();
    stats.gradNorm = std::numeric_limits<double>::quiet_NaN();
    stats.lr = 0.1;
    std::vector<engine::TensorSnapshot> snapshots{test::snapshot(0, std::numeric_limits<float>::infinity(), 0.25F)};
    snapshots[0].smallest = 0.1F;
    snapshots[0].firstExponent = -4;
    snapshots[0].exponents = {97};
    recorder->onStepEnd(stats, snapshots);
    recorder->onEvent({0, 9, engine::Severity::Warning, "fallback", "bad bytes \xff and ä"});
    recorder->onGeneration({0, "0,3", "6,9", 1, 2});
    recorder->addSample("step_ms", 0, 41.25);
    recorder->close(RunStatus::Finished);
    return recorder->run();
}

/// One run with one snapshot: of a result, which was not cast, with a histogram.
RunId recordResult(const std::string& path) {
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("result"), RecordOptions{false});
    const std::vector<engine::TensorInfo> tensors{{0, "head", "output", "FP32", 10, 10}};
    recorder->onTensors(tensors);
    std::vector<engine::TensorSnapshot> snapshots{test::uncastSnapshot(0, 4.0F)};
    snapshots[0].smallest = 0.5F;
    snapshots[0].firstExponent = -1;
    snapshots[0].exponents = {1, 0, 5, 0xFFFFFFFFU};
    recorder->onStepEnd(test::stepStats(7), snapshots);
    recorder->close(RunStatus::Finished);
    return recorder->run();
}

}  // namespace

TEST(CsvExport, quotesNamesWithCommasAndQuotes) {
    const test::TemporaryFolder folder;
    const RunId run = recordOddities(folder.file("a.amax"));
    const std::vector<std::string> kernels = lines(csv(folder.file("a.amax"), "kernels", {run}));
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].rfind("run,name,calls,", 0), 0U);
    EXPECT_EQ(kernels[1].rfind("1,\"ns::k<A, B>::run(int, float)\",1,", 0), 0U) << kernels[1];
    const std::string runs = csv(folder.file("a.amax"), "runs", {run});
    EXPECT_NE(runs.find(",\"a \"\"quoted\"\", name\nin two lines\","), std::string::npos) << runs;
    EXPECT_NE(runs.find(",18446744073709551614,"), std::string::npos) << "the seed keeps all its bits";
}

TEST(CsvExport, writesShortestNumbersWhateverTheLocale) {
    const test::TemporaryFolder folder;
    const RunId run = recordOddities(folder.file("a.amax"));
    // Has an effect where the locale is installed; the numbers must be the same either way.
    std::setlocale(LC_ALL, "de_DE.UTF-8");
    const std::vector<std::string> steps = lines(csv(folder.file("a.amax"), "steps", {run}));
    const std::vector<std::string> snapshots = lines(csv(folder.file("a.amax"), "snapshots", {run}));
    std::setlocale(LC_ALL, "C");
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[1], "1,0,0,1000000,inf,,nan,0.1,1024,0,4096,1024000");
    ASSERT_EQ(snapshots.size(), 2U);
    EXPECT_EQ(snapshots[1],
              "1,layer.0.qkv,input,E4M3,0,inf,0.25,1,2,3,0,100,0.25,25,-inf,20,4,4,0.10000000149011612,inf");
}

TEST(CsvExport, everyTableHasAHeaderAndItsRows) {
    const test::TemporaryFolder folder;
    const RunId run = recordOddities(folder.file("a.amax"));
    EXPECT_EQ(exportTables().size(), 11U);
    Database(folder.file("a.amax"), OpenMode::ReadWriteCreate, 1000)
        .exec("INSERT INTO import_issue VALUES (1, 'ranges_dropped', 2, 7, 'slow, disk')");
    for (const std::string& table : exportTables()) {
        EXPECT_EQ(lines(csv(folder.file("a.amax"), table, {run})).size(), table == "tensors" ? 3U : 2U) << table;
    }
    EXPECT_EQ(lines(csv(folder.file("a.amax"), "tensors", {run}))[1], "1,layer.0.qkv,input,E4M3,64,32");
    EXPECT_EQ(lines(csv(folder.file("a.amax"), "exponents", {run}))[1], "1,layer.0.qkv,input,E4M3,0,-4,97");
    EXPECT_EQ(lines(csv(folder.file("a.amax"), "import_issues", {run}))[1],
              "1,ranges_dropped,warning,7,\"slow, disk\"");
    const std::vector<std::string> ranges = lines(csv(folder.file("a.amax"), "ranges", {run}));
    EXPECT_EQ(ranges[0].substr(ranges[0].find("duration_ns")), "duration_ns,flops,bytes");
    EXPECT_EQ(ranges[1].substr(ranges[1].size() - 4), ",3,4");
    EXPECT_EQ(lines(csv(folder.file("a.amax"), "samples", {run}))[1], "1,step_ms,0,41.25");
}

TEST(CsvExport, aBinadeIsALineAndTensorsThatAreNotCastLeaveFieldsEmpty) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = recordResult(path);
    const std::vector<std::string> snapshots = lines(csv(path, "snapshots", {run}));
    EXPECT_EQ(snapshots[0],
              "run,tensor,role,format,step,amax,scale,saturated,underflowed,zeros,non_finite,count,sq_error,sq_signal,"
              "headroom_bits,sqnr_db,scale_inv_min,scale_inv_max,smallest,dynamic_range_bits");
    ASSERT_EQ(snapshots.size(), 2U);
    EXPECT_EQ(snapshots[1], "1,head,output,FP32,7,4,,,,,,100,,,,,,,0.5,3");
    const std::vector<std::string> exponents = lines(csv(path, "exponents", {run}));
    ASSERT_EQ(exponents.size(), 5U);
    EXPECT_EQ(exponents[0], "run,tensor,role,format,step,exponent,elements");
    EXPECT_EQ(exponents[1], "1,head,output,FP32,7,-1,1");
    EXPECT_EQ(exponents[2], "1,head,output,FP32,7,0,0");
    EXPECT_EQ(exponents[4], "1,head,output,FP32,7,2,4294967295");
}

TEST(CsvExport, anUnknownTableOrRunIsAnErrorThatNamesTheKnownOnes) {
    const test::TemporaryFolder folder;
    const RunId run = recordOddities(folder.file("a.amax"));
    const std::string table = test::errorOf([&] { csv(folder.file("a.amax"), "stepz", {run}); });
    EXPECT_NE(table.find("runs, steps, snapshots, kernels, ranges, events, samples, generations, tensors,"),
              std::string::npos)
        << table;
    EXPECT_NE(test::errorOf([&] { csv(folder.file("a.amax"), "steps", {RunId{5}}); }).find("the runs are 1"),
              std::string::npos);
}

TEST(JsonExport, holdsHistogramsAndNullForWhatATensorDoesNotHave) {
    const test::TemporaryFolder folder;
    const RunId run = recordResult(folder.file("a.amax"));
    const auto store = Store::open(folder.file("a.amax"));
    std::ostringstream out;
    exportJson(*store, {run}, out);
    const auto tensor = nlohmann::json::parse(out.str()).at("runs").at(0).at("tensors").at(0);
    const auto& snapshot = tensor.at("snapshots").at(0);
    for (const char* absent : {"scale", "saturated", "underflowed", "zeros", "non_finite", "sq_error", "sq_signal",
                               "scale_inv_min", "scale_inv_max"}) {
        EXPECT_TRUE(snapshot.at(absent).is_null()) << absent;
    }
    EXPECT_EQ(snapshot.at("amax"), 4);
    EXPECT_EQ(snapshot.at("smallest"), 0.5);
    EXPECT_EQ(tensor.at("exponents").dump(), R"([{"counts":[1,0,5,4294967295],"first_exponent":-1,"step":7}])");
}

TEST(JsonExport, isValidAndKeepsNonFiniteNumbersAsText) {
    const test::TemporaryFolder folder;
    const RunId run = recordOddities(folder.file("a.amax"));
    const RunId plain = test::recordRun(folder.file("a.amax"), "plain", 2);
    Database(folder.file("a.amax"), OpenMode::ReadWriteCreate, 1000)
        .exec("INSERT INTO import_issue VALUES (1, 'ranges_dropped', 2, 7, 'slow disk')");
    const auto store = Store::open(folder.file("a.amax"));
    std::ostringstream out;
    exportJson(*store, {run, plain}, out);
    const auto json = nlohmann::json::parse(out.str());
    ASSERT_EQ(json.at("runs").size(), 2U);
    const auto& odd = json.at("runs").at(0);
    EXPECT_EQ(odd.at("steps").at(0).at("loss"), "inf");
    EXPECT_EQ(odd.at("steps").at(0).at("grad_norm"), "nan");
    EXPECT_TRUE(odd.at("steps").at(0).at("val_loss").is_null());
    EXPECT_EQ(odd.at("model").at("layers"), 4);
    EXPECT_EQ(odd.at("seed"), 0xFFFFFFFFFFFFFFFEU);
    EXPECT_EQ(odd.at("kernels").at(0).at("name"), "ns::k<A, B>::run(int, float)");
    EXPECT_EQ(odd.at("kernels").at(0).at("flops"), 3);
    EXPECT_EQ(odd.at("tensors").at(0).at("snapshots").at(0).at("amax"), "inf");
    EXPECT_TRUE(odd.at("tensors").at(1).at("snapshots").empty());
    EXPECT_EQ(odd.at("tensors").at(0).at("snapshots").at(0).at("scale_inv_max"), 4);
    EXPECT_EQ(odd.at("samples").at(0).at("value"), 41.25);
    EXPECT_EQ(odd.at("generations").at(0).at("total"), 2);
    EXPECT_EQ(odd.at("import_issues").at(0).at("count"), 7);
    EXPECT_EQ(odd.at("events").at(0).at("code"), "fallback");
    EXPECT_EQ(json.at("runs").at(1).at("steps").size(), 2U);
}

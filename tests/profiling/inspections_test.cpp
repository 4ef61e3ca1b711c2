// Inspections of model files: all rows or none, back as they were written, hidden, brought back and purged like runs.
#include "profiling/metrics.h"
#include "recording.h"
#include "store/sqlite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace profiling;

namespace {

InspectedTensor tensorNamed(const std::string& name, const std::string& recipe) {
    InspectedTensor t;
    t.tensor = name;
    t.recipe = recipe;
    t.role = "weight";
    t.format = recipe == "nvfp4" ? "E2M1" : "E4M3";
    t.dtype = "BF16";
    t.rows = 768;
    t.cols = 3072;
    t.count = 768 * 3072;
    t.amax = 2.5;
    t.smallest = 0x1p-30;
    t.scaleInvMin = 0x1p-12;
    t.scaleInvMax = 0x1p-7;
    t.saturated = 1;
    t.underflowed = 2;
    t.zeros = 3;
    t.nonFinite = 4;
    t.sqError = 0.1;
    t.sqSignal = 100.0;
    return t;
}

InspectionId inspect(Session& session, const std::string& path) {
    const auto writer = session.startInspection({path, "gpt2", 160});
    for (const char* recipe : {"delayed", "nvfp4"}) writer->add(tensorNamed("h.0.attn.c_attn.weight", recipe));
    writer->add(tensorNamed("h.0.a before h.0.attn", "delayed"));
    return writer->commit();
}

std::int64_t rowsIn(const std::string& path, const char* table) {
    Database database(path, OpenMode::ReadOnly, 1000);
    return database.queryInt((std::string("SELECT count(*) FROM ") + table).c_str());
}

}  // namespace

TEST(Inspections, comeBackAsTheyWereWritten) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const InspectionId id = inspect(*session, "models/ä.safetensors");
    const auto store = Store::open(path);
    const std::vector<InspectionRow> rows = store->inspections();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].id, id);
    EXPECT_EQ(rows[0].uuid.size(), 36U);
    EXPECT_GT(rows[0].atNs, 1'600'000'000'000'000'000);
    EXPECT_FALSE(rows[0].programVersion.empty());
    EXPECT_EQ(rows[0].description.path, "models/ä.safetensors");
    EXPECT_EQ(rows[0].description.architecture, "gpt2");
    EXPECT_EQ(rows[0].description.tensors, 160);
    EXPECT_EQ(rows[0].inspected, 3);
    EXPECT_EQ(store->fileInfo().inspections, 1);

    const std::vector<InspectedTensor> tensors = store->inspectedTensors(id);
    ASSERT_EQ(tensors.size(), 3U);
    EXPECT_EQ(tensors[2].tensor, "h.0.a before h.0.attn") << "in the order of inspection";
    const InspectedTensor& t = tensors[1];
    EXPECT_EQ(t.tensor, "h.0.attn.c_attn.weight");
    EXPECT_EQ(t.recipe, "nvfp4");
    EXPECT_EQ(t.role, "weight");
    EXPECT_EQ(t.format, "E2M1");
    EXPECT_EQ(t.dtype, "BF16");
    EXPECT_EQ(t.rows, 768);
    EXPECT_EQ(t.cols, 3072);
    EXPECT_EQ(t.count, 2359296);
    EXPECT_EQ(t.amax, 2.5);
    EXPECT_EQ(t.smallest, 0x1p-30);
    EXPECT_EQ(t.scaleInvMin, 0x1p-12);
    EXPECT_EQ(t.scaleInvMax, 0x1p-7);
    EXPECT_EQ(t.saturated, 1);
    EXPECT_EQ(t.underflowed, 2);
    EXPECT_EQ(t.zeros, 3);
    EXPECT_EQ(t.nonFinite, 4);
    EXPECT_EQ(t.sqError, 0.1);
    EXPECT_EQ(t.sqSignal, 100.0);
    EXPECT_DOUBLE_EQ(sqnrDb(t), 30.0);
    EXPECT_DOUBLE_EQ(underflowedShare(t), 2.0 / 2359296);
    EXPECT_DOUBLE_EQ(saturatedShare(t), 1.0 / 2359296);
    EXPECT_DOUBLE_EQ(dynamicRangeBits(t), std::log2(2.5) + 30);
}

TEST(Inspections, keepWhatIsNotANumberAndWhatIsInfinite) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto writer = session->startInspection({"zeros.safetensors", "", 1});
    InspectedTensor zeros;
    zeros.amax = std::numeric_limits<double>::infinity();
    writer->add(zeros);
    const InspectionId id = writer->commit();
    const InspectedTensor read = Store::open(folder.file("a.amax"))->inspectedTensors(id).at(0);
    EXPECT_EQ(read.amax, std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(read.smallest));
    EXPECT_TRUE(std::isnan(read.scaleInvMin));
    EXPECT_TRUE(std::isnan(read.scaleInvMax));
    EXPECT_TRUE(std::isnan(dynamicRangeBits(read)));
}

TEST(Inspections, nothingIsVisibleBeforeTheCommitAndNothingStaysOfOneThatWasGivenUp) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    {
        const auto writer = session->startInspection({"model.safetensors", "llama", 9});
        for (int i = 0; i < 1000; ++i) writer->add(tensorNamed("t" + std::to_string(i), "mxfp8"));
        EXPECT_EQ(rowsIn(path, "inspection") + rowsIn(path, "inspected_tensor"), 0);
        // Others write meanwhile.
        EXPECT_EQ(Store::open(path)->steps(test::recordRun(path, "run", 2)).size(), 2U);
    }
    EXPECT_EQ(rowsIn(path, "inspection") + rowsIn(path, "inspected_tensor"), 0);
}

TEST(Inspections, aCommitThatFailsLeavesNothingAndCanBeTriedAgain) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const auto writer = session->startInspection({"model.safetensors", "llama", 2});
    for (const char* name : {"first", "second"}) writer->add(tensorNamed(name, "block"));
    // A trigger stands in for the full disk: the second row cannot be written until it is dropped.
    Database other(path, OpenMode::ReadWriteCreate, 5000);
    other.exec(
        "CREATE TRIGGER full BEFORE INSERT ON inspected_tensor WHEN new.i = 1"
        " BEGIN SELECT raise(ABORT, 'no room'); END");
    EXPECT_NE(test::errorOf([&] { writer->commit(); }).find("no room"), std::string::npos);
    EXPECT_EQ(rowsIn(path, "inspection") + rowsIn(path, "inspected_tensor"), 0);
    other.exec("DROP TRIGGER full");
    const InspectionId id = writer->commit();
    EXPECT_EQ(Store::open(path)->inspectedTensors(id).size(), 2U);
    EXPECT_NE(test::errorOf([&] { writer->commit(); }).find("is written already"), std::string::npos);
    EXPECT_EQ(rowsIn(path, "inspection"), 1);
}

TEST(Inspections, areListedNewestFirstHiddenAndBroughtBack) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const InspectionId first = inspect(*session, "first");
    const InspectionId second = inspect(*session, "second");
    const auto store = Store::open(path);
    ASSERT_EQ(store->inspections().size(), 2U);
    EXPECT_EQ(store->inspections()[0].id, second);
    session->setInspectionsDeleted({first}, true);
    ASSERT_EQ(store->inspections().size(), 1U);
    EXPECT_EQ(store->fileInfo().inspections, 1);
    EXPECT_NE(test::errorOf([&] { store->inspectedTensors(first); }).find("the inspections are 2"), std::string::npos);
    Database views(path, OpenMode::ReadOnly, 1000);
    EXPECT_EQ(views.queryInt("SELECT count(*) FROM inspected_named"), 3);
    EXPECT_EQ(views.queryInt("SELECT count(*) FROM inspected_named WHERE path = 'second' AND recipe = 'delayed'"), 2);
    session->setInspectionsDeleted({first}, false);
    EXPECT_EQ(store->inspectedTensors(first).size(), 3U);
}

TEST(Inspections, purgingRemovesHiddenOnesForGoodAndNoOther) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const InspectionId kept = inspect(*session, "kept");
    const InspectionId gone = inspect(*session, "gone");
    session->setInspectionsDeleted({gone}, true);
    session->purgeDeletedRuns();
    EXPECT_EQ(rowsIn(path, "inspection"), 1);
    EXPECT_EQ(rowsIn(path, "inspected_tensor"), 3);
    EXPECT_EQ(Store::open(path)->inspectedTensors(kept).size(), 3U);
    EXPECT_GT(inspect(*session, "new").value, gone.value) << "an id is never used twice";
}

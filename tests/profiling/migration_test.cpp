// A file recorded by the program of schema version 1: read as it is, brought up to date when opened for writing, and
// refused by programs that are older than the file.
#include "recording.h"
#include "store/database_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

using namespace profiling;
namespace fs = std::filesystem;

namespace {

/// A copy of the file in a folder of its own.
std::string copyOfVersion1(const test::TemporaryFolder& folder) {
    const std::string path = folder.file("old.amax");
    fs::copy_file(TEST_VERSION_1, path);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    return path;
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> texts(Database& database, const std::string& sql) {
    std::vector<std::string> rows;
    Statement query(database, sql);
    while (query.step()) rows.push_back(query.text(0));
    return rows;
}

using Tables = std::map<std::string, std::vector<std::string>>;

Tables columnsOf(Database& database) {
    Tables tables;
    for (const std::string& table : texts(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
        tables[table] = texts(database, "SELECT name FROM pragma_table_info('" + table + "')");
    }
    return tables;
}

/// Every row as text that differs when a byte of a value does: quote() writes numbers so that they read back the same.
Tables rowsOf(const std::string& path, const Tables& columns) {
    Database database(path, OpenMode::ReadOnly, 1000);
    Tables rows;
    for (const auto& [table, names] : columns) {
        std::string row;
        for (const std::string& name : names) {
            row += (row.empty() ? "" : " || ' ' || ");
            row += "quote(\"" + name + "\")";
        }
        rows[table] = texts(database, "SELECT " + row + " FROM \"" + table + "\" ORDER BY 1");
    }
    return rows;
}

Tables columnsOfVersion1() {
    Database database(TEST_VERSION_1, OpenMode::Immutable, 1000);
    return columnsOf(database);
}

std::int64_t versionOf(const std::string& path) {
    return Database(path, OpenMode::ReadOnly, 1000).queryInt("PRAGMA user_version");
}

/// What SQLite knows of every table, index and view, but for the text that made it.
std::set<std::string> structureOf(const std::string& path) {
    Database database(path, OpenMode::ReadOnly, 1000);
    const std::vector<std::string> lines = texts(
        database,
        "SELECT format('%s %s.%d %s %s notnull=%d default=%s pk=%d strict=%d rowid=%d', l.type, l.name, c.cid, c.name,"
        " c.type, c.\"notnull\", c.dflt_value, c.pk, l.strict, l.wr = 0)"
        " FROM pragma_table_list AS l JOIN pragma_table_info(l.name) AS c"
        " WHERE l.schema = 'main' AND l.name <> 'sqlite_schema'"
        " UNION ALL SELECT format('foreign key of %s: %s -> %s.%s %s', l.name, f.\"from\", f.\"table\", f.\"to\","
        " f.on_delete) FROM pragma_table_list AS l JOIN pragma_foreign_key_list(l.name) AS f WHERE l.schema = 'main'"
        " UNION ALL SELECT format('%s %s of %s', type, name, tbl_name) FROM sqlite_schema WHERE type = 'index'");
    return {lines.begin(), lines.end()};
}

}  // namespace

TEST(Migration, keepsEveryOldRowByteForByte) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    ASSERT_EQ(versionOf(path), 1);
    const Tables columns = columnsOfVersion1();
    const Tables before = rowsOf(path, columns);
    ASSERT_EQ(before.at("scale_snapshot").size(), 45U);
    ASSERT_EQ(before.at("run").size(), 3U);
    ASSERT_EQ(before.at("kernel").size(), 40U);
    { const auto session = Session::open(path); }
    EXPECT_EQ(versionOf(path), kSchemaVersion);
    EXPECT_EQ(rowsOf(path, columns), before);
    Database database(path, OpenMode::ReadOnly, 1000);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM scale_snapshot WHERE scale_inv_min IS NOT NULL"
                                " OR scale_inv_max IS NOT NULL OR smallest IS NOT NULL"),
              0)
        << "nothing is made up for rows recorded without them";
    EXPECT_EQ(texts(database, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
}

TEST(Migration, makesTheFileTheSameAsANewOne) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    const std::string fresh = folder.file("new.amax");
    { const auto session = Session::open(path); }
    { const auto session = Session::open(fresh); }
    const std::set<std::string> structure = structureOf(fresh);
    EXPECT_GT(structure.size(), 100U);
    EXPECT_EQ(structureOf(path), structure);
}

TEST(Migration, aMigratedFileTakesNewRunsBesideTheOldOnes) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    const RunId run = test::recordRun(path, "new", 3);
    EXPECT_EQ(run, RunId{4});
    const auto store = Store::open(path);
    EXPECT_EQ(store->runs().size(), 3U) << "the deleted one stays hidden";
    EXPECT_EQ(store->run(RunId{1}).name, "recorded by \"0.1.0\"");
    EXPECT_EQ(store->steps(RunId{1}).size(), 3U);
    EXPECT_EQ(store->steps(run).size(), 3U);
    EXPECT_EQ(store->fileInfo().schemaVersion, 2);
    Database views(path, OpenMode::ReadOnly, 1000);
    EXPECT_EQ(views.queryInt("SELECT count(*) FROM snapshot_named WHERE smallest IS NULL"), 45 + 6);
}

TEST(Migration, aFailureLeavesTheFileAsItWas) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    {
        // In the way of the migration's last statements.
        Database other(path, OpenMode::ReadWriteCreate, 1000);
        other.exec("CREATE TABLE inspected_tensor(theirs)");
    }
    const std::string text = test::errorOf([&] { Session::open(path); });
    EXPECT_NE(text.find("inspected_tensor"), std::string::npos) << text;
    EXPECT_EQ(versionOf(path), 1);
    Database database(path, OpenMode::ReadOnly, 1000);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM pragma_table_info('scale_snapshot')"), 12);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM sqlite_schema WHERE name = 'inspection'"), 0);
}

TEST(OldFiles, areReadWithoutBeingChanged) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    const std::string before = contents(path);
    {
        const auto store = Store::open(path);
        EXPECT_EQ(store->fileInfo().schemaVersion, 1);
        EXPECT_EQ(store->fileInfo().inspections, 0);
        const std::vector<TensorRow> tensors = store->tensors(RunId{1});
        ASSERT_EQ(tensors.size(), 15U);
        for (const TensorRow& tensor : tensors) {
            const std::vector<SnapshotRow> snapshots = store->snapshots(RunId{1}, tensor.id);
            ASSERT_EQ(snapshots.size(), 3U);
            EXPECT_EQ(snapshots[0].scale, 1.0) << "the first step of delayed scaling";
            EXPECT_GT(snapshots[2].sqSignal, 0);
            EXPECT_TRUE(std::isnan(snapshots[2].scaleInvMin));
            EXPECT_TRUE(std::isnan(snapshots[2].scaleInvMax));
            EXPECT_TRUE(std::isnan(snapshots[2].smallest));
            ASSERT_TRUE(store->snapshotAt(RunId{1}, tensor.id, 1).has_value());
            EXPECT_EQ(store->snapshotAt(RunId{1}, tensor.id, 1)->amax, snapshots[1].amax);
            EXPECT_FALSE(store->exponentsAt(RunId{1}, tensor.id, 9).has_value());
            EXPECT_TRUE(store->exponentSteps(RunId{1}, tensor.id).empty());
        }
        EXPECT_EQ(store->heatMap(RunId{1}, HeatMetric::Headroom, {}, 100).columns, 3);
        EXPECT_TRUE(store->inspections().empty());
        EXPECT_NE(test::errorOf([&] { store->inspectedTensors(InspectionId{1}); }).find("holds no inspections"),
                  std::string::npos);
    }
    EXPECT_EQ(contents(path), before);
    EXPECT_EQ(versionOf(path), 1);
}

TEST(OldFiles, aStoreThatIsOpenSeesWhatAMigrationAdds) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    const auto store = Store::open(path);
    EXPECT_TRUE(std::isnan(store->snapshots(RunId{1}, TensorId{1}).at(0).smallest));
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("new"), RecordOptions{false});
    recorder->onTensors(test::twoTensors());
    std::vector<engine::TensorSnapshot> taken{test::snapshot(0, 1.5F, 256.0F)};
    taken[0].smallest = 0.25F;
    recorder->onStepEnd(test::stepStats(0), taken);
    recorder->close(RunStatus::Finished);
    const TensorId tensor = store->tensors(recorder->run()).at(0).id;
    EXPECT_EQ(store->snapshots(recorder->run(), tensor).at(0).smallest, 0.25);
    EXPECT_EQ(store->fileInfo().schemaVersion, 2);
}

TEST(NewerFiles, areRefusedByNamingBothVersionsEvenWhenOnlyTheWalTellsTheirs) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    Database newer(path, OpenMode::ReadWriteCreate, 1000);
    newer.exec("PRAGMA wal_autocheckpoint = 0");
    newer.exec("PRAGMA user_version = 3");
    ASSERT_EQ(contents(path)[63], '\1') << "the header still has the old version";
    for (const std::string& text :
         {test::errorOf([&] { Store::open(path); }), test::errorOf([&] { Session::open(path); })}) {
        EXPECT_NE(text.find("schema version 3, this program knows 2"), std::string::npos) << text;
    }
}

TEST(NewerFiles, aVersionBeforeTheFirstIsRefusedToo) {
    const test::TemporaryFolder folder;
    const std::string path = copyOfVersion1(folder);
    Database(path, OpenMode::ReadWriteCreate, 1000).exec("PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    const std::string text = test::errorOf([&] { Store::open(path); });
    EXPECT_NE(text.find("its schema version is 0, this program reads 1 to 2"), std::string::npos) << text;
    EXPECT_NE(test::errorOf([&] { Session::open(path); }).find("schema version 0 cannot be brought to version 2"),
              std::string::npos);
}

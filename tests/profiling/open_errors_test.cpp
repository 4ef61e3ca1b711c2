// Files that cannot be opened, and odd names that can: each says what, why and what to do, and harms nothing.
#include "recording.h"
#include "store/database_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace profiling;
namespace fs = std::filesystem;

namespace {

std::string openText(const std::string& path) {
    return test::errorOf([&] { Store::open(path); });
}

std::string recordText(const std::string& path) {
    return test::errorOf([&] { Session::open(path); });
}

void expectContains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks \"" << part << "\"";
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t filesIn(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

/// Permissions mean nothing to root: while this lives the process is nobody.
class WithoutRootRights {
public:
    WithoutRootRights() : m_root(geteuid() == 0) {
        if (m_root && seteuid(65534) != 0) m_root = false;
    }
    ~WithoutRootRights() {
        if (m_root && seteuid(0) != 0) std::abort();
    }
    WithoutRootRights(const WithoutRootRights&) = delete;
    WithoutRootRights& operator=(const WithoutRootRights&) = delete;

private:
    bool m_root;
};

constexpr auto kReadOnlyFolder = fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read |
                                 fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec;

constexpr auto kReadOnlyFile = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;

}  // namespace

TEST(OpenErrors, aMissingFileAndAMissingFolderAreNamed) {
    const test::TemporaryFolder folder;
    expectContains(openText(folder.file("none.amax")), "none.amax: no such file: ");
    EXPECT_EQ(filesIn(folder.path()), 0U);
    expectContains(recordText(folder.file("sub/a.amax")), "its folder does not exist: create ");
    expectContains(openText(""), "no file name");
}

TEST(OpenErrors, aFolderIsNotAFile) {
    const test::TemporaryFolder folder;
    expectContains(openText(folder.path().string()), "is a folder");
    expectContains(recordText(folder.path().string()), "is a folder");
}

TEST(OpenErrors, aPictureIsNotADatabaseAndStaysAsItWas) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("picture.amax");
    const std::string png = std::string("\x89PNG\r\n\x1a\n", 8) + std::string(500, 'x');
    std::ofstream(path, std::ios::binary) << png;
    expectContains(openText(path), "not a run database");
    expectContains(recordText(path), "not a run database");
    EXPECT_EQ(contents(path), png);
    EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(OpenErrors, anotherProgramsDatabaseIsNamedByItsIdAndStaysAsItWas) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("other.db");
    {
        Database other(path, OpenMode::ReadWriteCreate, 100);
        other.exec("PRAGMA application_id = 305419896");
        other.exec("CREATE TABLE theirs(x)");
    }
    const std::string before = contents(path);
    expectContains(openText(path), "application id 0x12345678, ours is 0x414D4158");
    expectContains(recordText(path), "application id 0x12345678");
    EXPECT_EQ(contents(path), before);
    EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(OpenErrors, nothingIsMadeBesideAnotherProgramsDatabaseInWalMode) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("other.db");
    Database(path, OpenMode::ReadWriteCreate, 100).exec("PRAGMA journal_mode = WAL; CREATE TABLE theirs(x)");
    ASSERT_EQ(filesIn(folder.path()), 1U);
    expectContains(openText(path), "a database of another program");
    expectContains(recordText(path), "a database of another program");
    EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(OpenErrors, aPipeIsNotAFile) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("pipe.amax");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    expectContains(openText(path), "not a regular file");
    expectContains(recordText(path), "not a regular file");
}

TEST(OpenErrors, aNewerSchemaIsRefusedByNamingBothVersions) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "run", 2);
    Database(path, OpenMode::ReadWriteCreate, 1000).exec("PRAGMA user_version = 9");
    expectContains(openText(path), "schema version 9, this program knows 2");
    expectContains(recordText(path), "schema version 9, this program knows 2");
}

TEST(OpenErrors, anEmptyFileCanBeRecordedIntoButNotRead) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    std::ofstream(path).flush();
    expectContains(openText(path), "not a run database");
    EXPECT_EQ(recordText(path), "");
    EXPECT_EQ(openText(path), "");
}

TEST(OpenErrors, aTruncatedFileIsReportedAsDamagedOrForeign) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "run", 200);
    fs::resize_file(path, 5000);
    const std::string text = test::errorOf([&] { Store::open(path)->runs(); });
    expectContains(text, "damaged");
    expectContains(text, "use a copy");
}

TEST(OpenErrors, anExclusivelyLockedFileIsInUse) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "run", 2);
    Database other(path, OpenMode::ReadWriteCreate, 100);
    other.exec("PRAGMA locking_mode = EXCLUSIVE");
    other.exec("BEGIN EXCLUSIVE");
    std::string writing;
    std::thread writer([&] { writing = recordText(path); });
    const std::string reading = openText(path);
    writer.join();
    expectContains(reading, "in use by another program");
    expectContains(writing, "in use by another program");
}

TEST(OpenErrors, aFileThatMayNotBeReadOrWrittenSaysSo) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "run", 2);
    const std::string unreadable = folder.file("secret.amax");
    fs::copy_file(path, unreadable);
    fs::permissions(unreadable, fs::perms::none);
    fs::permissions(folder.path(), kReadOnlyFolder);
    fs::permissions(path, kReadOnlyFile);
    const WithoutRootRights nobody;
    expectContains(recordText(path), "not writable");
    expectContains(openText(unreadable), "cannot be read (Permission denied)");
    expectContains(recordText(folder.file("new.amax")), "cannot be opened");
}

TEST(OpenErrors, aFileInAReadOnlyFolderIsReadable) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = test::recordRun(path, "run", 6);
    fs::permissions(folder.path(), kReadOnlyFolder);
    fs::permissions(path, kReadOnlyFile);
    const WithoutRootRights nobody;
    EXPECT_EQ(Store::open(path)->steps(run).size(), 6U);
    EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(OpenErrors, aReadOnlyFolderWithRowsOnlyInTheWalGivesAPlainReason) {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder copy;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("in the WAL"), {});
    fs::copy_file(path, copy.file("a.amax"));
    fs::copy_file(path + "-wal", copy.file("a.amax-wal"));
    ASSERT_GT(fs::file_size(copy.file("a.amax-wal")), 0U);
    for (const auto& entry : fs::directory_iterator(copy.path())) fs::permissions(entry.path(), kReadOnlyFolder);
    fs::permissions(copy.path(), kReadOnlyFolder);
    recorder->close(RunStatus::Finished);
    const WithoutRootRights nobody;
    expectContains(openText(copy.file("a.amax")), "copy both files");
}

TEST(OpenErrors, pathsWithSpacesPercentSignsAndUnicodeWork) {
    const test::TemporaryFolder folder;
    const std::string place = folder.file("my runs/ä ü/50%BD#1?x=y&z");
    fs::create_directories(place);
    const std::string path = place + "/a b%20c.amax";
    const RunId run = test::recordRun(path, "odd", 2);
    EXPECT_TRUE(fs::exists(path));
    EXPECT_EQ(Store::open(path)->steps(run).size(), 2U);
}

TEST(OpenErrors, anUnknownRunListsTheKnownOnes) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "one", 1);
    test::recordRun(path, "two", 1);
    const auto store = Store::open(path);
    expectContains(test::errorOf([&] { store->run(RunId{7}); }), "run 7: not in ");
    expectContains(test::errorOf([&] { store->run(RunId{7}); }), "the runs are 1, 2");
}

TEST(OpenErrors, aFullDatabaseReadsAsAFullDisk) {
    const test::TemporaryFolder folder;
    Database database(folder.file("a.db"), OpenMode::ReadWriteCreate, 100);
    database.exec("CREATE TABLE t(x); PRAGMA max_page_count = 4");
    const std::string text = test::errorOf([&] { database.exec("INSERT INTO t VALUES (zeroblob(100000))"); });
    expectContains(text, "the disk is full");
    expectContains(text, "free some space");
}

TEST(Migrations, runOneAfterTheOtherAndAFailureLeavesTheFileAsItWas) {
    const test::TemporaryFolder folder;
    Database database(folder.file("a.db"), OpenMode::ReadWriteCreate, 100);
    database.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1); PRAGMA user_version = 1");
    const std::vector<Migration> good{{2, "UPDATE t SET b = a + 1"}, {1, "ALTER TABLE t ADD COLUMN b"}};
    {
        Transaction transaction(database);
        expectContains(test::errorOf([&] { migrate(database, 4, good); }),
                       "schema version 3 cannot be brought to version 4");
    }
    EXPECT_EQ(database.queryInt("PRAGMA user_version"), 1);
    {
        Transaction transaction(database);
        migrate(database, 3, good);
        transaction.commit();
    }
    EXPECT_EQ(database.queryInt("PRAGMA user_version"), 3);
    EXPECT_EQ(database.queryInt("SELECT b FROM t"), 2);
}

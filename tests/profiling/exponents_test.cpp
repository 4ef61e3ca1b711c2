// Exponent histograms from the observer into the file and back, and what they tell about formats. Expected shares are
// counted by hand from the histogram beside them.
#include "store/exponents.h"
#include "profiling/metrics.h"
#include "recording.h"
#include "store/sqlite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace profiling;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

engine::TensorSnapshot withExponents(int tensor, int first, std::vector<std::uint32_t> counts) {
    engine::TensorSnapshot snapshot = test::snapshot(tensor, 1.5F, 256.0F);
    snapshot.firstExponent = first;
    snapshot.exponents = std::move(counts);
    return snapshot;
}

/// Histograms of the first tensor at steps 0, 10 and 20; snapshots at every fifth step.
RunId recordHistograms(const std::string& path) {
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("binades"), RecordOptions{false});
    recorder->onTensors(test::twoTensors());
    for (std::int64_t step = 0; step <= 20; step += 5) {
        std::vector<engine::TensorSnapshot> taken{test::snapshot(1, 1, 1)};
        const auto count = static_cast<std::uint32_t>(step + 1);
        taken.push_back(step % 10 == 0 ? withExponents(0, -3, {count, 0, 0xFFFFFFFFU}) : test::snapshot(0, 1, 1));
        recorder->onStepEnd(test::stepStats(step), taken);
    }
    recorder->close(RunStatus::Finished);
    return recorder->run();
}

/// 2 elements in [1/8, 1/4), 3 in [1/4, 1/2), 5 in [1/2, 1) and 10 in [1, 2); 80 zeros.
const ExponentRow kHistogram{0, -3, {2, 3, 5, 10}};
SnapshotRow hundredElements() {
    SnapshotRow snapshot{0, 1.75, 1.0, 0, 0, 80, 0, 100, 0, 1};
    snapshot.smallest = 0.125;
    return snapshot;
}

void expectShares(const ShareBounds& bounds, double atLeast, double atMost) {
    EXPECT_DOUBLE_EQ(bounds.atLeast, atLeast);
    EXPECT_DOUBLE_EQ(bounds.atMost, atMost);
}

}  // namespace

TEST(Exponents, comeBackAsTheyWereObserved) {
    const test::TemporaryFolder folder;
    const RunId run = recordHistograms(folder.file("a.amax"));
    const auto store = Store::open(folder.file("a.amax"));
    const std::vector<TensorRow> tensors = store->tensors(run);
    const std::optional<ExponentRow> row = store->exponentsAt(run, tensors[0].id, 10);
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->step, 10);
    EXPECT_EQ(row->firstExponent, -3);
    EXPECT_EQ(row->counts, (std::vector<std::uint32_t>{11, 0, 0xFFFFFFFFU}));
    EXPECT_EQ(store->exponents(run, tensors[0].id).size(), 3U);
    EXPECT_EQ(store->exponents(run, tensors[0].id)[2].counts[0], 21U);
    EXPECT_EQ(store->snapshots(run, tensors[0].id).size(), 5U);
    EXPECT_TRUE(store->exponents(run, tensors[1].id).empty());
}

TEST(Exponents, theNearestStepAtOrBeforeIsFound) {
    const test::TemporaryFolder folder;
    const RunId run = recordHistograms(folder.file("a.amax"));
    const auto store = Store::open(folder.file("a.amax"));
    const TensorId tensor = store->tensors(run)[0].id;
    EXPECT_EQ(store->exponentSteps(run, tensor), (std::vector<std::int64_t>{0, 10, 20}));
    for (const auto& [asked, found] : {std::pair{0, 0}, {9, 0}, {10, 10}, {19, 10}, {20, 20}, {999, 20}}) {
        EXPECT_EQ(store->exponentsAt(run, tensor, asked)->step, found) << asked;
    }
    EXPECT_FALSE(store->exponentsAt(run, tensor, -1).has_value());
    EXPECT_EQ(store->snapshotAt(run, tensor, 19)->step, 15);
    EXPECT_FALSE(store->snapshotAt(run, tensor, -1).has_value());
}

TEST(Exponents, ofHiddenRunsAreHiddenAndPurgedWithThem) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = recordHistograms(path);
    const auto store = Store::open(path);
    const TensorId tensor = store->tensors(run)[0].id;
    const auto session = Session::open(path);
    session->setRunsDeleted({run}, true);
    EXPECT_FALSE(store->exponentsAt(run, tensor, 99).has_value());
    EXPECT_FALSE(store->snapshotAt(run, tensor, 99).has_value());
    EXPECT_TRUE(store->exponents(run, tensor).empty());
    EXPECT_TRUE(store->exponentSteps(run, tensor).empty());
    session->purgeDeletedRuns();
    EXPECT_EQ(Database(path, OpenMode::ReadOnly, 1000).queryInt("SELECT count(*) FROM exponent_hist"), 0);
}

TEST(Exponents, areStoredAsLittleEndianBytes) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    recordHistograms(path);
    Database database(path, OpenMode::ReadOnly, 1000);
    Statement query(database, "SELECT hex(counts), first_exponent FROM exponent_hist WHERE step = 20");
    ASSERT_TRUE(query.step());
    EXPECT_EQ(query.text(0), "1500000000000000FFFFFFFF");
    EXPECT_EQ(query.integer(1), -3);
    std::vector<unsigned char> bytes{99};
    encodeCounts(std::vector<std::uint32_t>{0x04030201U}, bytes);
    EXPECT_EQ(bytes, (std::vector<unsigned char>{1, 2, 3, 4}));
}

TEST(Exponents, damagedOnesAreReportedAndNotGuessed) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = recordHistograms(path);
    for (const char* damage : {"counts = x'010203'", "counts = x'', first_exponent = 1025",
                               "first_exponent = -9000000000000000000", "counts = zeroblob(40000)"}) {
        Database(path, OpenMode::ReadWriteCreate, 1000)
            .exec(std::string(
                      "UPDATE exponent_hist SET counts = x'01000000', first_exponent = 0; UPDATE exponent_hist SET ") +
                  damage);
        const auto store = Store::open(path);
        const TensorId tensor = store->tensors(run)[0].id;
        const std::string text = test::errorOf([&] { store->exponentsAt(run, tensor, 10); });
        EXPECT_NE(text.find("the exponent histogram of step 10 is damaged"), std::string::npos) << damage << text;
        EXPECT_NE(test::errorOf([&] { store->exponents(run, tensor); }), "") << damage;
    }
}

TEST(ExponentShares, areExactWhereTheLimitIsBetweenTwoBinades) {
    // E2M1: smallest subnormal 0.5. Scale 1: the limit is 1/2, below which lie 2 + 3; scale 4: 1/8, nothing.
    expectShares(belowSubnormalShare(kHistogram, hundredElements(), "E2M1", 1), 0.05, 0.05);
    expectShares(belowSubnormalShare(kHistogram, hundredElements(), "E2M1", 0.5), 0.10, 0.10);
    expectShares(belowSubnormalShare(kHistogram, hundredElements(), "E2M1", 4), 0, 0);
    // E4M3: smallest subnormal 2^-9; at scale 2^-8 the limit is 1/2, at 2^-7 it is 1/4.
    expectShares(belowSubnormalShare(kHistogram, hundredElements(), "E4M3", 0x1p-8), 0.05, 0.05);
    expectShares(belowSubnormalShare(kHistogram, hundredElements(), "E4M3", 0x1p-7), 0.02, 0.02);
}

TEST(ExponentShares, areBoundsWhereTheLimitCutsABinade) {
    // E2M1, scale 2/3: the limit is 3/4, which cuts [1/2, 1) with its 5 elements.
    expectShares(belowSubnormalShare(kHistogram, hundredElements(), "E2M1", 2.0 / 3), 0.05, 0.10);
    // Its largest value is 6: at scale 8 the limit is 3/4 again, with 10 above for certain; at 6 all 10 may be.
    expectShares(aboveMaxShare(kHistogram, hundredElements(), "E2M1", 8), 0.10, 0.15);
    expectShares(aboveMaxShare(kHistogram, hundredElements(), "E2M1", 5), 0, 0.10);
    // E5M2 at scale 2^17: 57344 / 2^17 = 7/16.
    expectShares(aboveMaxShare(kHistogram, hundredElements(), "E5M2", 0x1p17), 0.15, 0.18);
}

TEST(ExponentShares, amaxAndTheSmallestElementDecideTheOutermostBinades) {
    // 6 / 3 = 2 and 6 / 3.4 = 1.76: amax 1.75 is below both, although [1, 2) is cut by the second.
    expectShares(aboveMaxShare(kHistogram, hundredElements(), "E2M1", 3), 0, 0);
    expectShares(aboveMaxShare(kHistogram, hundredElements(), "E2M1", 3.4), 0, 0);
    // 0.5 / 3.9 = 0.128 cuts [1/8, 1/4); a smallest element of 0.13 is above it.
    SnapshotRow snapshot = hundredElements();
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E2M1", 3.9), 0, 0.02);
    snapshot.smallest = 0.13;
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E2M1", 3.9), 0, 0);
    // 0.5 / 0.28 = 1.79: everything but the zeros is below it.
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E2M1", 0.28), 0.20, 0.20);
}

TEST(ExponentShares, countFp32SubnormalsThatAreInNoBinade) {
    // 100 elements, 20 in binades, 75 zeros, 1 not finite: 4 are FP32 subnormals.
    SnapshotRow snapshot = hundredElements();
    snapshot.zeros = 75;
    snapshot.nonFinite = 1;
    snapshot.smallest = 0x1p-140;
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E2M1", 1), 0.09, 0.09);
    // E4M3 at scale 2^119: the limit is 2^-128, and the subnormals are on either side of it.
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E4M3", 0x1p119), 0, 0.04);
    // A tensor that was not cast has no count of zeros: all 80 that are in no binade may be subnormals.
    snapshot.scale = kNaN;
    snapshot.zeros = snapshot.nonFinite = 0;
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E2M1", 1), 0.05, 0.85);
    snapshot.smallest = 0.125;
    expectShares(belowSubnormalShare(kHistogram, snapshot, "E2M1", 1), 0.05, 0.05);
}

TEST(ExponentShares, leaveInfinitiesOutAndKnowNoLimitsOfWideFormats) {
    SnapshotRow snapshot = hundredElements();
    snapshot.amax = kInfinity;
    expectShares(aboveMaxShare(kHistogram, snapshot, "E2M1", 5), 0, 0.10);
    EXPECT_TRUE(std::isnan(aboveMaxShare(kHistogram, snapshot, "BF16", 1).atMost));
    EXPECT_TRUE(std::isnan(belowSubnormalShare(kHistogram, snapshot, "FP32", 1).atLeast));
    EXPECT_TRUE(std::isnan(belowSubnormalShare(kHistogram, snapshot, "E4M3", kNaN).atLeast));
    snapshot.count = 0;
    EXPECT_TRUE(std::isnan(aboveMaxShare(kHistogram, snapshot, "E4M3", 1).atLeast));
}

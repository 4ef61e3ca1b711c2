// The kernel table and the tensor list as models: roles, sorting by value, text for the clipboard.
#include "models/summary_model.h"
#include "models/tensor_list_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QSortFilterProxyModel>

#include <limits>

using namespace gui;

namespace {

profiling::SummaryRow rowOf(const std::string& name, std::int64_t totalNs, double flops) {
    profiling::SummaryRow row;
    row.name = name;
    row.kind = "kernel";
    row.calls = 1200;
    row.totalNs = totalNs;
    row.meanNs = static_cast<double>(totalNs) / 1200;
    row.share = 0.5;
    row.flops = flops;
    return row;
}

std::shared_ptr<const SummaryModel::Rows> threeRows() {
    return std::make_shared<const SummaryModel::Rows>(SummaryModel::Rows{
        rowOf("gemm", 15100000, 15.1e9), rowOf("gelu", 900000, 0), rowOf("attention", 122000000, 1e9)});
}

profiling::HeatMap smallMap() {
    profiling::HeatMap map;
    for (std::int64_t id = 1; id <= 3; ++id) {
        map.tensors.push_back({profiling::TensorId{id}, "layer." + std::to_string(id), "input", "E4M3", 8, 8});
    }
    map.columns = 2;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    map.values = {3.0F, 2.0F, nan, nan, 5.0F, -1.0F};
    return map;
}

}  // namespace

TEST(SummaryModel, behavesAsAModelWhileRowsChange) {
    SummaryModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setRows(threeRows());
    model.setRows(threeRows());
    model.setRows(std::make_shared<const SummaryModel::Rows>());
    EXPECT_EQ(model.rowCount(), 0);
}

TEST(SummaryModel, sameNamesUpdateInPlaceSoThatASelectionSurvives) {
    SummaryModel model;
    model.setRows(threeRows());
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    model.setRows(threeRows());
    EXPECT_EQ(resets.count(), 0);
    EXPECT_EQ(changes.count(), 1);
}

TEST(SummaryModel, numbersAreRightAlignedAndSortByValueNotByText) {
    SummaryModel model;
    model.setRows(threeRows());
    const auto alignment = model.index(0, SummaryModel::Total).data(Qt::TextAlignmentRole).value<Qt::Alignment>();
    EXPECT_TRUE(alignment.testFlag(Qt::AlignRight));
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(SummaryModel::SortRole);
    sorted.sort(SummaryModel::Total, Qt::DescendingOrder);
    EXPECT_EQ(sorted.index(0, 0).data().toString(), QString("attention"));  // 122 before 15.1 before 0.9
    EXPECT_EQ(sorted.index(2, 0).data().toString(), QString("gelu"));
}

TEST(SummaryModel, unknownRateIsADashAndKnownRateIsGflopPerSecond) {
    SummaryModel model;
    model.setRows(threeRows());
    EXPECT_EQ(model.index(0, SummaryModel::Rate).data().toString(), QString("1000"));
    EXPECT_EQ(model.index(1, SummaryModel::Rate).data().toString(), QString("–"));
}

TEST(SummaryModel, copiedTextHasAHeaderAndTabs) {
    SummaryModel model;
    model.setRows(threeRows());
    const QString text = asText(model, {model.index(0, 0), model.index(0, 3)});
    const QStringList lines = text.split('\n', Qt::SkipEmptyParts);
    ASSERT_EQ(lines.size(), 2);
    EXPECT_TRUE(lines[0].startsWith("Name\tKind\tCalls\tTotal (ms)"));
    EXPECT_TRUE(lines[1].startsWith("gemm\tkernel\t"));
    EXPECT_EQ(lines[1].count('\t'), SummaryModel::ColumnCount - 1);
}

TEST(TensorList, listsTheWorstTensorFirstAndThoseWithoutDataLast) {
    const auto items = worstFirst(smallMap(), profiling::HeatMetric::Headroom);
    ASSERT_EQ(items.size(), 3U);
    EXPECT_EQ(items[0].tensor.id.value, 3);  // −1 bit
    EXPECT_EQ(items[1].tensor.id.value, 1);
    EXPECT_EQ(items[2].tensor.id.value, 2);
    const auto bySaturation = worstFirst(smallMap(), profiling::HeatMetric::Saturated);
    EXPECT_EQ(bySaturation[0].worst, 5.0);
}

TEST(TensorList, tickingKeepsAtMostEightAndTellsWhoListens) {
    TensorListModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::vector<TensorItem> items;
    for (std::int64_t id = 1; id <= 10; ++id) {
        items.push_back({{profiling::TensorId{id}, "layer", "input", "E4M3", 8, 8}, 1.0});
    }
    model.setItems(items, profiling::HeatMetric::Headroom);
    const QSignalSpy ticks(&model, &TensorListModel::tickedByUser);
    for (int row = 0; row < 10; ++row) model.setData(model.index(row), Qt::Checked, Qt::CheckStateRole);
    EXPECT_EQ(ticks.count(), 10);
    EXPECT_EQ(model.ticked().size(), 8U);
    EXPECT_EQ(model.ticked().front().value, 3);  // the oldest two went
}

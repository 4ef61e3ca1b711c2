// Exported tables hold what training printed, row by row and value by value.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace cli_test {
namespace {

using Row = std::map<std::string, std::string>;

/// RFC 4180: CRLF lines, quoted fields with doubled quotes.
std::vector<std::vector<std::string>> csvLines(const std::string& text) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
                fields.back() += text[++i];
            } else {
                quoted = !quoted;
            }
        } else if (!quoted && c == ',') {
            fields.emplace_back();
        } else if (!quoted && c == '\n') {
            lines.push_back(std::exchange(fields, std::vector<std::string>(1)));
        } else if (quoted || c != '\r') {
            fields.back() += c;
        }
    }
    return lines;
}

class Export : public ::testing::Test {
protected:
    void SetUp() override {
        const Outcome outcome =
            scratch.run(tinyTrain({"--precision", "fp8", "--steps", "8", "--name", "low, \"fp8\""}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        m_printed = outcome.out;
        ASSERT_EQ(scratch
                      .run({"bench", "--layers", "1", "--d-model", "32", "--heads", "2", "--seq-len", "32", "--batch",
                            "4", "--threads", "1", "--precisions", "fp32", "--repeats", "3", "--db", "a.amax"})
                      .code,
                  0);
    }
    std::vector<json> printed(const std::string& type) const { return linesOfType(m_printed, type); }
    std::vector<Row> table(const std::string& name, const std::string& run = "1") const {
        const Outcome outcome = scratch.run({"export", run, "--table", name, "--db", "a.amax"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        const std::vector<std::vector<std::string>> lines = csvLines(outcome.out);
        std::vector<Row> rows;
        for (std::size_t i = 1; i < lines.size(); ++i) {
            EXPECT_EQ(lines[i].size(), lines[0].size()) << name << " line " << i;
            Row row;
            for (std::size_t j = 0; j < lines[i].size(); ++j) row[lines[0][j]] = lines[i][j];
            rows.push_back(row);
        }
        return rows;
    }
    json whole() const { return json::parse(scratch.exported("a.amax", 1))["runs"][0]; }
    Scratch scratch;

private:
    std::string m_printed;
};

TEST_F(Export, stepsHoldWhatTrainingPrinted) {
    const std::vector<json> steps = printed("step");
    const std::vector<Row> rows = table("steps");
    ASSERT_EQ(rows.size(), 8U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].at("run"), "1");
        EXPECT_EQ(std::stoll(rows[i].at("step")), steps[i]["step"]);
        EXPECT_EQ(std::stoll(rows[i].at("start_ns")), steps[i]["start_ns"]);
        EXPECT_EQ(std::stoll(rows[i].at("duration_ns")), steps[i]["duration_ns"]);
        EXPECT_EQ(std::stod(rows[i].at("loss")), steps[i]["loss"]);
        EXPECT_EQ(std::stod(rows[i].at("grad_norm")), steps[i]["grad_norm"]);
        EXPECT_EQ(std::stod(rows[i].at("lr")), steps[i]["lr"]);
        EXPECT_EQ(rows[i].at("tokens"), "128");
        EXPECT_EQ(rows[i].at("val_loss").empty(), i != 7);
    }
    EXPECT_EQ(std::stod(rows[7].at("val_loss")), printed("validation").at(0)["val_loss"]);
}

TEST_F(Export, runsHoldConfigurationAndResult) {
    const std::vector<Row> rows = table("runs");
    ASSERT_EQ(rows.size(), 1U);
    const json result = printed("result").at(0);
    EXPECT_EQ(rows[0].at("name"), "low, \"fp8\"");
    EXPECT_EQ(rows[0].at("status"), "finished");
    EXPECT_EQ(rows[0].at("precision"), "fp8");
    EXPECT_EQ(rows[0].at("seed"), "1");
    EXPECT_EQ(rows[0].at("steps_done"), "8");
    EXPECT_EQ(json::parse(rows[0].at("model"))["d_model"], 32);
    EXPECT_EQ(json::parse(rows[0].at("recipe"))["format"], "hybrid");
    EXPECT_EQ(std::stod(rows[0].at("last_loss")), result["loss"]);
    EXPECT_EQ(std::stod(rows[0].at("val_loss")), result["val_loss"]);
}

TEST_F(Export, snapshotsHoldEveryTensorAtEveryStep) {
    const json run = whole();
    const std::vector<Row> rows = table("snapshots");
    ASSERT_EQ(rows.size(), run["tensors"].size() * 8);
    ASSERT_FALSE(rows.empty());
    for (const Row& row : rows) {
        const double largest = row.at("format") == "E5M2" ? 57344 : 448;
        const double scaled = std::stod(row.at("amax")) * std::stod(row.at("scale"));
        EXPECT_GT(std::stod(row.at("amax")), 0);
        EXPECT_NEAR(std::stod(row.at("headroom_bits")), std::log2(largest / scaled), 1e-5) << row.at("tensor");
        EXPECT_GT(std::stoll(row.at("count")), 0);
    }
}

TEST_F(Export, kernelsAndRangesAgree) {
    std::map<std::string, std::int64_t> calls;
    std::map<std::string, std::int64_t> totals;
    int steps = 0;
    for (const Row& row : table("ranges")) {
        EXPECT_GE(std::stoll(row.at("duration_ns")), 0);
        if (std::stoll(row.at("step")) < 0) continue;  // validation and generation are no part of the summary
        steps += row.at("name") == "step" ? 1 : 0;
        if (row.at("kind") != "kernel") continue;
        ++calls[row.at("name")];
        totals[row.at("name")] += std::stoll(row.at("duration_ns"));
    }
    EXPECT_EQ(steps, 8);
    double stepNs = 0;
    for (const Row& row : table("steps")) stepNs += std::stod(row.at("duration_ns"));
    const std::vector<Row> kernels = table("kernels");
    ASSERT_FALSE(kernels.empty());
    for (const Row& row : kernels) {
        EXPECT_EQ(std::stoll(row.at("calls")), calls[row.at("name")]) << row.at("name");
        EXPECT_EQ(std::stoll(row.at("total_ns")), totals[row.at("name")]) << row.at("name");
        EXPECT_NEAR(std::stod(row.at("share")), std::stod(row.at("total_ns")) / stepNs, 1e-9) << row.at("name");
    }
}

TEST_F(Export, eventsSamplesAndGenerationsHoldTheirTexts) {
    const std::vector<Row> events = table("events");
    ASSERT_EQ(events.size(), printed("event").size());
    ASSERT_FALSE(events.empty());
    for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].at("text"), printed("event")[i]["text"]);

    const std::vector<json> said = printed("generation");
    const std::vector<Row> generations = table("generations");
    ASSERT_EQ(generations.size(), 20U);
    for (std::size_t i = 0; i < generations.size(); ++i) {
        EXPECT_EQ(generations[i].at("prompt"), said[i]["prompt"]);
        EXPECT_EQ(generations[i].at("output"), said[i]["output"]);
    }

    const std::vector<Row> samples = table("samples", "2");
    ASSERT_EQ(samples.size(), 6U);
    std::map<std::string, double> stepMs;
    for (const Row& row : samples) {
        if (row.at("metric") == "step_ms") stepMs[row.at("i")] = std::stod(row.at("value"));
    }
    for (const Row& row : samples) {
        if (row.at("metric") != "tokens_per_second") continue;
        const double rate = std::stod(row.at("value"));
        EXPECT_NEAR(rate * stepMs.at(row.at("i")), 128 * 1e3, 1) << "repeat " << row.at("i");
    }
}

TEST_F(Export, jsonHoldsTheSameAsTheTables) {
    const json run = whole();
    const std::vector<Row> steps = table("steps");
    ASSERT_EQ(run["steps"].size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(run["steps"][i]["loss"], std::stod(steps[i].at("loss")));
    EXPECT_EQ(run["generations"].size(), 20U);
    EXPECT_EQ(run["events"].size(), table("events").size());
    EXPECT_EQ(scratch.run({"export", "--out", "all.json", "--db", "a.amax"}).code, 0);
    EXPECT_EQ(json::parse(scratch.read("all.json"))["runs"].size(), 2U);
}

}  // namespace
}  // namespace cli_test

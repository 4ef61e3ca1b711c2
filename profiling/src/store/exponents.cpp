// Exponent histograms: the bytes of a row, and the queries.
#include "store/exponents.h"

#include "store/store_impl.h"

namespace profiling {

namespace {

// What a binary64 can have: another program may have counted wider numbers than FP32.
constexpr std::int64_t kLeastExponent = -1074;
constexpr std::int64_t kBinades = 1023 - kLeastExponent + 1;

/// Columns step, first_exponent, counts.
ExponentRow readExponents(const Statement& row, const std::string& path) {
    const std::span<const unsigned char> bytes = row.blob(2);
    const std::int64_t first = row.integer(1);
    const auto binades = static_cast<std::int64_t>(bytes.size() / 4);
    if (bytes.size() % 4 != 0 || first < kLeastExponent || binades > kBinades ||
        first + binades > kLeastExponent + kBinades) {
        throw Error(ErrorKind::Failure, path,
                    "the exponent histogram of step " + std::to_string(row.integer(0)) + " is damaged (" +
                        std::to_string(bytes.size()) + " bytes of counts from exponent " + std::to_string(first) + ")",
                    "use a copy made earlier");
    }
    return {row.integer(0), static_cast<int>(first), decodeCounts(bytes)};
}

}  // namespace

void encodeCounts(std::span<const std::uint32_t> counts, std::vector<unsigned char>& bytes) {
    bytes.clear();
    for (const std::uint32_t count : counts) {
        for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<unsigned char>(count >> shift));
    }
}

std::vector<std::uint32_t> decodeCounts(std::span<const unsigned char> bytes) {
    std::vector<std::uint32_t> counts(bytes.size() / 4);
    for (std::size_t i = 0; i < counts.size() * 4; ++i) {
        counts[i / 4] |= static_cast<std::uint32_t>(bytes[i]) << (8 * (i % 4));
    }
    return counts;
}

std::optional<ExponentRow> StoreImpl::exponentsAt(RunId run, TensorId tensor, std::int64_t step) {
    if (isHidden(run)) return {};
    Statement query(*m_database,
                    "SELECT step, first_exponent, counts FROM exponent_hist"
                    " WHERE run_id = ? AND tensor_id = ? AND step <= ? ORDER BY step DESC LIMIT 1");
    if (!query.bind(run.value, tensor.value, step).step()) return {};
    return readExponents(query, m_path);
}

std::vector<ExponentRow> StoreImpl::exponents(RunId run, TensorId tensor) {
    std::vector<ExponentRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database,
                    "SELECT step, first_exponent, counts FROM exponent_hist"
                    " WHERE run_id = ? AND tensor_id = ? ORDER BY step");
    query.bind(run.value, tensor.value);
    while (query.step()) rows.push_back(readExponents(query, m_path));
    return rows;
}

std::vector<std::int64_t> StoreImpl::exponentSteps(RunId run, TensorId tensor) {
    std::vector<std::int64_t> steps;
    if (isHidden(run)) return steps;
    Statement query(*m_database, "SELECT step FROM exponent_hist WHERE run_id = ? AND tensor_id = ? ORDER BY step");
    query.bind(run.value, tensor.value);
    while (query.step()) steps.push_back(query.integer(0));
    return steps;
}

}  // namespace profiling

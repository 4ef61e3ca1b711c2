// Choosing what to watch, and turning records into snapshots.
#include "src/observation.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace engine {

namespace {

constexpr int kExponentBias = 127;
// Field 0 holds zeros and subnormals, 255 infinities and NaN.
constexpr int kFirstField = 1;
constexpr int kLastField = 254;

constexpr std::array<const char*, 6> kRoles = {"input", "weight", "grad_output", "output", "dgrad", "wgrad"};

}  // namespace

bool isObservedRole(const std::string& role) {
    return std::find(kRoles.begin(), kRoles.end(), role) != kRoles.end();
}

bool observes(const TrainConfig& train, const char* role) {
    std::istringstream roles(train.observe);
    for (std::string word; std::getline(roles, word, ',');) {
        if (word == role) return true;
    }
    return false;
}

Watch watchOf(const TrainConfig& train, std::int64_t step) {
    Watch watch;
    const bool inWindow = step >= train.snapshotFrom && (train.snapshotTo < 0 || step <= train.snapshotTo);
    watch.counters = inWindow && train.snapshotEvery > 0 && (step - train.snapshotFrom) % train.snapshotEvery == 0;
    watch.results = watch.counters;
    watch.exponents =
        watch.counters && train.exponentsEvery > 0 && (step - train.snapshotFrom) % train.exponentsEvery == 0;
    return watch;
}

void Exponents::add(const Exponents& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    smallest = std::min(smallest, other.smallest);
}

TensorSnapshot snapshotOf(const TensorInfo& tensor, const TensorRecord& record) {
    const cpu::CastStats& s = record.stats;
    TensorSnapshot snapshot{};
    snapshot.tensor = tensor.index;
    snapshot.amax = s.amax;
    snapshot.scale = record.scale;
    snapshot.saturated = s.saturated;
    snapshot.underflowed = s.underflowed;
    snapshot.zeros = s.zeros;
    snapshot.nonFinite = s.nonFinite;
    snapshot.count = s.count;
    snapshot.sqError = s.sqError;
    snapshot.sqSignal = s.sqSignal;
    if (record.scale != 0) {
        snapshot.scaleInvMin = s.scaleInvMin;
        snapshot.scaleInvMax = s.scaleInvMax;
    }
    if (!record.hasExponents) return snapshot;
    const Exponents& e = record.exponents;
    if (std::isfinite(e.smallest)) snapshot.smallest = e.smallest;
    const auto used = [](std::uint32_t count) { return count > 0; };
    const auto begin = e.counts.begin() + kFirstField;
    const auto end = e.counts.begin() + kLastField + 1;
    const auto first = std::find_if(begin, end, used);
    if (first == end) return snapshot;
    auto last = end;
    while (!used(*(last - 1))) --last;
    snapshot.firstExponent = static_cast<int>(first - e.counts.begin()) - kExponentBias;
    snapshot.exponents.assign(first, last);
    return snapshot;
}

}  // namespace engine

// What `inspect` found in a model file: one row per tensor and recipe. Written through Session, read through Store.
#pragma once

#include "profiling/events.h"

#include <cstdint>
#include <limits>
#include <string>

namespace profiling {

using InspectionId = Id<struct InspectionTag>;

/// What is known about a model file before its first tensor.
struct InspectionDescription {
    std::string path;          // as given by the user
    std::string architecture;  // "gpt2", "llama"; "" when the names of the tensors tell none
    std::int64_t tensors = 0;  // in the file, also those that are not looked at
};

struct InspectionRow {
    InspectionId id;
    std::string uuid;
    std::int64_t atNs = 0;  // when it began
    std::string programVersion;
    InspectionDescription description;
    std::int64_t inspected = 0;  // rows: tensors times recipes
};

/// One tensor under one recipe. Counts and sums as in engine::TensorSnapshot.
struct InspectedTensor {
    std::string tensor;  // name in the file
    std::string recipe;  // "delayed", "current", "block", "mxfp8", "nvfp4"
    std::string role;    // as what it was cast: "weight"
    std::string format;  // what it was cast to: "E4M3", "E5M2", "E2M1"
    std::string dtype;   // in the file: "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t count = 0;                                         // elements
    double amax = 0;                                                // may be infinite
    double smallest = std::numeric_limits<double>::quiet_NaN();     // smallest |x| that is not 0; NaN: none
    double scaleInvMin = std::numeric_limits<double>::quiet_NaN();  // smallest and largest factor that dequantises a
    double scaleInvMax = std::numeric_limits<double>::quiet_NaN();  // block; both 1/scale for one per tensor
    std::int64_t saturated = 0;
    std::int64_t underflowed = 0;
    std::int64_t zeros = 0;
    std::int64_t nonFinite = 0;
    double sqError = 0;
    double sqSignal = 0;
};

/// Takes the tensors of one inspection as they are done. Nothing reaches the file before commit(), which writes all in
/// one transaction: one destroyed without it leaves no trace, and a long inspection keeps no other program waiting.
/// About 300 bytes of memory for each row. One thread at a time.
class InspectionWriter {
public:
    virtual ~InspectionWriter() = default;
    virtual void add(const InspectedTensor& tensor) = 0;
    /// Throws Error when the rows could not be written (the file is locked, the disk full): nothing of them is in the
    /// file then, and it may be called again. After success add() and commit() must not be called.
    virtual InspectionId commit() = 0;

protected:
    InspectionWriter() = default;
    InspectionWriter(const InspectionWriter&) = delete;
    InspectionWriter& operator=(const InspectionWriter&) = delete;
};

}  // namespace profiling

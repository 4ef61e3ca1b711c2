// Body of the way back from block-scaled codes to BF16 or FP32, in the vector operations of block_lanes_*.inl and
// block_decode_*.inl. Included once per instruction set, inside its region, after
// block_segment.inl. A strip of blockRows rows is done in segments of columns, so that scales are looked up once.

/// With scales above this every product is a normal float: the smallest FP8 value is 2^−16.
constexpr float kPlainScale = 0x1p-110F;

/// Values of `count` ≤ kChunk scales from `slot` on. True if products with them are plain: no subnormals, and no NaN
/// but those of codes.
AMAXSCOPE_INLINE bool loadScales(const BlockWork& work, const void* scales, std::int64_t slot, std::int64_t count,
                                 float* segment) {
    std::int64_t plain = 0;
    for (std::int64_t i = 0; i < count; i += kLanes) {
        const std::int64_t left = count - i;
        const Lanes values = work.scaleTable == nullptr
                                 ? loadFirst(static_cast<const float*>(scales) + slot + i, left)
                                 : lookUp(work.scaleTable, static_cast<const std::uint8_t*>(scales) + slot + i, left);
        store(segment + i, values);
        plain += countOf(less(lanesOf(kPlainScale), values));  // lanes past the end are zero
    }
    return plain == count;
}

/// value · decode; NaN keeps the sign of the code.
AMAXSCOPE_INLINE Lanes signedProduct(Lanes value, Lanes decode) {
    const Lanes result = product(value, decode);
    const Words nan = sum(bitAnd(asWords(value), wordsOf(INT32_MIN)), wordsOf(0x7FC00000));
    return select(equal(result, result), result, asLanes(nan));
}

/// To nearest even in the upper half; NaN stays what it is.
AMAXSCOPE_INLINE Lanes roundedToUpperHalf(Lanes x) {
    const Words lastKeptBit = bitAnd(shiftRight<16>(asWords(x)), wordsOf(1));
    return asLanes(sum(sum(asWords(x), wordsOf(0x7FFF)), lastKeptBit));
}

AMAXSCOPE_INLINE void storeValues(float* target, const Lanes* values, std::int64_t count) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        if (count >= kChunk) {
            store(target + i * kLanes, values[i]);
        } else {
            storeFirst(target + i * kLanes, values[i], count - i * kLanes);
        }
    }
}
AMAXSCOPE_INLINE void storeValues(std::uint16_t* target, const Lanes* values, std::int64_t count) {
    storeUpperHalves(target, values, count);
}

template <Type type, typename Target>
AMAXSCOPE_INLINE void unpackChunk(const Decoder<type>& decoder, const std::uint8_t* codes, std::int64_t count,
                                  const Lanes* decode, bool plain, Target* target) {
    Lanes values[4];
    decodeChunk<type>(decoder, codes, count, values);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        if (plain) {
            values[i] = product(values[i], decode[i]);
        } else {
            values[i] = signedProduct(values[i], decode[i]);
            if (sizeof(Target) == sizeof(std::uint16_t)) values[i] = roundedToUpperHalf(values[i]);
        }
    }
    storeValues(target, values, count);
}

template <Type type, typename Target>
void unpackStrips(const BlockWork& work, const std::uint8_t* codes, const void* scales, Target* target) {
    const Decoder<type> decoder;
    const std::int64_t blockRows = work.cast.blockRows;
    const std::int64_t step = segmentCols(work);
    const std::int64_t end = work.firstRow + work.rows;
    for (std::int64_t row = work.firstRow; row < end;) {
        const std::int64_t strip = row / blockRows;
        const std::int64_t stripEnd = (strip + 1) * blockRows < end ? (strip + 1) * blockRows : end;
        for (std::int64_t col = 0; col < work.cols; col += step) {
            const std::int64_t width = work.cols - col < step ? work.cols - col : step;
            const std::int64_t count = (width + work.cast.blockCols - 1) >> work.colShift;
            alignas(64) float segment[kChunk] = {};
            const bool plain =
                loadScales(work, scales, strip * work.scaleCols + (col >> work.colShift), count, segment);
            for (std::int64_t r = row; r < stripEnd; ++r)
                for (std::int64_t c = 0; c < width; c += kChunk) {
                    Lanes decode[4];
                    chunkScales(segment, c, work.colShift, decode);
                    const std::int64_t index = r * work.cols + col + c;
                    const std::uint8_t* source = codes + (type == Type::E2M1 ? index / 2 : index);
                    unpackChunk<type>(decoder, source, width - c, decode, plain,
                                      target + (index - work.firstRow * work.cols));
                }
        }
        row = stripEnd;
    }
}

template <typename Target>
void unpackBlocks(const BlockWork& work, const std::uint8_t* codes, const void* scales, Target* target) {
    if (work.cast.type == Type::E4M3) return unpackStrips<Type::E4M3>(work, codes, scales, target);
    if (work.cast.type == Type::E5M2) return unpackStrips<Type::E5M2>(work, codes, scales, target);
    unpackStrips<Type::E2M1>(work, codes, scales, target);
}

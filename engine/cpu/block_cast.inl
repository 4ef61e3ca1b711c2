// Body of the block-scaled casts, in the vector operations of block_lanes_*.inl. Included once per instruction set,
// inside its region, after block_segment.inl. A strip of blockRows rows is done in segments of columns: first the
// maxima of its blocks, then their scales, many at a time, then, row by row, the codes; the second reading comes from
// the cache.

/// Scales of a segment, one float each.
struct SegmentScales {
    alignas(64) float encode[kChunk];
    alignas(64) float decode[kChunk];
};

struct ScaleLanes {
    Lanes encode;
    Lanes decode;
    Words code;  // of byte scales
};

struct CastSums {
    Lanes amax;
    Sums error;
    Sums signal;
};

AMAXSCOPE_INLINE ScaleLanes scalesE8M0(const BlockWork& work, Lanes amax) {
    const Words bits = asWords(product(amax, lanesOf(work.inverseMax)));
    // Any mantissa bit carries into the exponent; infinity ends at 254; up to 2^−127 the code is 0.
    const Words rounded = smaller(shiftRight<23>(sum(bits, wordsOf(0x7FFFFF))), wordsOf(254));
    const Words code = select(less(wordsOf(0x400000), bits), rounded, wordsOf(0));
    // 2^−127, of code 254 on one side and of code 0 on the other, is the subnormal 0x400000.
    const Words encode = larger(shiftLeft<23>(difference(wordsOf(254), code)), wordsOf(0x400000));
    const Words decode = larger(shiftLeft<23>(code), wordsOf(0x400000));
    return {asLanes(encode), asLanes(decode), code};
}

AMAXSCOPE_INLINE ScaleLanes scalesF32(const BlockWork& work, Lanes amax) {
    const Lanes limited = larger(amax, lanesOf(work.cast.amaxEpsilon));
    const Mask usable = both(less(lanesOf(0), limited), less(limited, lanesOf(__builtin_inff())));
    Lanes scale = smaller(lanesOf(work.typeMax) / limited, lanesOf(FLT_MAX));
    if (work.cast.powerOfTwo) scale = asLanes(bitAnd(asWords(scale), wordsOf(0x7F800000)));
    const Lanes encode = select(usable, scale, lanesOf(1));
    return {encode, lanesOf(1) / encode, wordsOf(0)};
}

AMAXSCOPE_INLINE ScaleLanes scalesE4M3(const BlockWork& work, Lanes amax) {
    const Lanes wanted = smaller(product(amax, lanesOf(work.encodeFactor)), lanesOf(FLT_MAX));
    Lanes decode;
    const Words code = quantise<CastBits<Fp8Format::E4M3>>(wanted, decode);
    const Lanes encode = smaller(lanesOf(1) / product(decode, lanesOf(work.globalDecode)), lanesOf(FLT_MAX));
    return {encode, decode, code};
}

AMAXSCOPE_INLINE ScaleLanes scalesOf(const BlockWork& work, Lanes amax) {
    if (work.cast.scaleType == BlockScale::E8M0) return scalesE8M0(work, amax);
    if (work.cast.scaleType == BlockScale::F32) return scalesF32(work, amax);
    return scalesE4M3(work, amax);
}

/// 4 × kLanes elements; those from `width` on are zero.
AMAXSCOPE_INLINE void loadChunk(const float* source, std::int64_t width, Lanes* x) {
    if (width >= kChunk) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) x[i] = load(source + i * kLanes);
    } else {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) x[i] = loadFirst(source + i * kLanes, width - i * kLanes);
    }
}

/// Maxima of |x| column by column, for blocks one column wide; `width` ≤ kChunk.
AMAXSCOPE_INLINE void columnMaxima(const float* source, std::int64_t rows, std::int64_t cols, std::int64_t width,
                                   float* maxima) {
    Lanes largest[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) largest[i] = lanesOf(0);
    for (std::int64_t row = 0; row < rows; ++row) {
        Lanes x[4];
        loadChunk(source + row * cols, width, x);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) largest[i] = larger(magnitudeOf(x[i]), largest[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store(maxima + i * kLanes, largest[i]);
}

/// Maxima of |x| of a block `vectors` · kLanes wide, lane by lane; columns from `width` on are absent.
AMAXSCOPE_INLINE Lanes blockMaximum(const float* source, std::int64_t rows, std::int64_t cols, std::int64_t vectors,
                                    std::int64_t width) {
    Lanes largest = lanesOf(0);
    for (std::int64_t row = 0; row < rows; ++row, source += cols) {
        if (width >= vectors * kLanes) {
            for (std::int64_t v = 0; v < vectors; ++v)
                largest = larger(magnitudeOf(load(source + v * kLanes)), largest);
        } else {
            for (std::int64_t v = 0; v * kLanes < width; ++v) {
                largest = larger(magnitudeOf(loadFirst(source + v * kLanes, width - v * kLanes)), largest);
            }
        }
    }
    return largest;
}

/// Maxima of all blocks of a segment, four at a time; `maxima` has room for four more than there are.
template <int fixedVectors>
AMAXSCOPE_INLINE void blockMaxima(const BlockWork& work, const float* source, std::int64_t rows, std::int64_t width,
                                  float* maxima) {
    const std::int64_t blockCols = work.cast.blockCols;
    const std::int64_t vectors = fixedVectors > 0 ? fixedVectors : blockCols / kLanes;
    for (std::int64_t col = 0; col < width; col += 4 * blockCols, maxima += 4) {
        Lanes largest[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const std::int64_t first = col + i * blockCols;
            largest[i] = blockMaximum(source + first, first < width ? rows : 0, work.cols, vectors, width - first);
        }
        storeMaxima(maxima, largest);
    }
}

AMAXSCOPE_INLINE void segmentMaxima(const BlockWork& work, const float* source, std::int64_t rows, std::int64_t width,
                                    float* maxima) {
    if (work.colShift == 0) return columnMaxima(source, rows, work.cols, width, maxima);
    const std::int64_t vectors = work.cast.blockCols / kLanes;
    if (vectors == 1) return blockMaxima<1>(work, source, rows, width, maxima);
    if (vectors == 2) return blockMaxima<2>(work, source, rows, width, maxima);
    blockMaxima<0>(work, source, rows, width, maxima);
}

/// Scales of `count` ≤ kChunk blocks side by side, into `segment` and, from `slot` on, into the tensor's array. Also
/// raises `amax`.
AMAXSCOPE_INLINE void scaleSegment(const BlockWork& work, const float* maxima, std::int64_t count, void* scales,
                                   std::int64_t slot, SegmentScales& segment, Lanes& amax) {
    Words codes[4];
    for (int i = 0; i < 4; ++i) {
        // Absent columns are zeros: any finite scale keeps them so.
        ScaleLanes scale = {lanesOf(1), lanesOf(1), wordsOf(0)};
        if (i * kLanes < count) {
            const Lanes blocks = loadFirst(maxima + i * kLanes, count - i * kLanes);
            scale = scalesOf(work, blocks);
            amax = larger(blocks, amax);
        }
        store(segment.encode + i * kLanes, scale.encode);
        store(segment.decode + i * kLanes, scale.decode);
        codes[i] = scale.code;
    }
    if (work.cast.scaleType != BlockScale::F32) {
        return storeBytes(static_cast<std::uint8_t*>(scales) + slot, codes, count);
    }
    float* target = static_cast<float*>(scales) + slot;
    for (std::int64_t i = 0; i < count; ++i) target[i] = segment.decode[i];
}

/// Counts of one vector whose cast is done. Absent lanes count as zeros.
AMAXSCOPE_INLINE void countLanes(const BlockWork& work, Lanes x, Lanes encode, Lanes decode, Lanes magnitude,
                                 CastSums& sums, CastStats& stats) {
    const Lanes none = lanesOf(0);
    const Lanes size = magnitudeOf(x);
    const Mask finite = less(size, lanesOf(__builtin_inff()));
    const Mask zero = equal(x, none);
    const Mask noScale = equal(decode, none);
    const Mask lost = butNot(either(equal(magnitude, none), noScale), zero);
    stats.saturated += countOf(butNot(less(lanesOf(work.typeMax), product(size, encode)), noScale));
    stats.underflowed += countOf(both(lost, finite));
    stats.zeros += countOf(zero);
    stats.nonFinite += kLanes - countOf(finite);
    // Both terms without their common sign.
    addSquares(finite, size - product(product(magnitude, decode), lanesOf(work.globalDecode)), sums.error);
    addSquares(finite, x, sums.signal);
}

template <Type type>
AMAXSCOPE_INLINE Words quantiseTo(Lanes y, Lanes& magnitude) {
    if constexpr (type == Type::E4M3) return quantise<CastBits<Fp8Format::E4M3>>(y, magnitude);
    if constexpr (type == Type::E5M2) return quantise<CastBits<Fp8Format::E5M2>>(y, magnitude);
    return quantise<E2M1Bits>(y, magnitude);
}

/// Codes of one row of a chunk; `index` is the first element's place in the tensor.
template <Type type, bool stochastic, bool counting>
AMAXSCOPE_INLINE void castChunk(const BlockWork& work, const float* source, std::int64_t width, std::int64_t index,
                                const Lanes* encode, const Lanes* decode, std::uint8_t* codes, CastSums& sums,
                                CastStats& stats) {
    Lanes x[4];
    Words lanes[4];
    loadChunk(source, width, x);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const Lanes y = product(x[i], encode[i]);
        Lanes magnitude;
        if constexpr (stochastic) {
            lanes[i] = quantiseStochastic(y, uniforms(work.noise, (index + i * kLanes) / 2), magnitude);
        } else {
            lanes[i] = quantiseTo<type>(y, magnitude);
        }
        if (counting) countLanes(work, x[i], encode[i], decode[i], magnitude, sums, stats);
    }
    if constexpr (type == Type::E2M1) {
        storeNibbles(codes + index / 2, lanes, width);
    } else {
        storeBytes(codes + index, lanes, width);
    }
    if (counting && width < kChunk) stats.zeros -= kChunk - width;
}

/// Codes of rows × width elements under the scales of their segment.
template <Type type, bool stochastic, bool counting>
AMAXSCOPE_INLINE void castSegment(const BlockWork& work, const float* source, std::int64_t rows, std::int64_t width,
                                  std::int64_t index, const SegmentScales& segment, std::uint8_t* codes, CastSums& sums,
                                  CastStats& stats) {
    for (std::int64_t r = 0; r < rows; ++r, source += work.cols, index += work.cols)
        for (std::int64_t c = 0; c < width; c += kChunk) {
            Lanes encode[4];
            Lanes decode[4];
            chunkScales(segment.encode, c, work.colShift, encode);
            if (counting) chunkScales(segment.decode, c, work.colShift, decode);
            castChunk<type, stochastic, counting>(work, source + c, width - c, index + c, encode, decode, codes, sums,
                                                  stats);
        }
}

template <Type type, bool stochastic, bool counting>
void castStrips(const BlockWork& work, const float* x, std::uint8_t* codes, void* scales, CastStats& stats) {
    const std::int64_t step = segmentCols(work);
    CastSums sums;
    sums.amax = lanesOf(0);
    clear(sums.error);
    clear(sums.signal);
    for (std::int64_t row = 0; row < work.rows; row += work.cast.blockRows) {
        const std::int64_t left = work.rows - row;
        const std::int64_t rows = left < work.cast.blockRows ? left : work.cast.blockRows;
        const std::int64_t scaleRow = (work.firstRow + row) / work.cast.blockRows * work.scaleCols;
        for (std::int64_t col = 0; col < work.cols; col += step) {
            const std::int64_t width = work.cols - col < step ? work.cols - col : step;
            const std::int64_t count = (width + work.cast.blockCols - 1) >> work.colShift;
            const float* source = x + row * work.cols + col;
            alignas(64) float maxima[kChunk + 4];
            SegmentScales segment;
            segmentMaxima(work, source, rows, width, maxima);
            scaleSegment(work, maxima, count, scales, scaleRow + (col >> work.colShift), segment, sums.amax);
            castSegment<type, stochastic, counting>(work, source, rows, width, (work.firstRow + row) * work.cols + col,
                                                    segment, codes, sums, stats);
        }
    }
    const float amax = largestOf(sums.amax);
    if (amax > stats.amax) stats.amax = amax;
    if (!counting) return;
    stats.count += work.rows * work.cols;
    stats.sqError += totalOf(sums.error);
    stats.sqSignal += totalOf(sums.signal);
}

template <bool counting>
void castCounting(const BlockWork& work, const float* x, std::uint8_t* codes, void* scales, CastStats& stats) {
    if (work.cast.type == Type::E4M3) return castStrips<Type::E4M3, false, counting>(work, x, codes, scales, stats);
    if (work.cast.type == Type::E5M2) return castStrips<Type::E5M2, false, counting>(work, x, codes, scales, stats);
    if (work.cast.stochastic) return castStrips<Type::E2M1, true, counting>(work, x, codes, scales, stats);
    castStrips<Type::E2M1, false, counting>(work, x, codes, scales, stats);
}

void castBlocks(const BlockWork& work, const float* x, std::uint8_t* codes, void* scales, bool counting,
                CastStats& stats) {
    if (counting) return castCounting<true>(work, x, codes, scales, stats);
    castCounting<false>(work, x, codes, scales, stats);
}

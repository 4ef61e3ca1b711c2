// Body of the block-scaled casts, in the vector operations of block_lanes_*.inl. Included once per instruction set,
// inside its region. A strip of blockRows rows is done in groups of columns: first the maxima of its columns, then the
// scales of its blocks, then, row by row, the codes; the second reading comes from the cache.

/// What is multiplied into 4 × kLanes columns, before the cast and to read a code back.
struct ChunkScales {
    Lanes encode[4];
    Lanes decode[4];
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

/// Maxima of |x| in rows × width elements, column by column modulo kChunk.
AMAXSCOPE_INLINE void columnMaxima(const float* source, std::int64_t rows, std::int64_t cols, std::int64_t width,
                                   Lanes* maxima) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) maxima[i] = lanesOf(0);
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < width; col += kChunk) {
            Lanes x[4];
            loadChunk(source + row * cols + col, width - col, x);
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) maxima[i] = larger(magnitudeOf(x[i]), maxima[i]);
        }
}

/// Blocks one column wide: every lane has its own scale.
AMAXSCOPE_INLINE void scaleColumns(const BlockWork& work, const Lanes* maxima, std::int64_t width, void* scales,
                                   std::int64_t slot, ChunkScales& chunk) {
    Words codes[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const ScaleLanes scale = scalesOf(work, maxima[i]);
        chunk.encode[i] = scale.encode;
        chunk.decode[i] = scale.decode;
        codes[i] = scale.code;
    }
    if (work.cast.scaleType != BlockScale::F32) {
        return storeBytes(static_cast<std::uint8_t*>(scales) + slot, codes, width);
    }
    float* target = static_cast<float*>(scales) + slot;
    for (int i = 0; i < 4; ++i) storeFirst(target + i * kLanes, chunk.decode[i], width - i * kLanes);
}

/// Wider blocks: one, two or four vectors share a scale. Blocks wider than a chunk have but one.
AMAXSCOPE_INLINE void scaleBlocks(const BlockWork& work, Lanes* maxima, std::int64_t width, void* scales,
                                  std::int64_t slot, ChunkScales& chunk) {
    const std::int64_t blockCols = work.cast.blockCols;
    if (blockCols >= 2 * kLanes) {
        maxima[0] = maxima[1] = larger(maxima[0], maxima[1]);
        maxima[2] = maxima[3] = larger(maxima[2], maxima[3]);
    }
    if (blockCols >= 4 * kLanes) maxima[0] = maxima[1] = maxima[2] = maxima[3] = larger(maxima[0], maxima[2]);
    const ScaleLanes scale = scalesOf(work, maximaOf4(maxima));
    chunk.encode[0] = spread<0>(scale.encode);
    chunk.encode[1] = spread<1>(scale.encode);
    chunk.encode[2] = spread<2>(scale.encode);
    chunk.encode[3] = spread<3>(scale.encode);
    chunk.decode[0] = spread<0>(scale.decode);
    chunk.decode[1] = spread<1>(scale.decode);
    chunk.decode[2] = spread<2>(scale.decode);
    chunk.decode[3] = spread<3>(scale.decode);

    const std::int64_t vectors = blockCols < kChunk ? blockCols / kLanes : 4;
    float stored[kLanes];
    store(stored, work.cast.scaleType == BlockScale::F32 ? scale.decode : asLanes(scale.code));
    for (std::int64_t block = 0; block * blockCols < width; ++block) {
        const float value = stored[kMaximumLane[block * vectors]];
        if (work.cast.scaleType == BlockScale::F32) {
            static_cast<float*>(scales)[slot + block] = value;
        } else {
            static_cast<std::uint8_t*>(scales)[slot + block] =
                static_cast<std::uint8_t>(__builtin_bit_cast(std::uint32_t, value));
        }
    }
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
                                const ChunkScales& chunk, std::uint8_t* codes, CastSums& sums, CastStats& stats) {
    Lanes x[4];
    Words lanes[4];
    loadChunk(source, width, x);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const Lanes y = product(x[i], chunk.encode[i]);
        Lanes magnitude;
        if constexpr (stochastic) {
            lanes[i] = quantiseStochastic(y, uniforms(work.noise, (index + i * kLanes) / 2), magnitude);
        } else {
            lanes[i] = quantiseTo<type>(y, magnitude);
        }
        if (counting) countLanes(work, x[i], chunk.encode[i], chunk.decode[i], magnitude, sums, stats);
    }
    if constexpr (type == Type::E2M1) {
        storeNibbles(codes + index / 2, lanes, width);
    } else {
        storeBytes(codes + index, lanes, width);
    }
    if (counting && width < kChunk) stats.zeros -= kChunk - width;
}

template <Type type, bool stochastic, bool counting>
void castStrips(const BlockWork& work, const float* x, std::uint8_t* codes, void* scales, CastStats& stats) {
    const std::int64_t step = work.cast.blockCols > kChunk ? work.cast.blockCols : kChunk;
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
            const float* source = x + row * work.cols + col;
            Lanes maxima[4];
            columnMaxima(source, rows, work.cols, width, maxima);
            sums.amax = larger(larger(larger(maxima[0], maxima[1]), larger(maxima[2], maxima[3])), sums.amax);

            ChunkScales chunk;
            if (work.cast.blockCols == 1) {
                scaleColumns(work, maxima, width, scales, scaleRow + col, chunk);
            } else {
                scaleBlocks(work, maxima, width, scales, scaleRow + col / work.cast.blockCols, chunk);
            }
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t c = 0; c < width; c += kChunk)
                    castChunk<type, stochastic, counting>(work, source + r * work.cols + c, width - c,
                                                          (work.firstRow + row + r) * work.cols + col + c, chunk, codes,
                                                          sums, stats);
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

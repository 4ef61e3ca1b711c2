// How the block-scaled kernels divide a strip, in the vector operations of block_lanes_*.inl. Included once per
// instruction set, inside its region. A segment has at most kChunk scales, kept as an array while its rows are done.

/// Columns of a segment: a chunk of single columns, or whole blocks that, with all their rows, stay in the cache.
AMAXSCOPE_INLINE std::int64_t segmentCols(const BlockWork& work) {
    if (work.colShift == 0) return kChunk;
    const std::int64_t most = kChunk << work.colShift;
    const std::int64_t wanted = work.cast.blockRows == 1 ? 4096 : 256;
    const std::int64_t limited = most < wanted ? most : wanted;
    return limited > work.cast.blockCols ? limited : work.cast.blockCols;
}

/// The scales of 4 × kLanes columns, `col` being the first within the segment.
AMAXSCOPE_INLINE void chunkScales(const float* segment, std::int64_t col, int colShift, Lanes* scales) {
    if (colShift == 0) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) scales[i] = load(segment + i * kLanes);
    } else {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) scales[i] = lanesOf(segment[(col + i * kLanes) >> colShift]);
    }
}

// Causal self-attention, head by head on strided views of the packed QKV rows. All products go through gemmSerial in
// FP32; the row operations of the softmax have a Ref, an Avx2 and an Avx512 version here.
//
// Both passes work on blocks of rows and only on the columns that a block can see, which nearly halves the work. Heads
// that share keys and values run one after another on one thread backward, so that dK and dV have one order of sums.
#include "cpu/isa.h"
#include "cpu/kernels.h"
#include "cpu/scratch.h"
#include "cpu/thread_pool.h"
#include "engine/error.h"

#include <algorithm>
#include <cmath>

namespace engine::cpu {

namespace {

constexpr std::int64_t kBlockRows = 64;

// ---------------------------------------------------------------- rows: Ref

float rowMaxRef(const float* x, std::int64_t n) {
    float largest = x[0];
    for (std::int64_t i = 1; i < n; ++i) largest = std::max(largest, x[i]);
    return largest;
}

void rowSubtractRef(float* x, float value, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) x[i] -= value;
}

float rowDotRef(const float* x, const float* y, std::int64_t n) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

float rowSumRef(const float* x, std::int64_t n) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i];
    return sum;
}

/// d = p · (d − dot)
void softmaxGradRef(const float* p, float* d, float dot, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) d[i] = p[i] * (d[i] - dot);
}

// ---------------------------------------------------------------- rows: Avx2, Avx512

#if AMAXSCOPE_X86
AMAXSCOPE_BEGIN_AVX2

AMAXSCOPE_INLINE float sumLanes(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

float rowMaxAvx2(const float* x, std::int64_t n) {
    float largest = x[0];
    std::int64_t i = 0;
    if (n >= 8) {
        __m256 m = _mm256_loadu_ps(x);
        for (i = 8; i + 8 <= n; i += 8) m = _mm256_max_ps(m, _mm256_loadu_ps(x + i));
        alignas(32) float lanes[8];
        _mm256_store_ps(lanes, m);
        for (const float lane : lanes) largest = std::max(largest, lane);
    }
    for (; i < n; ++i) largest = std::max(largest, x[i]);
    return largest;
}

void rowSubtractAvx2(float* x, float value, std::int64_t n) {
    const __m256 v = _mm256_set1_ps(value);
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(x + i, _mm256_sub_ps(_mm256_loadu_ps(x + i), v));
    rowSubtractRef(x + i, value, n - i);
}

float rowDotAvx2(const float* x, const float* y, std::int64_t n) {
    __m256 sum = _mm256_setzero_ps();
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) sum = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i), sum);
    return sumLanes(sum) + rowDotRef(x + i, y + i, n - i);
}

float rowSumAvx2(const float* x, std::int64_t n) {
    __m256 sum = _mm256_setzero_ps();
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) sum = _mm256_add_ps(_mm256_loadu_ps(x + i), sum);
    return sumLanes(sum) + rowSumRef(x + i, n - i);
}

void softmaxGradAvx2(const float* p, float* d, float dot, std::int64_t n) {
    const __m256 v = _mm256_set1_ps(dot);
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(d + i, _mm256_mul_ps(_mm256_loadu_ps(p + i), _mm256_sub_ps(_mm256_loadu_ps(d + i), v)));
    softmaxGradRef(p + i, d + i, dot, n - i);
}

AMAXSCOPE_END_ISA
AMAXSCOPE_BEGIN_AVX512

AMAXSCOPE_INLINE __mmask16 firstLanes(std::int64_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xFFFFU : (1U << n) - 1U);
}

float rowMaxAvx512(const float* x, std::int64_t n) {
    __m512 m = _mm512_set1_ps(x[0]);
    for (std::int64_t i = 0; i < n; i += 16) {
        const __mmask16 lanes = firstLanes(n - i);
        m = _mm512_mask_max_ps(m, lanes, m, _mm512_maskz_loadu_ps(lanes, x + i));
    }
    return _mm512_reduce_max_ps(m);
}

void rowSubtractAvx512(float* x, float value, std::int64_t n) {
    const __m512 v = _mm512_set1_ps(value);
    for (std::int64_t i = 0; i < n; i += 16) {
        const __mmask16 lanes = firstLanes(n - i);
        _mm512_mask_storeu_ps(x + i, lanes, _mm512_sub_ps(_mm512_maskz_loadu_ps(lanes, x + i), v));
    }
}

float rowDotAvx512(const float* x, const float* y, std::int64_t n) {
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t i = 0; i < n; i += 16) {
        const __mmask16 lanes = firstLanes(n - i);
        sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, x + i), _mm512_maskz_loadu_ps(lanes, y + i), sum);
    }
    return _mm512_reduce_add_ps(sum);
}

float rowSumAvx512(const float* x, std::int64_t n) {
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t i = 0; i < n; i += 16) sum = _mm512_add_ps(_mm512_maskz_loadu_ps(firstLanes(n - i), x + i), sum);
    return _mm512_reduce_add_ps(sum);
}

void softmaxGradAvx512(const float* p, float* d, float dot, std::int64_t n) {
    const __m512 v = _mm512_set1_ps(dot);
    for (std::int64_t i = 0; i < n; i += 16) {
        const __mmask16 lanes = firstLanes(n - i);
        const __m512 difference = _mm512_sub_ps(_mm512_maskz_loadu_ps(lanes, d + i), v);
        _mm512_mask_storeu_ps(d + i, lanes, _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, p + i), difference));
    }
}

AMAXSCOPE_END_ISA
#endif

// ---------------------------------------------------------------- dispatch list

struct RowKernels {
    float (*max)(const float*, std::int64_t);
    void (*subtract)(float*, float, std::int64_t);
    float (*dot)(const float*, const float*, std::int64_t);
    float (*sum)(const float*, std::int64_t);
    void (*softmaxGrad)(const float*, float*, float, std::int64_t);
};

RowKernels rowKernels(Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return {rowMaxAvx512, rowSubtractAvx512, rowDotAvx512, rowSumAvx512, softmaxGradAvx512};
    if (isa >= Isa::Avx2) return {rowMaxAvx2, rowSubtractAvx2, rowDotAvx2, rowSumAvx2, softmaxGradAvx2};
#endif
    (void)isa;
    return {rowMaxRef, rowSubtractRef, rowDotRef, rowSumRef, softmaxGradRef};
}

// ---------------------------------------------------------------- one head

/// A matrix of floats inside a larger one.
struct View {
    const float* data;
    std::int64_t ld;
    bool transposed = false;
};

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const View& a, const View& b, float* c, std::int64_t ldc,
              float alpha, bool accumulate, Isa isa) {
    gemmSerial({m, n, k, a.data, Type::F32, a.ld, a.transposed, b.data, Type::F32, b.ld, b.transposed, c, ldc, alpha,
                accumulate, nullptr},
               isa);
}

/// Where one head of one sequence lies.
struct Head {
    const float* q;
    const float* k;
    const float* v;
    std::int64_t ld;     // of q, k, v
    std::int64_t width;  // of one token's output
    std::int64_t probabilities;
    std::int64_t out;
    std::int64_t qOffset;  // of q, k, v in their buffer
    std::int64_t kOffset;
    std::int64_t vOffset;
};

template <typename Args>
std::int64_t headsPerGroup(const Args& args) {
    return args.heads / args.kvHeads;
}

template <typename Args>
Head headOf(const Args& args, std::int64_t index) {
    const std::int64_t sequence = index / args.heads;
    const std::int64_t head = index % args.heads;
    Head result{};
    const std::int64_t group = head / headsPerGroup(args);
    const std::int64_t kvWidth = args.kvHeads * args.headDim;
    result.width = args.heads * args.headDim;
    result.ld = result.width + 2 * kvWidth;
    const std::int64_t row = sequence * args.seqLen * result.ld;
    result.qOffset = row + head * args.headDim;
    result.kOffset = row + result.width + group * args.headDim;
    result.vOffset = result.kOffset + kvWidth;
    result.q = args.qkv + result.qOffset;
    result.k = args.qkv + result.kOffset;
    result.v = args.qkv + result.vOffset;
    result.probabilities = index * args.seqLen * args.seqLen;
    result.out = sequence * args.seqLen * result.width + head * args.headDim;
    return result;
}

float scoreScale(std::int64_t headDim) {
    return 1.0F / std::sqrt(static_cast<float>(headDim));
}

void forwardHead(const AttentionArgs& args, std::int64_t index, const RowKernels& row, Isa isa) {
    const Head head = headOf(args, index);
    const std::int64_t length = args.seqLen;
    float* probabilities = args.probabilities + head.probabilities;
    for (std::int64_t first = 0; first < length; first += kBlockRows) {
        const std::int64_t last = std::min(length, first + kBlockRows);
        float* block = probabilities + first * length;
        multiply(last - first, last, args.headDim, {head.q + first * head.ld, head.ld}, {head.k, head.ld, true}, block,
                 length, scoreScale(args.headDim), false, isa);
        for (std::int64_t i = first; i < last; ++i) {
            float* p = probabilities + i * length;
            const std::int64_t seen = i + 1;
            row.subtract(p, row.max(p, seen), seen);
            expOf(p, p, seen, isa);
            scaleBy(p, 1.0F / row.sum(p, seen), seen, isa);
            std::fill(p + seen, p + length, 0.0F);
        }
        multiply(last - first, args.headDim, last, {block, length}, {head.v, head.ld},
                 args.out + head.out + first * head.width, head.width, 1.0F, false, isa);
    }
}

/// From the last block to the first: that of the group's first head reaches every row of dK and dV and overwrites them,
/// all others add.
void backwardHead(const AttentionBackwardArgs& args, std::int64_t index, const RowKernels& row, Isa isa) {
    const Head head = headOf(args, index);
    const std::int64_t length = args.seqLen;
    const std::int64_t dim = args.headDim;
    const float scale = scoreScale(dim);
    const bool firstOfGroup = index % headsPerGroup(args) == 0;
    float* dQ = args.dQkv + head.qOffset;
    float* dK = args.dQkv + head.kOffset;
    float* dV = args.dQkv + head.vOffset;
    const auto scratchBytes = static_cast<std::size_t>(kBlockRows * length) * sizeof(float);
    auto* dScores = reinterpret_cast<float*>(threadScratch(Scratch::Attention, scratchBytes));
    for (std::int64_t first = (length - 1) / kBlockRows * kBlockRows; first >= 0; first -= kBlockRows) {
        const std::int64_t last = std::min(length, first + kBlockRows);
        const std::int64_t rows = last - first;
        const bool add = !firstOfGroup || last < length;
        const float* p = args.probabilities + head.probabilities + first * length;
        const View dOut{args.dOut + head.out + first * head.width, head.width};

        multiply(last, dim, rows, {p, length, true}, dOut, dV, head.ld, 1.0F, add, isa);
        multiply(rows, last, dim, dOut, {head.v, head.ld, true}, dScores, length, 1.0F, false, isa);
        for (std::int64_t i = first; i < last; ++i) {
            float* d = dScores + (i - first) * length;
            const float* pRow = p + (i - first) * length;
            const std::int64_t seen = i + 1;
            row.softmaxGrad(pRow, d, row.dot(pRow, d, seen), seen);
            std::fill(d + seen, d + last, 0.0F);
        }
        multiply(rows, dim, last, {dScores, length}, {head.k, head.ld}, dQ + first * head.ld, head.ld, scale, false,
                 isa);
        multiply(last, dim, rows, {dScores, length, true}, {head.q + first * head.ld, head.ld}, dK, head.ld, scale, add,
                 isa);
    }
}

/// `together` heads in a row always run in order on one thread.
template <typename Args>
void forEachHead(ThreadPool& pool, const Args& args, std::int64_t together, Isa isa,
                 void (*work)(const Args&, std::int64_t, const RowKernels&, Isa)) {
    const RowKernels row = rowKernels(isa);
    pool.run([&](int chunk) {
        const auto [first, last] = pool.part(args.batch * args.heads, chunk, together);
        for (std::int64_t index = first; index < last; ++index) work(args, index, row, isa);
    });
}

void checkGroups(std::int64_t heads, std::int64_t kvHeads) {
    ENGINE_CHECK(kvHeads > 0 && heads % kvHeads == 0, "each key-value head serves the same number of heads");
}

}  // namespace

void attentionForward(ThreadPool& pool, const AttentionArgs& args, Isa isa) {
    checkGroups(args.heads, args.kvHeads);
    forEachHead(pool, args, 1, isa, forwardHead);
}

void attentionBackward(ThreadPool& pool, const AttentionBackwardArgs& args, Isa isa) {
    checkGroups(args.heads, args.kvHeads);
    forEachHead(pool, args, headsPerGroup(args), isa, backwardHead);
}

}  // namespace engine::cpu

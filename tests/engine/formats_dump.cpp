// Prints every decoding table and many encodings of the narrow formats for check_formats_against_python.py. A line is
//   NAME decode B0 B1 …        the FP32 bits of codes 0, 1, …
//   NAME encode LOWER C0 C1 …  the codes of the floats whose bits are (0 << 16 | LOWER), (1 << 16 | LOWER), … up to
//   FFFF
// with all numbers in hexadecimal.
#include "number_formats.h"

#include <bit>
#include <cstdio>

int main() {
    for (const testing_support::NumberFormat& format : testing_support::numberFormats()) {
        std::printf("%s decode", format.name);
        for (int code = 0; code < format.codes; ++code) {
            std::printf(" %x", std::bit_cast<std::uint32_t>(format.decode(static_cast<std::uint16_t>(code))));
        }
        std::printf("\n");
        // Exact BF16 numbers, midpoints of BF16 and of half precision, and their nearest neighbours.
        for (const std::uint32_t lower : {0x0U, 0x1U, 0xFFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
            std::printf("%s encode %x", format.name, lower);
            for (std::uint32_t upper = 0; upper < 0x10000U; ++upper) {
                std::printf(" %x", static_cast<unsigned>(format.encode(std::bit_cast<float>(upper << 16 | lower))));
            }
            std::printf("\n");
        }
    }
}

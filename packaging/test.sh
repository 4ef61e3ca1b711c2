#!/bin/sh
# Builds and runs the tests: sh packaging/test.sh [--sanitizers] [PRESET]
#
#   PRESET         dev (all tests, the default), core (no Qt), asan or tsan
#   --sanitizers   afterwards also asan (engine and profiling) and tsan (what uses threads); CI does
#
# Installs what is missing. Tests labelled slow are left out: ctest --test-dir build/dev -L slow.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
export LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen
if command -v ccache >/dev/null 2>&1; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

sanitizers=""
if [ "${1:-}" = --sanitizers ]; then
    sanitizers="asan tsan"
    shift
fi

# The thread sanitizer of GCC 12 does not start where addresses are randomised as widely as newer kernels do.
without_randomisation() {
    if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

sh packaging/setup.sh test
failed=""
for preset in "${1:-dev}" $sanitizers; do
    printf 'test: preset %s\n' "$preset"
    cmake --preset "$preset"
    cmake --build --preset "$preset"
    if [ "$preset" = tsan ]; then
        without_randomisation ctest --preset tsan || failed="$failed tsan"
    else
        ctest --preset "$preset" || failed="$failed $preset"
    fi
done
if [ -n "$failed" ]; then
    printf 'test: failed under:%s\n' "$failed" >&2
    exit 1
fi

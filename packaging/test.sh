#!/bin/sh
# Builds and runs the tests: sh packaging/test.sh [PRESET], PRESET being dev (all tests, the default), core (no Qt),
# asan or tsan. Installs what is missing. Tests labelled slow are left out: ctest --test-dir build/dev -L slow.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
preset=${1:-dev}
export LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen
if command -v ccache >/dev/null 2>&1; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

sh packaging/setup.sh test
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset"

#!/bin/sh
# Checks that need a GPU, on a machine that has one and the CUDA toolkit, and nothing else: sh tests/gpu/run.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

g++ -std=c++20 -O2 -fPIC -shared -I"$root/engine" -I"$cuda/include" "$root/engine/cuda/plugin.cpp" \
    -o "$out/libamaxscope_cuda.so" -L"$cuda/lib64" -lcudart_static -ldl -lrt -lpthread
g++ -std=c++20 -O2 -I"$root/engine" "$root/tests/gpu/plugin_info.cpp" -o "$out/plugin_info" -ldl
LD_LIBRARY_PATH="$cuda/lib64:${LD_LIBRARY_PATH:-}" "$out/plugin_info" "$out/libamaxscope_cuda.so"

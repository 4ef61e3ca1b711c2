#!/bin/sh
# From a fresh Debian 12 to the program: installs what is needed, builds, and opens the window. Without a display it
# runs a short benchmark (fp32, bf16, fp8) and writes its HTML report instead. Arguments go to the window.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
export LANG=C.UTF-8

sh packaging/setup.sh
cmake --preset release -DAMAXSCOPE_WERROR=OFF
cmake --build --preset release

program=$root/build/release/bin
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec "$program/amaxscope" "$@"
fi

folder=$root/build/bench
name=bench-$(date +%Y%m%d-%H%M%S)
mkdir -p "$folder"
printf 'run: no display, so the benchmark runs instead\n'
"$program/amaxscope-cli" bench --preset tutorial --precisions fp32,bf16,fp8 --warmup 2 --repeats 5 \
    --steps-per-repeat 2 --db "$folder/$name.amax"
QT_QPA_PLATFORM=offscreen "$program/amaxscope" report "$folder/$name.amax" --out "$folder/$name.html"

#!/bin/sh
# packaging/setup.sh on a machine where everything is installed but pip, and nothing can be fetched: the set-up must
# end well and say that NVTX is missing. Stand-ins for the package tools come first in PATH; nothing real is touched.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/packaging"
# A CUDA toolkit of this machine would bring its own NVTX headers.
sed 's#/usr/local/cuda#/nowhere#' "$(dirname "$0")/../../packaging/setup.sh" >"$scratch/packaging/setup.sh"

stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
# shellcheck disable=SC2016  # meant for the stand-in
stand_in dpkg-query 'for word; do last=$word; done; [ "$last" = python3-pip ] || printf installed'
stand_in apt-get 'echo "E: Unable to fetch" >&2; exit 100'
stand_in sudo 'exec "$@"'
stand_in python3 'echo "No module named pip" >&2; exit 1'

have() { grep -q "$1" "$scratch/log" || { cat "$scratch/log"; echo "setup_test: not found: $1"; exit 1; }; }
if ! env -u CUDA_HOME -u CUDA_PATH -u AMAXSCOPE_NVTX_DIR PATH="$scratch/bin:$PATH" \
    sh "$scratch/packaging/setup.sh" test >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "setup_test: the set-up failed"
    exit 1
fi
have "apt-get could not install"
have "the build goes on and records ranges without NVTX"

#!/bin/sh
# Installs what a build needs from Debian 12 and provides the NVTX 3 headers. run.sh and test.sh call it; it does
# nothing that was done before, so it needs no network the second time.
#
#   sh packaging/setup.sh          what building and running needs
#   sh packaging/setup.sh test     the same and what the tests need
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
export DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8

say() { printf '%s\n' "$*"; }
die() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# Compiler and build tools; then the libraries in the order of the design: engine, store, command line, window.
build_packages="g++ cmake ninja-build
    nlohmann-json3-dev libtoml11-dev libsqlite3-dev libcli11-dev libfmt-dev
    qt6-base-dev qt6-svg-dev libqcustomplot-dev
    libqt6svg6 fontconfig fonts-dejavu-core"
test_packages="libgtest-dev python3 python3-numpy procps"

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        die "cannot install packages: neither root nor sudo: run as root, or install first: $*"
    fi
}

# Prints those of the named packages that are not installed.
missing() {
    for package in "$@"; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || printf '%s ' "$package"
    done
}

install_packages() {
    wanted=$(missing "$@")
    [ -n "$wanted" ] || return 0
    command -v apt-get >/dev/null 2>&1 || die "no apt-get: this script is for Debian 12: install by hand: $wanted"
    say "setup: installing $wanted"
    as_root apt-get update -q || say "setup: the package lists could not be refreshed; trying with those there are"
    # shellcheck disable=SC2086  # a list of words
    as_root apt-get install -q -y --no-install-recommends $wanted ||
        die "apt-get could not install: see its message above: $wanted"
}

have_nvtx() {
    for folder in "$root/build/nvtx/include" "${AMAXSCOPE_NVTX_DIR:-/none}" "${CUDA_HOME:-/none}/include" \
        "${CUDA_PATH:-/none}/include" /usr/local/cuda/include; do
        if [ -f "$folder/nvtx3/nvToolsExt.h" ]; then return 0; fi
    done
    return 1
}

# Unpacks the include folder of the PyPI package nvidia-nvtx (headers only; its path differs between versions).
fetch_nvtx() {
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
    mkdir -p "$root/build/nvtx" || return 1
    python3 -m pip download -q --no-deps --disable-pip-version-check --retries 2 --timeout 20 \
        -d "$root/build/nvtx" nvidia-nvtx || return 1
    python3 - "$root/build/nvtx" <<'PYTHON'
import pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
wheel = sorted(folder.glob("*.whl"))[-1]
with zipfile.ZipFile(wheel) as archive:
    header = next(name for name in archive.namelist() if name.endswith("include/nvtx3/nvToolsExt.h"))
    start = header[: -len("include/nvtx3/nvToolsExt.h")]
    for name in archive.namelist():
        if name.startswith(start + "include/") and not name.endswith("/"):
            target = folder / name[len(start):]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
PYTHON
}

# shellcheck disable=SC2086  # lists of words
install_packages $build_packages
if [ "${1:-}" = test ]; then
    # shellcheck disable=SC2086
    install_packages $test_packages
fi

if ! have_nvtx; then
    say "setup: fetching the NVTX 3 headers (PyPI package nvidia-nvtx)"
    # In a subshell: ranges without NVTX are no reason to end the set-up, whatever dies in there.
    if ! (fetch_nvtx); then
        say "setup: NVTX 3 headers could not be fetched: the build goes on and records ranges without NVTX." \
            "Install the CUDA toolkit, or unpack nvidia-nvtx and set AMAXSCOPE_NVTX_DIR, to have them."
    fi
fi

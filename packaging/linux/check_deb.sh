#!/bin/sh
# Builds the .deb from build/release and tries it on a bare Debian 12: install, start, resolve every library of the
# programs and of Qt's xcb platform plugin, remove. Needs root, debootstrap and a mirror; takes a few minutes.
#
#   sh packaging/linux/check_deb.sh [MIRROR]
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$source/build/release
[ "$(id -u)" = 0 ] || { echo "check_deb: run as root: debootstrap and chroot need it" >&2; exit 1; }
for tool in debootstrap dpkg-shlibdeps; do
    command -v "$tool" >/dev/null ||
        { echo "check_deb: no $tool: apt-get install debootstrap dpkg-dev" >&2; exit 1; }
done

# DEB names a package that was built before.
deb=${DEB:-}
if [ -z "$deb" ]; then
    cd "$source"
    cmake --preset release -DAMAXSCOPE_WERROR=OFF
    cmake --build --preset release
    (cd "$build" && cpack -G DEB)
    deb=$(find "$build" -maxdepth 1 -name 'amaxscope_*.deb' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
fi
dpkg-deb --info "$deb"
dpkg-deb --contents "$deb"

work=$(mktemp -d)
bare=$work/root
trap 'umount "$bare/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' INT TERM
debootstrap --variant=minbase bookworm "$bare" ${1:+"$1"} >"$work/debootstrap.log" ||
    { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }
mount -t proc proc "$bare/proc"

# For machines behind a proxy or with a mirror of their own: a command that gets the folder of the bare system.
if [ -n "${PREPARE_ROOT:-}" ]; then "$PREPARE_ROOT" "$bare"; fi
cp /etc/resolv.conf "$bare/etc/resolv.conf"
cp "$deb" "$bare/tmp/amaxscope.deb"
in_bare() { chroot "$bare" env DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 HOME=/root "$@"; }

in_bare apt-get update -q
in_bare apt-get install -q -y --no-install-recommends /tmp/amaxscope.deb
in_bare amaxscope-cli --version
in_bare env QT_QPA_PLATFORM=offscreen amaxscope --version
in_bare amaxscope-cli doctor
in_bare env QT_QPA_PLATFORM=offscreen amaxscope --screenshot /tmp/window.png
[ -s "$bare/tmp/window.png" ]
in_bare amaxscope-cli train --preset tutorial --precision fp8 --steps 3 --db /tmp/a.amax
in_bare env QT_QPA_PLATFORM=offscreen amaxscope report /tmp/a.amax --out /tmp/a.html
plugins=$(in_bare sh -c 'ls -d /usr/lib/*/qt6/plugins')
for object in /usr/bin/amaxscope /usr/bin/amaxscope-cli "$plugins/platforms/libqxcb.so" \
    "$plugins/iconengines/libqsvgicon.so"; do
    if in_bare ldd "$object" | grep 'not found'; then
        echo "check_deb: $object lacks libraries: see above: add them to CPACK_DEBIAN_PACKAGE_DEPENDS" >&2
        exit 1
    fi
    echo "check_deb: all libraries of $object are there"
done
for file in /usr/share/applications/org.amaxscope.Amaxscope.desktop /usr/share/mime/packages/org.amaxscope.Amaxscope.xml \
    /usr/share/metainfo/org.amaxscope.Amaxscope.metainfo.xml /usr/share/icons/hicolor/scalable/apps/amaxscope.svg \
    /usr/share/doc/amaxscope/copyright; do
    [ -f "$bare$file" ] || { echo "check_deb: $file is missing from the package" >&2; exit 1; }
done
in_bare apt-get remove -q -y amaxscope
[ ! -e "$bare/usr/bin/amaxscope" ] && [ ! -e "$bare/usr/share/applications/org.amaxscope.Amaxscope.desktop" ]
echo "check_deb: installed, started and removed cleanly: $deb"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deps.sh GROUP... - installs what is missing of the groups `build` and
# `check`. Quick, and without apt or root, when nothing is.
set -u

missing=
need() { # PACKAGE TEST...
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
has_headers() {
	echo '#include <stdio.h>' | ${1:-gcc} -E -
}
has_library() {
	pkg-config --exists "$1"
}

for group; do
	case $group in
	build)
		need gcc command -v gcc
		need libc6-dev has_headers
		need make command -v make
		need pkg-config command -v pkg-config
		need libgsl-dev has_library gsl
		need libjansson-dev has_library jansson
		need libxxhash-dev has_library libxxhash
		need libsmartcols-dev has_library smartcols
		need libcmocka-dev has_library cmocka
		need gnuplot-nox command -v gnuplot
		;;
	check)
		need binutils command -v nm
		need clang command -v clang
		need clang-format command -v clang-format
		need clang-tidy command -v clang-tidy
		;;
	*)
		echo "deps.sh: build or check, not '$group'" >&2
		exit 2
		;;
	esac
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "weir: needs what Debian calls$missing; without apt, please" \
		"install them by hand" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "weir: as root, please: apt-get install$missing" >&2
		exit 1
	fi
	as_root=sudo
	[ -t 0 ] || as_root='sudo -n'
fi

echo "  DEPS   $missing"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt() {
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" \
		</dev/null >"$log" 2>&1
}
# shellcheck disable=SC2086
if ! apt update || ! apt install -y --no-install-recommends $missing; then
	cat "$log" >&2
	echo "weir: could not install$missing" >&2
	exit 1
fi

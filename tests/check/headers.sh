#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# headers.sh - every header of sim compiles alone and twice, with gcc and
# with clang; route's as C++ too.
set -u

flags='-Isim -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion'
flags="$flags -Werror $(pkg-config --cflags gsl jansson libxxhash smartcols)"
bad=0

try() { # HEADER COMPILER FLAG...
	header=$1
	shift
	# shellcheck disable=SC2086
	errors=$(printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
		"$@" $flags - 2>&1) && return
	echo "sim/$header: with $1: $(echo "$errors" |
		grep -m 1 'error:')" >&2
	bad=1
}

for path in sim/*/*.h; do
	header=${path#sim/}
	try "$header" gcc -std=gnu11 -x c
	try "$header" clang -std=gnu11 -x c
done
try route/route.h clang -std=c++11 -x c++
exit $bad

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# layers.sh - holds sim to sim/LAYERS: what a directory includes, what its
# objects (of $BUILD, optimised) call, and that they hold nothing mutable.
# One line on stderr for each violation.
set -u

build=${BUILD:-build/release}
table=sim/LAYERS
bad=0

fail() {
	echo "$*" >&2
	bad=1
}

row_of() { # DIRECTORY
	sed -n "s/^$1[ 	][ 	]*\([0-9][0-9]*\).*/\1/p" $table
}

may_use() { # DIRECTORY WORD
	sed -n "s/^$1[ 	][ 	]*[0-9][0-9]*\(.*\)/\1 /p" $table |
		grep -q "[ 	]$2[ 	]"
}

# ---- includes -----------------------------------------------------------

# FILE:LINE:NAME of every include that matches a pattern with one group.
includes() { # PATTERN FILE...
	pattern=$1
	shift
	for f; do
		sed -n "s|^[ 	]*#[ 	]*include[ 	]*$pattern.*|\1|p;" "$f" |
			while read -r name; do
				line=$(grep -nF "$name" "$f" | head -n 1)
				echo "$f:${line%%:*}:$name"
			done
	done
}

own_include() { # DIRECTORY ROW FILE:LINE HEADER
	other=${4%%/*}
	case $4 in
	"$1"/*) return ;;
	*/*) ;;
	*)
		[ -e "sim/$1/$4" ] || fail "$3: sim/$1 has no $4"
		return
		;;
	esac
	other_row=$(row_of "$other")
	if [ -z "$other_row" ]; then
		fail "$3: $other has no row in $table"
	elif [ "$other_row" -ge "$2" ]; then
		fail "$3: $1 (row $2) may not include $other (row $other_row)"
	elif [ "$4" != "$other/$other.h" ]; then
		fail "$3: $4 is private to $other"
	fi
}

library_include() { # DIRECTORY FILE:LINE HEADER
	case $3 in
	gsl/*) library=gsl ;;
	jansson.h) library=jansson ;;
	xxhash.h) library=xxhash ;;
	libsmartcols/*) library=smartcols ;;
	pthread.h | threads.h) library=threads ;;
	*) return ;;
	esac
	may_use "$1" $library || fail "$2: $1 may not include <$3>"
}

# ---- symbols ------------------------------------------------------------

libm='log|log2|log10|log1p|exp|exp2|exp10|expm1|pow|sin|cos|tan|sincos'
libm="$libm|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|cbrt"
libm="$libm|hypot|erf|erfc|lgamma|tgamma"
libm="($libm)[fl]?"
stdout='stdout|puts|putchar|v?printf|__v?printf_chk'
clock='time|clock|clock_gettime|gettimeofday|times|getrusage'
random='s?rand|s?random|[dlm]rand48|getrandom|getentropy|arc4random'
# What the compiler calls of its own accord is no choice of ours.
core='mem(cpy|move|set|cmp)|__assert_fail|_GLOBAL_OFFSET_TABLE_'
core="$core|__mem(cpy|move|set)_chk|__stack_chk_fail"

undefined() { # OBJECT
	nm -u "$1" | awk '{ print $NF }'
}

calls() { # DIRECTORY OBJECT
	undefined "$2" >"$symbols"
	for word in libm stdout clock; do
		may_use "$1" $word && continue
		eval "pattern=\$$word"
		for symbol in $(grep -Ex "$pattern" "$symbols"); do
			fail "$2: $1 may not call $symbol ($word)"
		done
	done
	for symbol in $(grep -Ex "$random" "$symbols"); do
		fail "$2: $symbol: chance comes from named streams only"
	done
}

# The section's name tells: constants with addresses in them are in
# .data.rel.ro, which nm's letters do not tell from .data.
mutable() { # OBJECT
	for found in $(nm -f sysv "$1" | awk -F '|' '
		$7 ~ /^(\.t?data|\.t?bss)/ && $7 !~ /^\.data\.rel\.ro/ ||
		$7 ~ /COM/ {
			gsub(/ /, "", $1); print $1
		}'); do
		fail "$1: $found can be written to: no mutable globals"
	done
}

# route links with nothing: what its objects leave open, they define among
# themselves.
closed_core() { # OBJECT...
	nm --defined-only "$@" | awk 'NF == 3 { print $3 }' >"$symbols"
	for object; do
		for symbol in $(undefined "$object" |
			grep -vxFf "$symbols" | grep -vEx "$core"); do
			fail "$object: route may not call $symbol"
		done
	done
}

# ---- all of it ----------------------------------------------------------

symbols=$(mktemp) || exit 1
trap 'rm -f "$symbols"' EXIT

for path in sim/*/; do
	d=$(basename "$path")
	row=$(row_of "$d")
	if [ -z "$row" ]; then
		fail "sim/$d: has no row in $table"
		continue
	fi
	files=$(find "sim/$d" -name '*.[ch]' | LC_ALL=C sort)
	# shellcheck disable=SC2086
	set -- $files
	for found in $(includes '"\([^"]*\)"' "$@"); do
		own_include "$d" "$row" "${found%:*}" "${found##*:}"
	done
	for found in $(includes '<\([^>]*\)>' "$@"); do
		library_include "$d" "${found%:*}" "${found##*:}"
	done
	for f; do
		case $f in
		*.c) ;;
		*) continue ;;
		esac
		object=$build/${f%.c}.o
		if [ ! -e "$object" ]; then
			fail "$f: not built in $build"
			continue
		fi
		calls "$d" "$object"
		[ "$d" = cli ] || mutable "$object"
	done
done

set --
for f in sim/route/*.c; do
	object=$build/${f%.c}.o
	[ ! -e "$object" ] || set -- "$@" "$object"
done
[ $# -eq 0 ] || closed_core "$@"

# Law L10: who routes or scales cannot know how long an answer will be.
sealed=$(grep -nE '(\.|->)sealed_\>' -r sim --include='*.[ch]' |
	grep -vE '^sim/(load|replica)/|^sim/base/base\.h:')
if [ -n "$sealed" ]; then
	fail "$(echo "$sealed" | sed 's/:[^:]*$/: reads a true output length/')"
fi

exit $bad

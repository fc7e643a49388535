#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh LOGS TEST... - runs test programs and scripts, JOBS (2) at a time,
# keeps each one's output in LOGS/NAME.log and ends with one line:
# "N passed, N failed, N skipped". A test speaks TAP; see tests/README.md.
set -u

limit=${WEIR_TEST_SECONDS:-600}

# Counts the results in a log: "passed failed skipped". What was planned and
# has no result was lost in a crash, and failed; so did a test that reported
# no failure and yet did not exit with 0. Without TAP it is one test.
count() { # LOG STATUS
	awk -v status="$2" '
	/^1\.\.[0-9]+$/ { planned += substr($0, 4); tap = 1 }
	/^(not )?ok [0-9]/ && /# SKIP/ { skipped++; tap = 1; next }
	/^ok [0-9]/ { passed++; tap = 1 }
	/^not ok [0-9]/ { failed++; tap = 1 }
	END {
		lost = planned - passed - failed - skipped
		if (lost > 0)
			failed += lost
		if (!failed && status != 0)
			failed++
		if (!tap && status == 0)
			passed++
		print passed + 0, failed + 0, skipped + 0
	}' "$1"
}

one() { # LOGS TEST
	name=$(echo "$2" | sed 's,.*tests/,,; s/\.sh$//')
	log=$1/$(echo "$name" | tr / -).log
	case $2 in
	*.sh) set -- "$1" sh "$2" ;;
	esac
	shift
	CMOCKA_MESSAGE_OUTPUT=TAP timeout "$limit" "$@" \
		</dev/null >"$log" 2>&1
	status=$?
	counts=$(count "$log" "$status")
	echo "$counts" >"${log%.log}.count"
	# One printf, so that lines of parallel tests do not mix.
	# shellcheck disable=SC2086
	line=$(printf '  %-28s %4d passed %4d failed %4d skipped' \
		"$name" $counts)
	case $counts in
	*' 0 '*)
		printf '%s\n' "$line"
		;;
	*)
		case $status in
		124) why=" (stopped after $limit s)" ;;
		*) why=" (exit status $status)" ;;
		esac
		printf '%s\n%s\n' "$line$why, from $log:" \
			"$(grep -v '^ok ' "$log" | tail -n 40)"
		;;
	esac
}

if [ "${1-}" = --one ]; then
	one "$2" "$3"
	exit 0
fi

logs=$1
shift
rm -rf "$logs"
mkdir -p "$logs"
if [ $# -gt 0 ]; then
	printf '%s\n' "$@" |
		xargs -P "${JOBS:-2}" -I '{}' sh "$0" --one "$logs" '{}'
fi
find "$logs" -name '*.count' -exec cat {} + | awk -v expected=$# '
{ passed += $1; failed += $2; skipped += $3; seen++ }
END {
	failed += expected - seen
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0
}'

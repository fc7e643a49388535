#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# format.sh - the C of sim and tests looks as .clang-format says.
set -u

bad=0
for f in $(find sim tests -name '*.[ch]' | LC_ALL=C sort); do
	first=$(clang-format --dry-run -Werror "$f" 2>&1 |
		grep -m 1 'error:') || continue
	echo "$(echo "$first" | cut -d : -f 1-2): not as .clang-format says;" \
		"make format" >&2
	bad=1
done
exit $bad

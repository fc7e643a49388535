/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

const char *route_status_name(enum route_status status)
{
	static const char *const names[] = {
		[ROUTE_OK] = "ok",
		[ROUTE_NOT_CONFIGURED] = "endpoint_not_configured",
		[ROUTE_NO_REPLICA] = "no_replica",
		[ROUTE_BAD_ARGUMENT] = "bad_argument",
		[ROUTE_TOO_SMALL] = "too_small",
		[ROUTE_OVERFLOW] = "overflow",
	};
	assert((unsigned)status < sizeof(names) / sizeof(names[0]));
	return names[status];
}

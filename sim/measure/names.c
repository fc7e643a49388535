/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

const char *measure_outcome_name(enum measure_outcome outcome)
{
	static const char *const names[MEASURE_OUTCOMES] = {
		[OUTCOME_IN_SYSTEM] = "in_system",
		[OUTCOME_COMPLETED] = "completed",
		[OUTCOME_REJECTED] = "rejected",
		[OUTCOME_TIMED_OUT] = "timed_out",
		[OUTCOME_FAILED] = "failed",
	};
	assert((unsigned)outcome < MEASURE_OUTCOMES);
	return names[outcome];
}

const char *measure_error_name(enum measure_error error)
{
	static const char *const names[MEASURE_ERRORS] = {
		[ERROR_NONE] = "none",
		[ERROR_ENDPOINT_NOT_CONFIGURED] = "endpoint_not_configured",
		[ERROR_ENDPOINT_NOT_READY] = "endpoint_not_ready",
		[ERROR_ROUTING_ERROR] = "routing_error",
		[ERROR_QUEUE_FULL] = "queue_full",
		[ERROR_TOO_LONG] = "too_long",
		[ERROR_TIMEOUT] = "timeout",
		[ERROR_REPLICA_LOST] = "replica_lost",
	};
	assert((unsigned)error < MEASURE_ERRORS);
	return names[error];
}

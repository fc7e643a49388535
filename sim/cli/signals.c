/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	if (interrupted)
		_exit(EXIT_INTERRUPTED);
	interrupted = 1;
}

void signals_catch(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool signals_stop(void)
{
	return interrupted != 0;
}

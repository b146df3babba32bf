// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "prism_generations.h"

void prism_generations_init(struct prism_generations *generations)
{
	memset(generations, 0, sizeof(*generations));
	generations->present = 1;
}

/*
 * Counts the requests of a generation that are under way. Counts ends first: once an end is visible, the request's
 * accesses to memory are done, and its beginning is visible. Requests whose beginning is not visible yet see all that
 * the caller has seen.
 */
static u32 count_running(const struct prism_generations *generations, u64 generation)
{
	const unsigned int parity = generation & 1;
	u32 begun = 0, ended = 0, i;

	for (i = 0; i < PRISM_SLOTS; i++)
		ended += atomic_read(&generations->slots[i].ended[parity]);
	/* pairs with the barriers of requests that begin and end */
	smp_mb();
	for (i = 0; i < PRISM_SLOTS; i++)
		begun += atomic_read(&generations->slots[i].begun[parity]);
	return begun - ended;
}

/* Starts a new generation when the one before has run out: then the present one will run out too, whatever comes. */
u64 prism_generations_look(struct prism_generations *generations, u8 self, u64 *begun)
{
	const u64 present = generations->present;
	u32 older = count_running(generations, present - 1);
	u32 running = count_running(generations, present);

	if (!older && running)
		WRITE_ONCE(generations->present, present + 1);

	*begun = present;
	if (self == (present & 1) + 1)
		running--;
	else if (self)
		older--;
	return older ? present - 1 : running ? present : present + 1;
}

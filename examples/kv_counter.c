/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-KV from C: a counter that several clients may add to at once.
 *
 *     $ ninja -C build programs
 *     $ build/bin/prism-kv-server --records 1000 --port 18650 &
 *     $ build/bin/examples/kv_counter localhost:18650
 */
#include <errno.h>
#include <prism/kv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "visits";

/* Ends the program if a function has returned a negative errno value. */
static void check(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s (%s)\n", what, prism_store_message(), strerror(-result));
	exit(EXIT_FAILURE);
}

/* Adds to the number, and returns the sum; the first client creates the key. */
static long add(struct prism_kv *store, long amount)
{
	for (;;) {
		char text[32] = "0";
		size_t size = sizeof(text) - 1;
		uint64_t version;
		long total;
		int result = prism_kv_get(store, key, strlen(key), text, &size, &version);

		if (!result)
			text[size] = '\0';
		else if (result != -ENOENT) /* version is 0 then: put the key if it is still not there */
			check(result, "get");
		total = strtol(text, NULL, 10) + amount;
		snprintf(text, sizeof(text), "%ld", total);
		result = prism_kv_put_if(store, key, strlen(key), text, strlen(text), version);
		if (!result)
			return total;
		if (result != -ESTALE && result != -EEXIST && result != -ENOENT) /* another client was faster */
			check(result, "put");
	}
}

int main(int argc, char **argv)
{
	const struct prism_kv_options options = {.size = sizeof(options), .timeout_ms = 2000};
	struct prism_kv *store;

	if (argc != 2) {
		fprintf(stderr, "usage: %s SERVER\n", argv[0]);
		return EXIT_FAILURE;
	}
	check(prism_kv_open(&store, argv[1], &options), "open");
	for (long amount = 1; amount <= 100; amount *= 10)
		printf("%ld\n", add(store, amount));
	prism_kv_close(store);
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_SUCCESS;
	perror("cannot write to the standard output");
	return EXIT_FAILURE;
}

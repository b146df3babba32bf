/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-TX from C: moves an amount from one account to another, on whatever shards they are.
 *
 *     $ ninja -C build programs
 *     $ head -c 32 /dev/urandom >store.secret
 *     $ build/bin/prism-tx-server --shard 0 --shards 2 --secret store.secret --port 18660 &
 *     $ build/bin/prism-tx-server --shard 1 --shards 2 --secret store.secret --port 18661 &
 *     $ build/bin/examples/tx_transfer localhost:18660,localhost:18661 alice bob 30
 */
#include <errno.h>
#include <prism/tx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct transfer {
	const char *from, *to;
	long amount;
	long left; /* with from, after the transfer */
};

/* Accounts that do not exist begin with 100. */
static int read_balance(struct prism_tx_transaction *tx, const char *account, long *balance)
{
	char text[32];
	size_t size = sizeof(text) - 1;
	int result = prism_tx_read(tx, account, strlen(account), text, &size);

	*balance = 100;
	if (result == -ENOENT)
		return 0;
	if (result)
		return result;
	text[size] = '\0';
	*balance = strtol(text, NULL, 10);
	return 0;
}

static int write_balance(struct prism_tx_transaction *tx, const char *account, long balance)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", balance);
	return prism_tx_write(tx, account, strlen(account), text, strlen(text));
}

/* Runs again after each conflict. Returns 0 to commit; anything else aborts, and is returned by prism_tx_run(). */
static int move(struct prism_tx_transaction *tx, void *argument)
{
	struct transfer *transfer = argument;
	const struct prism_tx_key keys[] = {
		{transfer->from, strlen(transfer->from)}, {transfer->to, strlen(transfer->to)}};
	long from, to;
	int result = prism_tx_fetch(tx, keys, 2); /* both at once: one round trip instead of two */

	if (!result)
		result = read_balance(tx, transfer->from, &from);
	if (!result)
		result = read_balance(tx, transfer->to, &to);
	if (result)
		return result;
	if (from < transfer->amount)
		return -EDOM;
	transfer->left = from - transfer->amount;
	result = write_balance(tx, transfer->from, transfer->left);
	return result ? result : write_balance(tx, transfer->to, to + transfer->amount);
}

int main(int argc, char **argv)
{
	struct transfer transfer;
	struct prism_tx *store;
	char *end = NULL;
	int result;

	if (argc == 5)
		transfer = (struct transfer){.from = argv[2], .to = argv[3], .amount = strtol(argv[4], &end, 10)};
	if (!end || *end || transfer.amount <= 0) {
		fprintf(stderr, "usage: %s SHARDS FROM TO AMOUNT\n", argv[0]);
		return EXIT_FAILURE;
	}
	result = prism_tx_open(&store, argv[1], NULL);
	if (!result)
		result = prism_tx_run(store, move, &transfer, 0);
	if (result == -EDOM)
		fprintf(stderr, "%s has less than %ld\n", transfer.from, transfer.amount);
	else if (result)
		fprintf(stderr, "%s\n", prism_store_message());
	else
		printf("%s has %ld\n", transfer.from, transfer.left);
	prism_tx_close(store);
	if (fflush(stdout) || ferror(stdout)) {
		perror("cannot write to the standard output");
		return EXIT_FAILURE;
	}
	return result ? EXIT_FAILURE : EXIT_SUCCESS;
}

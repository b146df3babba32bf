/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* That the headers are plain C. */
#include <prism/tx.h>

#include <prism/kv.h>

int prism_headers_in_c(struct prism_kv **store);

int prism_headers_in_c(struct prism_kv **store)
{
	const struct prism_kv_options options = {.size = sizeof(options), .timeout_ms = 1000};
	struct prism_kv_operation operation = {.kind = PRISM_KV_GET, .key = "k", .key_size = 1};

	return prism_kv_open(store, "localhost", &options) || prism_kv_submit(*store, &operation);
}

int prism_transaction_in_c(struct prism_tx *store);

int prism_transaction_in_c(struct prism_tx *store)
{
	struct prism_tx_transaction *transaction;
	const struct prism_tx_key key = {"k", 1};

	if (prism_tx_begin(store, &transaction))
		return 1;
	return prism_tx_fetch(transaction, &key, 1) || prism_tx_commit(transaction);
}

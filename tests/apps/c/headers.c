/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks that the headers are plain C. */
#include <prism/tx.h>

#include <prism/gam.h>
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

int prism_node_in_c(struct prism_gam **node, struct prism_gam_session **session);

int prism_node_in_c(struct prism_gam **node, struct prism_gam_session **session)
{
	const struct prism_gam_options options = {.size = sizeof(options), .consistency = PRISM_GAM_SC};
	const struct prism_gam_placement where = {.place = PRISM_GAM_REMOTE};
	uint64_t address;

	if (prism_gam_join(node, "localhost", &options) || prism_gam_session_begin(*node, session))
		return 1;
	return prism_gam_malloc(*session, 1, &where, &address);
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* That the headers are plain C. */
#include <prism/kv.h>

int prism_headers_in_c(struct prism_kv **store);

int prism_headers_in_c(struct prism_kv **store)
{
	const struct prism_kv_options options = {.size = sizeof(options), .timeout_ms = 1000};
	struct prism_kv_operation operation = {.kind = PRISM_KV_GET, .key = "k", .key_size = 1};

	return prism_kv_open(store, "localhost", &options) || prism_kv_submit(*store, &operation);
}

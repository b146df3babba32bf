/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks that the headers are C++, of any standard. */
#include <prism/tx.h>

#include <prism/gam.h>
#include <prism/kv.h>

int prism_headers_in_cpp(prism_kv **store);

int prism_headers_in_cpp(prism_kv **store)
{
	prism_kv_options options = prism_kv_options();

	options.size = sizeof(options);
	return prism_kv_open(store, "localhost", &options);
}

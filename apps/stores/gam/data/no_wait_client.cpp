/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/data/no_wait_client.hpp"

#include <cerrno>
#include <utility>

#include "gam/data/no_wait_transaction.hpp"

namespace prism::gam
{

NoWaitClient::NoWaitClient(Node &node, const NoWaitClientOptions &options)
	: TransactionClient(options.depth, options.retry), node_(node)
{
}

/* Ends the coroutines first, as they refer to the transactions. */
NoWaitClient::~NoWaitClient()
{
	abandon();
}

Result<std::unique_ptr<NoWaitClient>> NoWaitClient::open(
	Node &node, Address catalogue, const NoWaitClientOptions &options)
{
	if (options.depth == 0)
		return make_error(EINVAL, "a client has one transaction under way at least");
	/* The constructor is private: no make_unique. */
	std::unique_ptr<NoWaitClient> client(new NoWaitClient(node, options));
	for (std::uint32_t lane = 0; lane < options.depth; lane++) {
		auto session = std::make_unique<Session>(node);
		Result<Records> records = Records::open(*session, catalogue);
		if (!records)
			return records.error();
		client->lanes_.push_back(
			std::make_unique<NoWaitTransaction>(std::move(session), *std::move(records), options));
	}
	return client;
}

tx::Transaction &NoWaitClient::transaction(std::uint32_t lane) noexcept
{
	return *lanes_[lane];
}

} // namespace prism::gam

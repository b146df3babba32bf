/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "locking_client.hpp"

#include "locking_transaction.hpp"

#include "locking/kind.hpp"
#include "tx_calls/body.hpp"

#include <cerrno>

namespace prism::tx
{

namespace
{

/** The part of the Hello that a server adds. */
struct OwnPart {
	std::uint32_t message_size = 0;
	std::uint32_t shard = 0;
	std::uint32_t shards = 0;
};

/** Parses and checks the part of a server that is not trusted. */
Result<OwnPart> own_part_of(const ConnectionRecord &record, const apps::Hello &hello)
{
	BodyReader body(apps::Hello::own_part(record.private_data));
	OwnPart own;
	const std::uint64_t longest = rpc::message_header_size + locking::commit_item_size +
				      std::uint64_t{hello.max_key_size} + hello.max_value_size;
	if (!body.take(own.message_size) || !body.take(own.shard) || !body.take(own.shards) || !body.empty() ||
		own.message_size > rpc::max_message_size || longest > own.message_size || !hello.max_key_size)
		return make_error(EBADMSG, "announces limits that no message can keep");
	return own;
}

} // namespace

LockingClient::LockingClient(Links links, std::vector<std::uint32_t> message_sizes, const LockingClientOptions &options)
	: CallingClient(std::move(links), options, 0), options_(options), message_sizes_(std::move(message_sizes))
{
	for (std::uint32_t lane = 0; lane < options.depth; lane++)
		add(std::make_unique<LockingTransaction>(*this, lane));
}

LockingClient::~LockingClient()
{
	finish();
}

Result<std::unique_ptr<LockingClient>> LockingClient::connect(
	const Context &context, std::span<const apps::ServerAddress> shards, const LockingClientOptions &options)
{
	const apps::Hello wanted{locking::store_kind};
	std::vector<std::uint32_t> sizes;
	const auto measure = [&](std::size_t shard, const ConnectionRecord &record,
				     const apps::Hello &hello) -> Result<rpc::SlotSizes> {
		const Result<OwnPart> own = own_part_of(record, hello);
		if (!own)
			return own.error();
		if (Result<void> right = check_place(own->shard, own->shards, shard, shards.size()); !right)
			return right.error();
		sizes.push_back(own->message_size);
		return rpc::SlotSizes{own->message_size, own->message_size, 0};
	};
	Result<Links> links = connect_all(context, shards, wanted, options, 0, measure);
	if (!links)
		return links.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<LockingClient>(new LockingClient(*std::move(links), std::move(sizes), options));
}

} // namespace prism::tx

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "locking_client.hpp"

#include "locking_transaction.hpp"

#include "tx/rpc/body.hpp"

#include <cerrno>

namespace prism::tx
{

namespace
{

/** The longest message of the shard; checked, as the server is not trusted. */
Result<std::uint32_t> message_size_of(
	const ConnectionRecord &record, const apps::Hello &hello, std::size_t number, std::size_t number_of_all)
{
	BodyReader own(apps::Hello::own_part(record.private_data));
	std::uint32_t message_size = 0, shard = 0, shards = 0;
	const std::uint64_t longest = kv::message_header_size + locking::commit_item_size +
				      std::uint64_t{hello.max_key_size} + hello.max_value_size;
	if (!own.take(message_size) || !own.take(shard) || !own.take(shards) || !own.empty() ||
		message_size > kv::max_message_size || longest > message_size || !hello.max_key_size)
		return make_error(EBADMSG, "announces limits that no message can keep");
	if (shard != number || shards != number_of_all)
		return make_error(EBADMSG, "is shard " + std::to_string(shard) + " of " + std::to_string(shards) +
						   ", and was named as shard " + std::to_string(number) + " of " +
						   std::to_string(number_of_all));
	return message_size;
}

} // namespace

LockingClient::LockingClient(Links links, std::vector<std::uint32_t> message_sizes, const LockingClientOptions &options)
	: CallingClient(std::move(links), options, 0), options_(options), message_sizes_(std::move(message_sizes))
{
	for (std::uint32_t lane = 0; lane < options.depth; lane++)
		transactions_.push_back(std::make_unique<LockingTransaction>(*this, lane));
}

LockingClient::~LockingClient()
{
	finish();
}

Result<std::unique_ptr<LockingClient>> LockingClient::connect(
	const Context &context, std::span<const apps::ServerAddress> shards, const LockingClientOptions &options)
{
	apps::Hello wanted;
	wanted.kind = apps::StoreKind::locking;
	wanted.version = locking::protocol_version;
	std::vector<std::uint32_t> sizes;
	const auto measure = [&](std::size_t shard, const ConnectionRecord &record,
				     const apps::Hello &hello) -> Result<kv::SlotSizes> {
		const Result<std::uint32_t> size = message_size_of(record, hello, shard, shards.size());
		if (!size)
			return size.error();
		sizes.push_back(*size);
		return kv::SlotSizes{*size, *size, 0};
	};
	Result<Links> links = connect_all(context, shards, wanted, options, 0, measure);
	if (!links)
		return links.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<LockingClient>(new LockingClient(*std::move(links), std::move(sizes), options));
}

bool LockingClient::answered(std::uint32_t lane, std::uint32_t shard, std::span<const std::byte> response) noexcept
{
	return transactions_[lane]->answered(shard, response);
}

Transaction &LockingClient::transaction(std::uint32_t lane) noexcept
{
	return *transactions_[lane];
}

} // namespace prism::tx

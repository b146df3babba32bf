/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "introduction.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "base/wire.hpp"

namespace prism::rs
{

using apps::load;
using apps::store;

Introduction Introduction::of(const Configuration &volume, std::size_t replica)
{
	Introduction made;
	made.volume = volume.volume;
	made.blocks = volume.blocks;
	made.block_size = volume.block_size;
	made.replica = static_cast<std::uint16_t>(replica);
	made.replicas = static_cast<std::uint16_t>(volume.replicas.size());
	return made;
}

std::vector<std::byte> Introduction::serialize() const
{
	std::vector<std::byte> bytes(size + founders.size() * sizeof(founders[0]));
	store(&bytes[0], volume);
	store(&bytes[8], epoch);
	store(&bytes[16], blocks);
	store(&bytes[24], client);
	store(&bytes[32], block_size);
	store(&bytes[36], replica);
	store(&bytes[38], replicas);
	store(&bytes[40], static_cast<std::uint8_t>(serving));
	store(&bytes[41], static_cast<std::uint8_t>(purpose));
	store(&bytes[42], asker);
	for (std::size_t i = 0; i < founders.size(); i++)
		store(&bytes[size + i * sizeof(founders[0])], founders[i]);
	return bytes;
}

Result<Introduction> Introduction::parse(const ConnectionRecord &record, const std::string &who)
{
	const std::span<const std::byte> bytes = apps::Hello::own_part(record.private_data);
	if (bytes.size() < size)
		return make_error(EBADMSG, who + " does not say which volume it is of");
	Introduction made;
	made.volume = load<std::uint64_t>(&bytes[0]);
	made.epoch = load<std::uint64_t>(&bytes[8]);
	made.blocks = load<std::uint64_t>(&bytes[16]);
	made.client = load<std::uint64_t>(&bytes[24]);
	made.block_size = load<std::uint32_t>(&bytes[32]);
	made.replica = load<std::uint16_t>(&bytes[36]);
	made.replicas = load<std::uint16_t>(&bytes[38]);
	made.serving = load<std::uint8_t>(&bytes[40]) == 1;
	made.purpose = static_cast<Purpose>(load<std::uint8_t>(&bytes[41]));
	made.asker = load<std::uint16_t>(&bytes[42]);
	for (std::size_t at = size; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t))
		made.founders.push_back(load<std::uint64_t>(&bytes[at]));
	if (made.purpose > Purpose::found || (!made.founders.empty() && made.founders.size() != made.replicas))
		return make_error(EBADMSG, who + " introduces itself in a way that cannot be");
	return made;
}

Result<void> Introduction::expect(const Introduction &theirs, const std::string &who) const
{
	const auto wrong = [&who](const char *what, std::uint64_t there, std::uint64_t here) {
		return make_error(EPROTONOSUPPORT, fmt::format("{} has {} {:#x}, not {:#x}", who, what, there, here),
			"give clients and replicas the same configuration");
	};
	if (theirs.volume != volume)
		return wrong("volume", theirs.volume, volume);
	if (theirs.block_size != block_size)
		return wrong("a block size of", theirs.block_size, block_size);
	if (theirs.blocks != blocks)
		return wrong("a number of blocks of", theirs.blocks, blocks);
	if (theirs.replicas != replicas)
		return wrong("a number of replicas of", theirs.replicas, replicas);
	if (theirs.replica != replica)
		return wrong("replica number", theirs.replica, replica);
	return {};
}

namespace
{

Result<Introduction> read_introduction(
	const ConnectionRecord &record, const apps::StoreKind &kind, const std::string &who)
{
	if (Result<apps::Hello> hello = apps::Hello{kind}.expect(record, who); !hello)
		return hello.error();
	return Introduction::parse(record, who);
}

} // namespace

Result<Introduction> meet(
	const ConnectionRecord &theirs, const apps::StoreKind &kind, const Introduction &own, const std::string &who)
{
	Result<Introduction> introduction = read_introduction(theirs, kind, who);
	if (!introduction)
		return introduction;
	if (Result<void> expected = own.expect(*introduction, who); !expected)
		return expected.error();
	return introduction;
}

Result<Introduction> meet_client(
	const ConnectionRecord &theirs, const apps::StoreKind &kind, const Introduction &own, const apps::LogSink &log)
{
	const std::string who = "the client";
	Result<Introduction> client = read_introduction(theirs, kind, who);
	if (!client)
		return client;
	const Result<void> expected = own.expect(*client, who);
	if (expected)
		return client;
	if (client->volume == own.volume)
		return expected.error();
	apps::log_to(log, apps::LogLevel::warning, expected.error().message);
	return make_error(EPROTONOSUPPORT, "the client has another volume",
		"give clients and replicas the same configuration; the replica's log has the numbers of both");
}

} // namespace prism::rs

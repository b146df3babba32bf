/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "shards.hpp"

#include <cerrno>
#include <sstream>

#include <sodium.h>

namespace prism::tx
{

Result<Shards> parse_shards(const std::string &text, std::uint16_t first_port)
{
	Shards shards;
	std::istringstream list(text);
	for (std::string item; std::getline(list, item, ',');) {
		const auto port = static_cast<std::uint16_t>(first_port + shards.size());
		Result<apps::ServerAddress> address = apps::ServerAddress::parse(item, port);
		if (!address)
			return address.error();
		shards.push_back(*std::move(address));
	}
	if (shards.empty() || shards.size() > max_shards)
		return make_error(EINVAL, "a store has 1 to 4095 shards", "write HOST:PORT,HOST:PORT,...");
	return shards;
}

std::string check_shards(const std::string &text)
{
	const Result<Shards> parsed = parse_shards(text);
	return parsed ? std::string() : parsed.error().message;
}

std::size_t shard_of(Bytes key, std::size_t shards) noexcept
{
	static constexpr unsigned char same_everywhere[crypto_shorthash_KEYBYTES] = {};
	if (shards == 1)
		return 0;
	std::uint64_t hash = 0;
	static_assert(sizeof(hash) == crypto_shorthash_BYTES);
	crypto_shorthash(reinterpret_cast<unsigned char *>(&hash), reinterpret_cast<const unsigned char *>(key.data()),
		key.size(), same_everywhere);
	return hash % shards;
}

} // namespace prism::tx

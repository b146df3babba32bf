/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/protocol/introduction.hpp"

#include "base/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace prism::rpc
{

Result<Introduction> Introduction::create()
{
	Introduction made;
	std::array<std::byte, sizeof(token) + sizeof(client)> random;
	if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
		return make_error(errno, "cannot get random bytes for a name");
	std::memcpy(&made.token, random.data(), sizeof(token));
	std::memcpy(made.client.data(), &random[sizeof(token)], sizeof(client));
	return made;
}

std::array<std::byte, Introduction::size> Introduction::serialize() const noexcept
{
	std::array<std::byte, size> bytes;
	apps::store(&bytes[0], static_cast<std::uint32_t>(way));
	apps::store(&bytes[4], worker);
	apps::store(&bytes[8], static_cast<std::uint32_t>(stay));
	apps::store(&bytes[12], token);
	std::copy(client.begin(), client.end(), &bytes[20]);
	return bytes;
}

Result<Introduction> Introduction::parse(std::span<const std::byte> bytes)
{
	Introduction made;
	if (bytes.empty())
		return made;
	if (bytes.size() != size)
		return make_error(EBADMSG, "an introduction of " + std::to_string(bytes.size()) + " bytes");
	made.way = static_cast<Way>(apps::load<std::uint32_t>(&bytes[0]));
	made.worker = apps::load<std::uint32_t>(&bytes[4]);
	made.stay = static_cast<Stay>(apps::load<std::uint32_t>(&bytes[8]));
	made.token = apps::load<std::uint64_t>(&bytes[12]);
	std::copy_n(&bytes[20], made.client.size(), made.client.begin());
	return made;
}

} // namespace prism::rpc

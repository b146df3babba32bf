/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/introduction.hpp"

#include "common/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace prism::rpc
{

Result<ClientId> new_client_id()
{
	ClientId made;
	if (getrandom(made.data(), made.size(), 0) != static_cast<ssize_t>(made.size()))
		return make_error(errno, "cannot get random bytes for a name");
	return made;
}

std::uint64_t token_of(const ClientId &client) noexcept
{
	std::uint64_t token = 0;
	std::memcpy(&token, client.data(), sizeof(token));
	return token;
}

std::array<std::byte, Introduction::size> Introduction::serialize() const noexcept
{
	std::array<std::byte, size> bytes;
	apps::store(&bytes[0], static_cast<std::uint32_t>(way));
	apps::store(&bytes[4], worker);
	std::copy(client.begin(), client.end(), &bytes[8]);
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
	std::copy_n(&bytes[8], made.client.size(), made.client.begin());
	return made;
}

} // namespace prism::rpc

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/transport/introduction.hpp"

#include <cerrno>
#include <string>

#include "base/wire.hpp"

namespace prism::gam
{

std::array<std::byte, PeerIntroduction::size> PeerIntroduction::serialize() const noexcept
{
	std::array<std::byte, size> bytes{};
	apps::store(&bytes[0], cluster);
	apps::store(&bytes[8], from.node);
	apps::store(&bytes[10], to.node);
	apps::store(&bytes[12], static_cast<std::uint16_t>(protocol));
	apps::store(&bytes[16], from.incarnation);
	apps::store(&bytes[24], to.incarnation);
	apps::store(&bytes[32], block_bytes);
	apps::store(&bytes[36], frame_bytes);
	apps::store(&bytes[40], window);
	return bytes;
}

Result<PeerIntroduction> PeerIntroduction::parse(std::span<const std::byte> bytes)
{
	if (bytes.size() != size)
		return make_error(EBADMSG, "an introduction of " + std::to_string(bytes.size()) + " bytes");
	PeerIntroduction made;
	made.cluster = apps::load<std::uint64_t>(&bytes[0]);
	made.from.node = apps::load<std::uint16_t>(&bytes[8]);
	made.to.node = apps::load<std::uint16_t>(&bytes[10]);
	made.protocol = static_cast<Protocol>(apps::load<std::uint16_t>(&bytes[12]));
	made.from.incarnation = apps::load<std::uint64_t>(&bytes[16]);
	made.to.incarnation = apps::load<std::uint64_t>(&bytes[24]);
	made.block_bytes = apps::load<std::uint32_t>(&bytes[32]);
	made.frame_bytes = apps::load<std::uint32_t>(&bytes[36]);
	made.window = apps::load<std::uint32_t>(&bytes[40]);
	return made;
}

Result<void> PeerIntroduction::check(const PeerIntroduction &mine) const
{
	if (cluster != mine.cluster)
		return make_error(
			ESTALE, "a node of another cluster", "two masters are running, or one was started anew");
	if (to != mine.from || from != mine.to)
		return make_error(ESTALE, "what a node says is for another life of it or its peer",
			"its membership is older than the number's present one: start the node again");
	if (protocol != mine.protocol || block_bytes != mine.block_bytes || frame_bytes != mine.frame_bytes ||
		window != mine.window)
		return make_error(EPROTONOSUPPORT, "nodes of different protocols, block sizes, frames or windows",
			"start all nodes of a cluster with the same");
	return {};
}

} // namespace prism::gam

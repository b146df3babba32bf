/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "hello.hpp"

#include "wire.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace prism::kv
{

namespace
{

constexpr std::uint64_t magic = 0x505249534d4b5600; /* "PRISMKV\0" */

std::string describe(StoreKind kind, std::uint16_t version)
{
	return std::string(to_string(kind)) + " store, version " + std::to_string(version);
}

} // namespace

std::string_view to_string(StoreKind kind) noexcept
{
	switch (kind) {
	case StoreKind::rpc:
		return "rpc";
	case StoreKind::pilaf:
		return "pilaf";
	case StoreKind::prism:
		return "prism";
	}
	return "unknown";
}

std::vector<std::byte> Hello::serialize(std::span<const std::byte> own) const
{
	std::vector<std::byte> bytes(size + own.size());
	store(&bytes[0], magic);
	store(&bytes[8], static_cast<std::uint16_t>(kind));
	store(&bytes[10], version);
	store(&bytes[12], max_key_size);
	store(&bytes[16], max_value_size);
	store(&bytes[20], max_depth);
	std::copy(own.begin(), own.end(), bytes.begin() + size);
	return bytes;
}

Result<Hello> Hello::parse(std::span<const std::byte> bytes)
{
	if (bytes.size() < size || load<std::uint64_t>(&bytes[0]) != magic)
		return make_error(EBADMSG, "the peer does not introduce itself as a key-value store or its client",
			"check host and port");
	Hello hello;
	hello.kind = static_cast<StoreKind>(load<std::uint16_t>(&bytes[8]));
	hello.version = load<std::uint16_t>(&bytes[10]);
	hello.max_key_size = load<std::uint32_t>(&bytes[12]);
	hello.max_value_size = load<std::uint32_t>(&bytes[16]);
	hello.max_depth = load<std::uint32_t>(&bytes[20]);
	return hello;
}

Result<Hello> Hello::expect(const ConnectionRecord &peer, const std::string &who) const
{
	Result<Hello> theirs = parse(peer.private_data);
	if (!theirs)
		return Error{theirs.error().code, who + ": " + theirs.error().message};
	if (theirs->kind != kind || theirs->version != version)
		return make_error(EPROTONOSUPPORT,
			who + " speaks for a " + describe(theirs->kind, theirs->version) + "; expected a " +
				describe(kind, version),
			"connect a client to a server of its own kind and version");
	return theirs;
}

} // namespace prism::kv

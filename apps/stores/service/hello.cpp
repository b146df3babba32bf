/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "hello.hpp"

#include "base/wire.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace prism::apps
{

namespace
{

constexpr std::uint64_t magic = 0x505249534d4b5600; /* "PRISMKV\0" */

constexpr std::size_t longest_reason = 512;
constexpr std::uint32_t largest_errno = 4095;

/* Replaces all but printable ASCII, as the text is written to terminals. */
std::string text_of(std::span<const std::byte> bytes)
{
	std::string text;
	for (const std::byte byte : bytes.first(std::min(bytes.size(), longest_reason))) {
		const char character = static_cast<char>(byte);
		text += character >= ' ' && character <= '~' ? character : '?';
	}
	return text;
}

} // namespace

std::string StoreKind::text() const
{
	const auto end = std::find(name.begin(), name.end(), '\0');
	const std::string called = text_of(std::as_bytes(std::span(name.begin(), end)));
	return (called.empty() ? "nameless" : called) + " store, version " + std::to_string(version);
}

std::vector<std::byte> Hello::serialize(std::span<const std::byte> own) const
{
	std::vector<std::byte> bytes(size + own.size());
	store(&bytes[0], magic);
	store(&bytes[8], kind.number);
	store(&bytes[10], kind.version);
	store(&bytes[12], max_key_size);
	store(&bytes[16], max_value_size);
	store(&bytes[20], max_depth);
	std::memcpy(&bytes[32], kind.name.data(), kind.name.size());
	std::copy(own.begin(), own.end(), bytes.begin() + size);
	return bytes;
}

std::vector<std::byte> Hello::refusal(const Error &why) const
{
	const std::span<const std::byte> reason = std::as_bytes(std::span(why.message));
	std::vector<std::byte> bytes = serialize(reason.first(std::min(reason.size(), longest_reason)));
	store(&bytes[24], static_cast<std::uint32_t>(why.code));
	return bytes;
}

Result<Hello> Hello::parse(std::span<const std::byte> bytes)
{
	if (bytes.size() < size || load<std::uint64_t>(&bytes[0]) != magic)
		return make_error(
			EBADMSG, "the peer does not introduce itself as a store or its client", "check host and port");
	Hello hello;
	hello.kind.number = load<std::uint16_t>(&bytes[8]);
	hello.kind.version = load<std::uint16_t>(&bytes[10]);
	std::memcpy(hello.kind.name.data(), &bytes[32], hello.kind.name.size());
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
	if (theirs->kind != kind)
		return make_error(EPROTONOSUPPORT,
			who + " speaks for a " + theirs->kind.text() + "; expected a " + kind.text(),
			"connect a client to a server of its own kind and version");
	const std::uint32_t refused = load<std::uint32_t>(&peer.private_data[24]);
	if (refused > largest_errno)
		return make_error(EBADMSG, who + " refuses for a reason that cannot be");
	if (refused)
		return Error{static_cast<int>(refused), who + " refuses: " + text_of(own_part(peer.private_data))};
	return theirs;
}

} // namespace prism::apps

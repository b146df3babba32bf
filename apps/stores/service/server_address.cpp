/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "server_address.hpp"

#include <cerrno>
#include <charconv>

namespace prism::apps
{

Result<ServerAddress> ServerAddress::parse(const std::string &text, std::uint16_t default_port)
{
	const auto wrong = [&] { return make_error(EINVAL, "'" + text + "' is no server", "write HOST or HOST:PORT"); };
	ServerAddress address{text, default_port};
	const bool bracketed = !text.empty() && text.front() == '[';
	const std::size_t end = bracketed ? text.find(']') : std::string::npos;
	if (bracketed && (end == std::string::npos || (end + 1 < text.size() && text[end + 1] != ':')))
		return wrong();
	const std::size_t colon = text.find(':', bracketed ? end : 0);
	/* More than one colon and no brackets: an IPv6 address without a port */
	const bool has_port =
		colon != std::string::npos && (bracketed || text.find(':', colon + 1) == std::string::npos);
	if (has_port) {
		const auto [rest, error] =
			std::from_chars(text.data() + colon + 1, text.data() + text.size(), address.port);
		if (error != std::errc{} || rest != text.data() + text.size() || !address.port)
			return wrong();
		address.host = text.substr(0, colon);
	}
	if (bracketed)
		address.host = text.substr(1, end - 1);
	if (address.host.empty())
		return wrong();
	return address;
}

std::string ServerAddress::text() const
{
	const bool bare_ipv6 = host.find(':') != std::string::npos;
	return (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string check_server(const std::string &text)
{
	const Result<ServerAddress> parsed = ServerAddress::parse(text, 1);
	return parsed ? std::string() : parsed.error().message;
}

} // namespace prism::apps

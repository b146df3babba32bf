/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reader of tests/vectors/vectors.json. */
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "net/icrc.hpp"

namespace prism::test
{

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

inline const Json &vectors()
{
	static const Json json = [] {
		std::ifstream file(PRISM_VECTORS);
		if (!file)
			throw std::runtime_error("cannot read " PRISM_VECTORS);
		return Json::parse(file);
	}();
	return json;
}

inline Bytes bytes_of(const Json &hex)
{
	const std::string text = hex.get<std::string>();
	Bytes bytes;
	for (std::size_t i = 0; i + 1 < text.size(); i += 2)
		bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
	return bytes;
}

inline std::uint64_t number(const Json &value)
{
	return value.is_string() ? std::stoull(value.get<std::string>(), nullptr, 16) : value.get<std::uint64_t>();
}

inline soft::Address address(const Json &text)
{
	soft::Address address;
	const std::string name = text.get<std::string>();
	if (inet_pton(AF_INET6, name.c_str(), address.gid.data()) == 1)
		return address;
	address.gid[10] = address.gid[11] = 0xff;
	if (inet_pton(AF_INET, name.c_str(), address.gid.data() + 12) != 1)
		throw std::runtime_error("not an address: " + name);
	return address;
}

inline soft::IcrcFlow flow_of(const Json &flow)
{
	return {address(flow["source"]), address(flow["destination"]), flow["source_port"].get<std::uint16_t>(),
		flow["destination_port"].get<std::uint16_t>()};
}

inline std::uint8_t flags_of(const Json &letters)
{
	std::uint8_t flags = 0;
	for (const Json &letter : letters)
		flags |= static_cast<std::uint8_t>(0x40 >> std::string("TDBCR").find(letter.get<std::string>()));
	return flags;
}

} // namespace prism::test

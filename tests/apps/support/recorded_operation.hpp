/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Operations of clients that record a history. */
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "../../linearizability/history.hpp"
#include "common/store_client.hpp"

namespace prism::test
{

/** Returns a GET, PUT or ERASE at random, three to two to one. */
template <typename Random>
apps::OperationKind any_kind(Random &random)
{
	using enum apps::OperationKind;
	static constexpr std::array kinds{get, get, get, put, put, erase};
	return kinds[random() % kinds.size()];
}

/** Returns the record of @p operation, whose key is a number, and whose value begins with the number that names it. */
inline Operation record_of(const apps::Operation &operation, std::uint32_t client)
{
	const bool puts = operation.kind == apps::OperationKind::put;
	Operation record;
	std::memcpy(&record.key, operation.key.data(), sizeof(record.key));
	record.client = client;
	record.kind = puts ? Kind::put : operation.kind == apps::OperationKind::get ? Kind::get : Kind::erase;
	if (puts)
		std::memcpy(&record.value, operation.value.data(), sizeof(record.value));
	return record;
}

} // namespace prism::test

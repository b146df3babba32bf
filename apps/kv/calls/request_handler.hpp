/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The calls of a key-value store: one key in each message. */
#pragma once

#include "kv/calls/message.hpp"
#include "rpc/call_handler.hpp"

namespace prism::kv
{

/** Executes calls, on several threads at once. Neither throws nor keeps the spans. */
class RequestHandler : public rpc::CallHandler
{
public:
	/**
	 * Keys and values of @p request are within the server's limits. For a GET, the value goes to @p value, which
	 * has room for any, and its size to @p value_size. Returns anything but Outcome::failed.
	 */
	virtual apps::Outcome handle(
		const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept = 0;

	std::unique_ptr<rpc::CallSession> open(const rpc::Limits &limits, const rpc::SessionPlace &place) final;
};

} // namespace prism::kv

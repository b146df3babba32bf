/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The calls of a key-value store: one key in each message. */
#pragma once

#include "kv_calls/message.hpp"
#include "rpc/call_handler.hpp"

namespace prism::kv
{

/** One connection of a store: reads requests and writes responses. */
class RequestSession : public rpc::CallSession
{
public:
	explicit RequestSession(const rpc::Limits &limits) : limits_(limits) {}

	const char *handle(
		std::span<const std::byte> message, std::span<std::byte> answer, std::uint32_t &size) noexcept final;

private:
	/**
	 * Executes @p request, whose key and value are within the limits. Sets the outcome, anything but
	 * Outcome::failed, in @p response; for a GET also the value's size, and copies the value to @p value, which has
	 * room for any. Returns null, or what is wrong with the request. Neither throws nor keeps the spans.
	 */
	virtual const char *execute(
		const Request &request, std::span<std::byte> value, Response &response) noexcept = 0;

	const rpc::Limits limits_;
};

/** Executes calls, on several threads at once. Neither throws nor keeps the spans. */
class RequestHandler : public rpc::CallHandler
{
public:
	/**
	 * Handles @p request, whose key and value are within the server's limits. For a GET, copies the value to @p
	 * value, which has room for any, and its size to @p value_size. Returns anything but Outcome::failed.
	 */
	virtual apps::Outcome handle(
		const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept = 0;

	std::unique_ptr<rpc::CallSession> open(const rpc::Limits &limits, const rpc::SessionPlace &place) final;
};

} // namespace prism::kv

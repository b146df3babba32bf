/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls by SEND and RECV, at the client, with READs of the server's memory beside them. */
#pragma once

#include "rpc/client/queued_link.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::rpc
{

class TwoSidedLink final : public QueuedLink
{
public:
	/** See ClientLink::connect(). */
	static Result<std::unique_ptr<TwoSidedLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);

	static Needs needs(const ClientOptions &options) noexcept
	{
		return {.lanes = options.depth + options.readers, .receives = options.depth};
	}
	/** Errors: those of the device. */
	static Result<std::unique_ptr<TwoSidedLink>> create(Introduced introduced);
	Result<void> start() override;

	/**
	 * Begins a READ of @p length bytes into read_memory(slot), of any slot that has nothing under way; slots from
	 * depth() on are ClientOptions::readers.
	 */
	void read(std::uint32_t slot, RemoteAddress from, std::uint32_t length) noexcept;
	[[nodiscard]] const std::byte *read_memory(std::uint32_t slot) const noexcept
	{
		return memory().data() + read_offset(slot);
	}

private:
	static constexpr std::uint64_t nothing = ~std::uint64_t{0};
	/**
	 * A response that came before its request is known to have been sent: the device may have to send the request
	 * again.
	 */
	struct Early {
		std::uint64_t receive = nothing;
		std::uint32_t length = 0;
	};

	TwoSidedLink(Introduced introduced, std::vector<Memory> memory);
	[[nodiscard]] std::size_t response_offset(std::uint64_t receive) const noexcept
	{
		return depth() * sizes().request + receive * sizes().response;
	}
	[[nodiscard]] std::size_t read_offset(std::uint32_t slot) const noexcept
	{
		return depth() * (sizes().request + sizes().response) + slot * sizes().read;
	}
	int post_receive(std::uint64_t receive) noexcept;
	void take_any(const Completion &completion, Listener &listener) noexcept;
	void take_response(std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept;
	void hand_over(std::uint32_t slot, std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept;

	void send(std::uint32_t slot, std::uint32_t size) noexcept override;
	bool take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept override;
	void drive(Listener &listener) noexcept override;

	std::vector<Early> early_;          /* by slot */
	std::vector<std::uint8_t> reading_; /* by slot */
	std::vector<std::uint8_t> inline_;  /* by slot: the device has copied the request */
};

} // namespace prism::rpc

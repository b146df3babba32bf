/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One connection of the driver, and the calls that it has under way. */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <prism/device.hpp>
#include <prism/result.hpp>

#include "bench/rpc/echo.hpp"
#include "bench/rpc/options.hpp"
#include "rpc/client/client_link.hpp"

namespace prism::echo
{

/** A call as its worker sees it. */
struct EchoCall {
	Request request;
	std::size_t place = 0;   /**< index among Sizes of the response's size */
	std::uint64_t begun = 0; /**< ns */
};

/** One connection and its calls. Not thread-safe. */
class Caller final : private rpc::ClientLink::Listener
{
public:
	/** Receiver of ended calls, from within poll(). */
	class Owner
	{
	public:
		virtual ~Owner() = default;
		/** @p right: true if the response is that of the call, and whole. */
		virtual void on_end(const EchoCall &call, bool right) noexcept = 0;
	};

	/** Errors: EINVAL (the server's limits), those of ClientLink::connect(). */
	static Result<std::unique_ptr<Caller>> connect(
		const Context &context, const ServerPlace &server, const RunOptions &options);
	Caller(const Caller &) = delete;
	Caller &operator=(const Caller &) = delete;
	~Caller() override = default;

	[[nodiscard]] bool idle() const noexcept { return !free_.empty(); }
	[[nodiscard]] std::size_t under_way() const noexcept { return calls_.size() - free_.size(); }
	/** Begins a call. Only if idle(). */
	void begin(const EchoCall &call) noexcept;
	/** @return the number of calls that ended. */
	std::size_t poll(Owner &owner) noexcept;
	void flush() noexcept { link_->flush(); }
	[[nodiscard]] int broken() const noexcept { return link_->broken(); }
	[[nodiscard]] rpc::LinkCounters counters() const noexcept { return link_->counters(); }

	/**
	 * Asks the server for its figures and waits for them. Nothing may be under way. Errors: ETIMEDOUT, or the error
	 * that broke the link.
	 */
	Result<Figures> ask();

private:
	Caller(std::unique_ptr<rpc::ClientLink> link, std::uint32_t request_size);
	void on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept override;

	std::unique_ptr<rpc::ClientLink> link_;
	const std::uint32_t request_size_; /* bytes of the payload */
	std::vector<EchoCall> calls_;      /* by slot */
	std::vector<std::uint32_t> free_;  /* slots */
	Owner *owner_ = nullptr;           /* while poll() runs */
	std::size_t ended_ = 0;            /* number in this poll() */
	std::optional<Figures> told_;
};

/** Returns the error, with advice, for a connection that ended with @p error. */
[[nodiscard]] Error loss_of(const ServerPlace &server, int error);

} // namespace prism::echo

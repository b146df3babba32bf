/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A StoreClient whose operations are calls. Clients that do some of them in another way derive from it. */
#pragma once

#include "kv_calls/message.hpp"
#include "rpc/client/client_link.hpp"

#include "common/store_client.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::kv
{

/**
 * A client by calls. See StoreClient: one thread at a time. Once the link is broken, every operation ends as failed.
 * With rpc::ClientOptions::call_limit, so does one whose call takes longer, with ETIMEDOUT; it keeps its place among
 * the depth() ones until the late response has come.
 */
class RpcClient : public apps::StoreClient, private rpc::ClientLink::Listener
{
public:
	/** Keys have 1 to limits().max_key_size bytes, values 0 to limits().max_value_size. */
	[[nodiscard]] const apps::Hello &limits() const noexcept { return connection_->server(); }

	[[nodiscard]] std::size_t depth() const noexcept override { return connection_->depth(); }
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;
	[[nodiscard]] bool has_ended() const noexcept override { return connection_->broken() != 0; }

protected:
	explicit RpcClient(std::unique_ptr<rpc::ClientLink> connected);

	/**
	 * Returns the sizes of a slot whose READs have up to @p read bytes. Errors: EBADMSG (limits that no message can
	 * keep).
	 */
	static Result<rpc::SlotSizes> measure(const apps::Hello &server, std::size_t read = 0);

	[[nodiscard]] rpc::ClientLink &link() noexcept { return *connection_; }
	[[nodiscard]] apps::Operation &operation(std::uint32_t slot) noexcept { return *operations_[slot]; }

	/** The first step of the operation in @p slot; here, the call. */
	virtual void begin(std::uint32_t slot) noexcept { call(slot); }
	/** Runs the operation of @p slot by a call. */
	void call(std::uint32_t slot) noexcept;
	/** Ends it; its length is set if it is a GET that is ok. */
	void finish(std::uint32_t slot, apps::Outcome outcome) noexcept;
	/** Gives a GET its value and ends it. */
	void finish_get(std::uint32_t slot, std::span<const std::byte> value) noexcept;

	void on_response(std::uint32_t slot, std::span<const std::byte> message) noexcept override;

private:
	void on_expired(std::uint32_t slot) noexcept override;
	void on_released(std::uint32_t slot) noexcept override;
	void let_go(std::uint32_t slot) noexcept;
	void fail_all() noexcept;

	std::unique_ptr<rpc::ClientLink> connection_;
	std::vector<apps::Operation *> operations_; /* by slot; null: free or ended */
	std::vector<std::uint8_t> users_;     /* by slot, its users: the operation until it is returned, and the link */
	std::vector<std::uint8_t> abandoned_; /* by slot: the link uses it without an operation */
	std::vector<std::uint32_t> free_slots_;
	std::vector<std::uint32_t> ended_; /* a ring of slots whose operations poll() has not returned yet */
	std::vector<apps::Operation *> ended_operations_;
	std::uint64_t ended_begin_ = 0;
	std::uint64_t ended_end_ = 0;
};

} // namespace prism::kv

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "calls.hpp"
#include "device.hpp"
#include "flaw.hpp"
#include "rpc/client/queued_link.hpp"

namespace rpc_sim
{

struct UserOptions {
	rpc::ClientOptions client;
	Sizes sizes;
	soft::Time longest_busy = 20'000; /* ns that the server takes for a call */
	Flaw flaw = Flaw::none;
};

struct UserFigures {
	std::uint64_t answered = 0;
	std::uint64_t expired = 0;
	std::uint64_t resumed = 0;
	std::uint64_t unknown = 0; /* calls of which nobody knows whether they were executed */
	rpc::LinkCounters links;
};

/** A client: makes calls over one connection after another, and checks each response. */
class User final : private rpc::ClientLink::Listener
{
public:
	User(const UserOptions &options, Around &around, Ledger &ledger);
	~User() override;
	User(const User &) = delete;
	User &operator=(const User &) = delete;

	/* Connections */
	/** What a new connection needs; it goes on with the last one if that is @p again. */
	struct Approach {
		std::unique_ptr<Device> device;
		std::unique_ptr<rpc::Port> port;
		rpc::Introduction me;
	};
	Approach approach(test::Node &host, const DeviceOptions &options, bool again);
	/** The server has answered with @p record. */
	void enter(Approach approach, prism::ConnectionRecord record, Spoiler *spoiler);
	/** Calls that were under way are given up, as nobody knows what became of them. */
	void leave();

	[[nodiscard]] bool connected() const noexcept { return link_ != nullptr; }
	[[nodiscard]] rpc::QueuedLink &link() noexcept { return *link_; }
	[[nodiscard]] const rpc::ClientId &name() const noexcept { return name_; }
	[[nodiscard]] Device &device() noexcept { return *device_; }
	[[nodiscard]] bool has_completions() const noexcept { return device_->has_completions(); }

	/* Calls */
	void give_work(std::uint64_t calls) noexcept { left_ += calls; }
	void stop() noexcept { left_ = 0; }
	[[nodiscard]] bool done() const noexcept;
	/** True: something has happened. */
	bool poll();
	[[nodiscard]] const UserFigures &figures() const noexcept { return figures_; }

private:
	struct Slot {
		bool busy = false;
		bool expired = false;
		Wish wish;
	};

	void begin(std::uint32_t slot);
	void count_link();

	/* Listener */
	void on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept override;
	void on_expired(std::uint32_t slot) noexcept override;
	void on_released(std::uint32_t slot) noexcept override;

	const UserOptions options_;
	Around &around_;
	Ledger &ledger_;
	rpc::ClientId name_{};
	std::unique_ptr<rpc::QueuedLink> link_;
	Device *device_ = nullptr; /* link_'s */
	std::vector<Slot> slots_;
	std::uint64_t left_ = 0; /* calls to make */
	bool news_ = false;
	UserFigures figures_;
};

} // namespace rpc_sim

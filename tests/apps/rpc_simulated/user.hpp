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
	soft::Time longest_busy = 20'000; /* ns that the server may be busy with a call */
	Flaw flaw = Flaw::none;
};

struct UserFigures {
	std::uint64_t answered = 0;
	std::uint64_t expired = 0;
	std::uint64_t resumed = 0;
	std::uint64_t unknown = 0; /* calls that may or may not have been executed */
	rpc::LinkCounters links;
};

/** Client that makes calls over one connection after another, and checks each response. */
class User final : private rpc::ClientLink::Listener
{
public:
	User(const UserOptions &options, Around &around, Ledger &ledger);
	~User() override;
	User(const User &) = delete;
	User &operator=(const User &) = delete;

	/* Connections */
	/** Parts of a new connection, which resumes the last one if that is @p again. */
	struct Approach {
		std::unique_ptr<Device> device;
		std::unique_ptr<rpc::Port> port;
		rpc::Introduction me;
	};
	Approach approach(test::Node &host, const DeviceOptions &options, bool again);
	/** Uses the connection; the server has answered with @p record. */
	void enter(Approach approach, prism::ConnectionRecord record, Spoiler *spoiler);
	/** Leaves. Gives up the calls under way, whose outcome is unknown. */
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
	/** Returns true if something has happened. */
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
	Device *device_ = nullptr; /* of link_ */
	std::vector<Slot> slots_;
	std::uint64_t left_ = 0; /* calls to make */
	bool news_ = false;
	UserFigures figures_;
};

} // namespace rpc_sim

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The making of a node's pairs: of two members, the one with the higher number connects to the other. One thread
 * accepts connections, another connects to new members, and retries while the membership says that they live.
 */
#pragma once

#include <prism/connection.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/descriptor.hpp"
#include "gam/membership/membership.hpp"
#include "gam/transport/introduction.hpp"
#include "gam/transport/peers.hpp"
#include "service/reception.hpp"

namespace prism::gam
{

struct MeetingOptions {
	std::string address;    /**< address to listen on; empty: all */
	std::uint16_t port = 0; /**< 0: any */
	Protocol protocol = Protocol::latch;
	std::chrono::milliseconds timeout{2000}; /**< for one set-up */
};

/** Thread-safe. */
class Meeting final : private apps::Reception::Host
{
public:
	/** Listens; nodes that connect wait until adopt(). @p peers outlives this. Errors: those of sockets. */
	static Result<std::unique_ptr<Meeting>> create(Peers &peers, const MeetingOptions &options);
	~Meeting() override;
	Meeting(const Meeting &) = delete;
	Meeting &operator=(const Meeting &) = delete;

	[[nodiscard]] std::uint16_t port() const noexcept { return reception_->port(); }

	/**
	 * Adopts the members that Membership::Listener was told. Cuts off all that no longer live before it returns, so
	 * do not call it inside Peers::Listener.
	 */
	void adopt(const Admission &me, const View &view);
	/** Waits until there is a pair to each other live member. Errors: ETIMEDOUT (names a missing one). */
	Result<void> wait(std::chrono::milliseconds timeout);

private:
	class Arrival;

	Meeting(Peers &peers, const MeetingOptions &options, std::unique_ptr<apps::Reception> reception);
	/* apps::Reception::Host */
	Result<std::unique_ptr<apps::Reception::AcceptedConnection>> on_connect(
		const apps::Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) override;
	void refused(const Error &why) noexcept override;

	Result<void> admit(const PeerIntroduction &theirs) const;
	[[nodiscard]] PeerIntroduction introduction(const NodeLife &to) const;
	[[nodiscard]] std::optional<Member> next();
	Result<void> connect(const Member &member, const std::stop_token &stop);
	Result<void> introduce(const Member &member, TcpRendezvous &link);
	void receive(const std::stop_token &stop);
	void seek(const std::stop_token &stop);

	Peers &peers_;
	MeetingOptions options_;
	std::unique_ptr<apps::Reception> reception_; /* for the thread receive() */
	Descriptor wake_;
	/* Taken before the locks of Peers */
	std::mutex lock_;
	std::condition_variable_any changed_;
	std::optional<Admission> me_;
	View view_;
	std::string why_not_; /* error of the last attempt: often because that node is dead, as the view will tell */
	TcpRendezvous *link_ = nullptr; /* on which the seeker waits for a member */
	/* Of each number, the last incarnation to which there was a pair: there will be no other */
	std::array<std::uint64_t, max_nodes> met_{};
	std::jthread receiver_; /* declared last: they use the others */
	std::jthread seeker_;
};

} // namespace prism::gam

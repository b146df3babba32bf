/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that only exchange messages: several in one process, each with its own device. */
#pragma once

#include "gam/membership/master_location.hpp"
#include "gam/membership/master_service.hpp"
#include "gam/membership/tcp_master.hpp"
#include "gam/transport/meeting.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace peers
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;

constexpr auto patience = 20s;

/** Master in a thread. */
class MasterThread
{
public:
	explicit MasterThread(std::chrono::milliseconds lease, std::uint16_t port = 0)
	{
		Result<std::unique_ptr<MasterService>> made = MasterService::create({"127.0.0.1", port, lease});
		if (!made)
			throw std::runtime_error(made.error().message);
		service_ = *std::move(made);
		thread_ = std::thread([this] { (void)service_->run(); });
	}
	~MasterThread()
	{
		service_->stop();
		thread_.join();
	}
	[[nodiscard]] std::uint16_t port() const { return service_->port(); }
	/** Has strangers, of whom nothing more is heard, take all numbers from @p first on, so a dead node's is next.
	 */
	void use_up_numbers(NodeId first, Protocol protocol) const
	{
		const auto channel = reach_master("127.0.0.1:" + std::to_string(port()));
		const nlohmann::json question = {{"ask", "join"}, {"host", "nobody"}, {"port", 1U}, {"lent", 0U},
			{"protocol", static_cast<unsigned>(protocol)}, {"block", block_size}};
		for (NodeId number = first; number < max_nodes; number++)
			EXPECT_TRUE((*channel)->ask(question, patience).ok());
	}

private:
	std::unique_ptr<MasterService> service_;
	std::thread thread_;
};

inline std::unique_ptr<Membership> membership_at(std::uint16_t master)
{
	return std::make_unique<Membership>(std::make_unique<TcpMaster>("127.0.0.1", master, 2000ms));
}

/** Record of the calls from a membership. */
class Told : public Membership::Listener
{
public:
	void changed(const Admission & /*me*/, const View &view) override
	{
		const std::lock_guard guard(lock_);
		view_ = view;
	}
	void expelled(const Error &why) override { expelled_for = why.code; }
	[[nodiscard]] View view() const
	{
		const std::lock_guard guard(lock_);
		return view_;
	}
	std::atomic<int> expelled_for{0};

protected:
	mutable std::mutex lock_;
	View view_;
};

/** Polls until @p done. Returns false if that takes too long. */
inline bool wait_until(const std::function<bool()> &done, std::chrono::milliseconds limit = patience)
{
	const auto end = std::chrono::steady_clock::now() + limit;
	while (!done()) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		std::this_thread::sleep_for(1ms);
	}
	return true;
}

/** Node that hands the messages it hears to a function. */
class TestNode final : public Told, public Peers::Events, public Network::Listener
{
public:
	using Heard = std::function<void(NodeId, const Message &)>;

	explicit TestNode(std::uint16_t master, Heard heard = {}, const PeerOptions &options = {},
		const MeetingOptions &to_meet = {})
		: heard_(std::move(heard)), membership_(membership_at(master))
	{
		Result<Context> context = Context::open();
		Result<ProtectionDomain> pd = ProtectionDomain::create(need(context));
		Result<PeerDevice> device = PeerDevice::create(need(pd), options);
		peers_ = std::make_unique<Peers>(std::move(need(device)), options, *this);
		MeetingOptions meeting = to_meet;
		meeting.address = "127.0.0.1";
		Result<std::unique_ptr<Meeting>> made = Meeting::create(*peers_, meeting);
		meeting_ = std::move(need(made));
	}
	~TestNode() override
	{
		thread_ = {};
		membership_.reset();
		meeting_.reset();
	}

	[[nodiscard]] Result<Admission> join()
	{
		Newcomer me;
		me.host = "127.0.0.1";
		me.port = meeting_->port();
		me.lent = 1 << 20;
		Result<Admission> joined = membership_->join(me, *this);
		if (joined)
			admission_ = *joined;
		return joined;
	}
	/** Joins, and waits for the pairs to all others. */
	void enter()
	{
		const Result<Admission> joined = join();
		ASSERT_TRUE(joined.ok()) << joined.error().message;
		const Result<void> met = meeting_->wait(patience);
		ASSERT_TRUE(met.ok()) << met.error().message;
		const Result<void> serves = membership_->serving();
		ASSERT_TRUE(serves.ok()) << serves.error().message;
	}
	void poll() { (void)peers_->poll(*this); }
	/** Starts a thread that polls. */
	void run()
	{
		thread_ = std::jthread([this](const std::stop_token &stop) {
			while (!stop.stop_requested())
				if (!peers_->poll(*this)) {
					peers_->leave_alone();
					std::this_thread::sleep_for(50us);
				}
		});
	}

	[[nodiscard]] const NodeLife &life() const { return admission_->life; }
	[[nodiscard]] NodeId id() const { return admission_->life.node; }
	[[nodiscard]] Membership &membership() { return *membership_; }
	[[nodiscard]] Meeting &meeting() { return *meeting_; }
	[[nodiscard]] Peers &links() { return *peers_; }
	[[nodiscard]] bool knows(const TestNode &other) { return links().connected(other.life()); }

	std::atomic<int> broken_count{0};
	std::atomic<int> broken_error{0};

private:
	template <typename T>
	static T &need(Result<T> &result)
	{
		if (!result)
			throw std::runtime_error(result.error().message);
		return *result;
	}

	/* Membership::Listener */
	void changed(const Admission &me, const View &view) override
	{
		Told::changed(me, view);
		meeting_->adopt(me, view);
	}
	/* Network::Listener */
	void heard(NodeId from, const Message &message) override
	{
		if (heard_)
			heard_(from, message);
	}
	/* Peers::Events */
	void broken(NodeId /*node*/, int error) noexcept override
	{
		broken_error = error;
		broken_count++;
	}

	Heard heard_;
	std::unique_ptr<Peers> peers_;
	std::unique_ptr<Meeting> meeting_;
	std::unique_ptr<Membership> membership_;
	std::optional<Admission> admission_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace peers

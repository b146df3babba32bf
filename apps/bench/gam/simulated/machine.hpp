/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A node in virtual time: an object of class Coherence, and around it a processor that takes one message at a time, a
 * NIC that takes one packet at a time, and a link that sends one packet at a time. Threads have processors of their
 * own. What arrives is handled in its order; between two nodes nothing overtakes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "gam/coherence/coherence.hpp"
#include "gam/memory/waiting.hpp"
#include "bench/gam/simulated/hardware.hpp"

namespace prism::gam::simulated
{

/** Does one thing after the other: each takes some time until it is done, and may then keep the processor for longer.
 */
class Processor
{
public:
	/** Does the thing, and says for how much longer. */
	using Work = std::function<Time()>;

	explicit Processor(Events &events) noexcept : events_(events) {}

	void submit(Time cost, Work work);
	[[nodiscard]] Time busy() const noexcept { return busy_; }

private:
	struct Task {
		Time cost{};
		Work work;
	};

	void begin();

	Events &events_;
	std::deque<Task> queue_;
	bool is_idle_ = true;
	Time busy_{};
};

class Machine : public Coherence::Host
{
public:
	/** The machine of a node. */
	using Find = std::function<Machine &(NodeId)>;

	/** @p events and @p hardware outlive it. */
	Machine(Events &events, const Hardware &hardware, NodeId self, Find find);
	Machine(const Machine &) = delete;
	Machine &operator=(const Machine &) = delete;

	[[nodiscard]] NodeId self() const noexcept { return self_; }
	[[nodiscard]] Events &events() noexcept { return events_; }
	[[nodiscard]] const Hardware &hardware() const noexcept { return hardware_; }
	[[nodiscard]] virtual Coherence &coherence() noexcept = 0;

	/** Once all machines are there: time begins to pass. */
	void begin();
	/**
	 * A thread of the node begins @p access, whose context is a Waiting, now. True: it has ended. @p until: how
	 * long the thread is busy with it.
	 */
	bool start(Access &access, Time &until);
	/** Writes back and forgets all that it can. */
	void flush();
	/** While Waiting::ended() is called: the time of that. */
	[[nodiscard]] Time moment() const noexcept { return moment_; }

	/* How long it has been at work */
	[[nodiscard]] Time processor_time() const noexcept { return processor_.busy(); }
	[[nodiscard]] Time nic_time() const noexcept { return nic_.busy(events_.now()); }
	[[nodiscard]] Time link_time() const noexcept { return link_.busy(events_.now()); }

	/* Coherence::Host */
	void send(NodeId to, const Message &message) override;
	void ended(Access &access) override;
	[[nodiscard]] bool is_allocated(Address /*block*/) const override { return true; }

protected:
	/** What is done at the end of a packet's way. */
	using Arrived = std::function<void()>;

	/** Who is at work posts something; when it leaves. */
	Time post() noexcept;
	/** What travels together. */
	struct Packets {
		std::size_t bytes = 0;
		std::size_t count = 1;
		Time service{}; /* of the NIC that takes them, all together */
	};

	/** From @p leaving on, @p packets travel to @p to. */
	void transmit(Machine &to, Time leaving, const Packets &packets, Arrived arrived);
	/** The processor does @p work, during which it may post. */
	void process(Time cost, Arrived work);
	/** Now and then: once in so long at least. */
	virtual void on_tick() {}

	Events &events_;
	const Hardware &hardware_;
	const NodeId self_;
	const Find find_;

private:
	void tick();

	Processor processor_;
	Server nic_;
	Server link_;
	Time moment_{}; /* that whoever calls the protocol has come to, with what it has posted */
};

} // namespace prism::gam::simulated

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A node in virtual time: an object of class Coherence, and around it a processor that takes one message at a time, a
 * NIC that takes one packet at a time, and a link that sends one packet at a time. Threads have processors of their
 * own. What arrives is handled in its order; between two nodes nothing overtakes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "bench/gam/simulated/hardware.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/node/waiting.hpp"

namespace prism::gam::simulated
{

class Machine : public Coherence::Host
{
public:
	/** Returns the machine of a node. */
	using Find = std::function<Machine &(NodeId)>;

	/** @p events and @p hardware outlive it. */
	Machine(Events &events, const Hardware &hardware, NodeId self, Find find);
	Machine(const Machine &) = delete;
	Machine &operator=(const Machine &) = delete;

	[[nodiscard]] NodeId self() const noexcept { return self_; }
	[[nodiscard]] Events &events() noexcept { return events_; }
	[[nodiscard]] const Hardware &hardware() const noexcept { return hardware_; }
	[[nodiscard]] virtual Coherence &coherence() noexcept = 0;

	/** Starts the clock, once all machines exist. */
	void begin();
	/**
	 * Begins @p access, whose context is a Waiting, now, for a thread of the node. Returns true if it has ended. @p
	 * until: time until which the thread is busy with it.
	 */
	bool start(Access &access, Time &until);
	/** Writes back and drops all lines that it can. */
	void flush();
	/** Returns the time of the end, while Waiting::ended() is called. */
	[[nodiscard]] Time moment() const noexcept { return moment_; }

	/* Working times so far */
	[[nodiscard]] Time processor_time() const noexcept { return processor_.busy(); }
	[[nodiscard]] Time nic_time() const noexcept { return nic_.busy(events_.now()); }
	[[nodiscard]] Time link_time() const noexcept { return link_.busy(events_.now()); }

	/* Coherence::Host */
	void send(NodeId to, const Message &message) override;
	void ended(Access &access) override;
	[[nodiscard]] bool is_allocated(Address /*block*/) const override { return true; }

protected:
	/** Called when a packet arrives. */
	using Arrived = std::function<void()>;

	/** Posts something for the running thread or processor; returns the time when it leaves. */
	Time post() noexcept;
	/** Packets that travel together. */
	struct Packets {
		std::size_t bytes = 0;
		std::size_t count = 1;
		Time service{}; /* time of the receiving NIC for all of them */
	};

	/** Sends @p packets to @p to; they leave at @p leaving. */
	void transmit(Machine &to, Time leaving, const Packets &packets, Arrived arrived);
	/** Has the processor do @p work, which may post. */
	void process(Time cost, Arrived work);
	/** Called now and then, at least once per tick. */
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
	Time moment_{}; /* time that the caller of the protocol has reached, with its posts */
};

} // namespace prism::gam::simulated

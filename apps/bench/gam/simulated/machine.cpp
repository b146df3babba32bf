/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/simulated/machine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace prism::gam::simulated
{

namespace
{

/** The longest tick, as in a Node. */
constexpr Time longest_tick = std::chrono::milliseconds(1);

} // namespace

Machine::Machine(Events &events, const Hardware &hardware, NodeId self, Find find)
	: events_(events), hardware_(hardware), self_(self), find_(std::move(find)), processor_(events)
{
}

void Machine::begin()
{
	events_.at(events_.now(), [this] { tick(); });
}

/** Does the work of a poll. */
void Machine::tick()
{
	process(Time(0), [this] {
		const Time due = coherence().on_time(events_.now());
		on_tick();
		const Time earliest = events_.now() + Hardware::in_ns(hardware_.message);
		events_.at(std::clamp(due, earliest, events_.now() + longest_tick), [this] { tick(); });
	});
}

bool Machine::start(Access &access, Time &until)
{
	moment_ = events_.now();
	const bool is_over = coherence().start(access);
	until = moment_;
	return is_over;
}

void Machine::flush()
{
	moment_ = events_.now();
	coherence().flush();
}

Time Machine::post() noexcept
{
	return moment_ += Hardware::in_ns(hardware_.post);
}

void Machine::transmit(Machine &to, Time leaving, const Packets &packets, Arrived arrived)
{
	const Time there = &to == this ? leaving + Hardware::in_ns(hardware_.loopback)
				       : link_.serve(leaving, hardware_.on_link(packets.bytes, packets.count)) +
						 Hardware::in_ns(hardware_.hop);
	events_.at(there, [&to, service = packets.service, arrived = std::move(arrived)]() mutable {
		to.events_.at(to.nic_.serve(to.events_.now(), service), std::move(arrived));
	});
}

void Machine::process(Time cost, Arrived work)
{
	processor_.submit(cost, [this, work = std::move(work)] {
		moment_ = events_.now();
		work();
		return moment_ - events_.now();
	});
}

void Machine::send(NodeId to, const Message &message)
{
	std::vector<std::byte> bytes(message.size());
	message.serialize(bytes.data());
	const Packets packets{bytes.size(), 1, Hardware::in_ns(hardware_.packet)};
	Machine &target = find_(to);
	transmit(target, post(), packets, [from = self_, &target, bytes = std::move(bytes)]() mutable {
		target.process(Hardware::in_ns(target.hardware_.message), [from, &target, bytes = std::move(bytes)] {
			target.coherence().hear(from, *Message::parse(bytes));
		});
	});
}

void Machine::ended(Access &access)
{
	static_cast<Waiting *>(access.context)->ended(access);
}

} // namespace prism::gam::simulated

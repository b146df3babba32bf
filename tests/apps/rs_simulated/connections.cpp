/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "connections.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "world.hpp"

namespace rs_sim
{

using simulation::ms;
using simulation::us;
using soft::Time;

namespace
{

bool is_connected(const Wire &wire)
{
	return wire.seat->client && wire.seat->wires[wire.replica].get() == &wire;
}

} // namespace

/** Returns the moment from which a message sent now is not held up. */
Time Connections::passes(const Wire &wire) const
{
	return world_.now() + world_.held_up(*wire.seat, wire.replica);
}

/** Returns a random time for a message. */
Time Connections::short_time()
{
	return world_.random().between(10 * us, 100 * us);
}

void Connections::up(const WirePtr &wire, Time delay, std::function<void(Replica &)> hear)
{
	wire->last_up = std::max(wire->last_up, passes(*wire) + delay);
	world_.after(wire->last_up - world_.now(), [this, wire, hear = std::move(hear)] {
		const Site &site = *world_.sites_[wire->replica];
		if (site.replica && site.life == wire->life)
			hear(*site.replica);
	});
}

/** Delivers a message, but only if the client still uses the connection. */
void Connections::down(const WirePtr &wire, Time delay, std::function<void(Seat &)> hear)
{
	wire->last_down = std::max(wire->last_down, passes(*wire) + delay);
	world_.after(wire->last_down - world_.now(), [this, wire, delay, hear = std::move(hear)]() mutable {
		if (wire->pair) /* the client does not use it yet */
			down(wire, delay, std::move(hear));
		if (!is_connected(*wire))
			return;
		hear(*wire->seat);
		wire->seat->next_poll = world_.now() + 1;
	});
}

/* Set-up --------------------------------------------------------------------------------------------------------- */

void Connections::want(Seat &seat, unsigned replica, std::uint64_t epoch)
{
	const auto wire = std::make_shared<Wire>();
	wire->seat = &seat;
	wire->client = seat.life;
	wire->replica = replica;
	wire->pair = std::make_unique<Pair>(seat.host, test::EndpointOptions{});
	world_.after(short_time(), [this, wire, epoch] { reach(wire, epoch); });
}

/** Handles a client's request at the replica. */
void Connections::reach(const WirePtr &wire, std::uint64_t epoch)
{
	if (wire->seat->life != wire->client)
		return;
	const Site &site = *world_.sites_[wire->replica];
	if (!site.replica || world_.parted(*wire->seat, wire->replica)) {
		try_again(wire);
		return;
	}
	const Replica::Request request{epoch, wire->seat->client->session().repairs(wire->replica)};
	const std::optional<Admission> admission = site.replica->admit(*wire->pair, request);
	if (!admission && request.repairs) { /* a repair learns that there is nothing to repair */
		wire->seat->repair->protocol().give_up(EBUSY);
		return;
	}
	if (!admission) {
		try_again(wire);
		return;
	}
	world_.result_.links++;
	wire->life = site.life;
	wire->connection = admission->connection;
	wire->admission = *admission;
	std::erase_if(wires_, [](const std::weak_ptr<Wire> &other) { return other.expired(); });
	wires_.push_back(wire);
	wire->last_down = passes(*wire) + short_time();
	world_.after(wire->last_down - world_.now(), [this, wire] { answer(wire); });
}

void Connections::try_again(const WirePtr &wire)
{
	wire->pair.reset();
	world_.after(world_.random().between(200 * us, 2 * ms), [this, wire] {
		if (wire->seat->life == wire->client)
			want(*wire->seat, wire->replica, wire->seat->client->session().epoch());
	});
}

/** Handles the replica's answer at the client, which then says that it is ready. */
void Connections::answer(const WirePtr &wire)
{
	if (wire->seat->life != wire->client) {
		wire->pair.reset();
		end(wire);
		return;
	}
	world_.after(passes(*wire) - world_.now() + short_time(), [this, wire] { confirm(wire); });
}

/** Handles that at the replica; the client begins only with the replica's own mark. */
void Connections::confirm(const WirePtr &wire)
{
	const Site &site = *world_.sites_[wire->replica];
	if (!site.replica || site.life != wire->life) {
		try_again(wire);
		return;
	}
	site.replica->enter(wire->connection);
	wire->last_down = std::max(wire->last_down, passes(*wire)) + short_time();
	world_.after(wire->last_down - world_.now(), [this, wire] { begin(wire); });
}

void Connections::begin(const WirePtr &wire)
{
	Seat &seat = *wire->seat;
	if (seat.life != wire->client) {
		wire->pair.reset();
		end(wire);
		return;
	}
	seat.wires[wire->replica] = wire;
	seat.client->link_up(wire->replica, std::move(wire->pair), wire->admission);
	seat.next_poll = world_.now() + 1;
}

void Connections::end(const WirePtr &wire)
{
	up(wire, world_.random().between(50 * us, 3 * ms),
		[connection = wire->connection](Replica &replica) { replica.end_of(connection); });
}

/* Messages ------------------------------------------------------------------------------------------------------- */

WirePtr Connections::wire_of(const Site &site, std::uint32_t number) const
{
	for (const std::weak_ptr<Wire> &candidate : wires_) {
		WirePtr wire = candidate.lock();
		if (wire && wire->replica == site.number && wire->connection == number && wire->life == site.life)
			return wire;
	}
	return nullptr;
}

void Connections::tell_to_settle(const Site &site, std::uint32_t number, std::uint64_t value)
{
	const WirePtr wire = wire_of(site, number);
	if (!wire)
		return;
	down(wire, short_time(), [this, wire, value](Seat &seat) {
		seat.client->settle(wire->replica, [this, wire, value] {
			up(wire, short_time(),
				[wire, value](Replica &replica) { replica.hear_settled(wire->connection, value); });
		});
	});
}

void Connections::tell_ended(const Site &site, std::uint32_t number)
{
	if (const WirePtr wire = wire_of(site, number))
		down(wire, world_.random().between(50 * us, 300 * us),
			[wire](Seat &seat) { seat.client->link_down(wire->replica); });
}

void Connections::tell_crashed(const Site &site)
{
	for (const std::weak_ptr<Wire> &candidate : wires_) {
		const WirePtr wire = candidate.lock();
		if (wire && wire->replica == site.number && wire->life == site.life)
			down(wire, world_.random().between(50 * us, 3 * ms),
				[wire](Seat &seat) { seat.client->link_down(wire->replica); });
	}
}

void Connections::tell(Seat &seat, unsigned replica, const prism::apps::ControlMessage &message)
{
	const WirePtr wire = seat.wires[replica];
	up(wire, short_time(), [this, wire, message](Replica &to) {
		const auto error = static_cast<std::uint64_t>(to.hear(wire->connection, message));
		if (message.kind == prism::rs::turn_ends_message)
			return;
		down(wire, short_time(), [wire, message, error](Seat &repairer) {
			repairer.repair->protocol().hear(wire->replica, {message.kind, error});
		});
	});
}

} // namespace rs_sim

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue pair of a kernel device, whose peer is this program: requests reach it as packets. */
#include <utility>

#include "wire_target.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace prism::conformance
{

using reference::Outcome;
using reference::Request;
using reference::Rights;
using reference::Verdict;

namespace
{

class WireBackend final : public Backend
{
public:
	WireBackend(const std::string &device, const WirePath &path)
		: device_(device), peer_(path), world_(device_), faults_(device_)
	{
	}

	[[nodiscard]] const char *name() const override { return peer_.ipv6() ? "wire, IPv6" : "wire, IPv4"; }
	[[nodiscard]] bool checks_qp_access() const override { return true; }
	[[nodiscard]] bool mangles() const override { return true; }
	void build(reference::World &world) override
	{
		world_.build(world);
		target_ = std::make_unique<WireTarget>(device_, peer_, world.mtu);
	}
	void reset(const Rights &access) override;
	void poke(std::uint64_t va, const Bytes &bytes) override { world_.poke(va, bytes); }
	void set_live(int region, bool live) override { world_.set_live(region, live); }
	bool post(int list, const reference::Entry &entry) override { return world_.post(list, entry); }
	std::vector<Outcome> run(std::span<const Request> requests) override;
	[[nodiscard]] std::span<const std::uint8_t> memory(std::size_t arena) const override
	{
		return world_.memory(arena);
	}
	[[nodiscard]] ListState list_state(int list) override { return world_.list_state(list); }
	[[nodiscard]] std::vector<reference::Rejected> take_rejected(int list) override
	{
		return world_.take_rejected(list);
	}
	[[nodiscard]] std::string complaint() override { return target_->complaint(); }

private:
	[[nodiscard]] WireNames names(const Request &request) const
	{
		return {world_.key(request.region), world_.key(request.aux_region), world_.number(request.list)};
	}

	void send_bundled(std::span<const Exchange> exchanges);
	void send_gathered(std::vector<Packet> &packets) const;

	Device device_;
	WirePeer peer_;
	DeviceWorld world_;
	std::unique_ptr<WireTarget> target_;
	FaultCounters faults_;
	test::Random random_{1};
};

void WireBackend::reset(const Rights &access)
{
	const std::uint64_t psn = random_.chance(25) ? PRISM_PSN_MASK - random_.below(20) : random_.bits();
	if (peer_.drop_received())
		target_->complain("packets that answer nothing");
	target_->connect(access_of(access), static_cast<std::uint32_t>(psn) & PRISM_PSN_MASK);
	device_.take_events();
}

void WireBackend::send_gathered(std::vector<Packet> &packets) const
{
	if (packets.size() > 1)
		peer_.send(bundle_of(packets));
	else if (!packets.empty())
		peer_.send(packets[0]);
	packets.clear();
}

/** Bundles most packets that may be entries; a mangled packet is always sent alone. */
void WireBackend::send_bundled(std::span<const Exchange> exchanges)
{
	std::vector<Packet> gathered;
	for (const Exchange &exchange : exchanges)
		for (const Packet &packet : exchange.packets) {
			const auto size = static_cast<std::uint32_t>(packet.size());
			const bool takes = exchange.request->mangle == reference::Mangle::none &&
					   prism_bundle_takes(packet.data(), size, target_->mtu());
			if (!takes || random_.chance(20))
				send_gathered(gathered);
			if (!takes) {
				peer_.send(packet);
				continue;
			}
			gathered.push_back(packet);
			if (gathered.size() > PRISM_BUNDLE_MAX_ENTRIES ||
				bundle_of(gathered).size() > target_->mtu() + PRISM_BUNDLE_HEADERS) {
				gathered.pop_back();
				send_gathered(gathered);
				gathered.push_back(packet);
			}
		}
	send_gathered(gathered);
}

/** Half of the batches are sent at once, half of these in bundles; the others request by request. */
std::vector<Outcome> WireBackend::run(std::span<const Request> requests)
{
	const bool at_once = random_.chance(50), bundled = at_once && random_.chance(50);
	std::vector<Exchange> exchanges;
	std::vector<Outcome> outcomes;
	for (const Request &request : requests) {
		exchanges.push_back(target_->encode(request, names(request), random_));
		if (at_once && !bundled)
			target_->send(exchanges.back());
	}
	if (bundled)
		send_bundled(exchanges);
	bool broken = false;
	for (const Exchange &exchange : exchanges) {
		Outcome outcome;
		outcome.verdict = Verdict::flushed;
		if (!broken) {
			if (!at_once)
				target_->send(exchange);
			outcome = target_->answer(exchange);
			broken = outcome.verdict != Verdict::completed;
			std::string complaint;
			if (broken) {
				outcome.reason = faults_.since(complaint);
				outcome.local.clear();
			}
			if (!complaint.empty())
				target_->complain(complaint);
		}
		outcomes.push_back(std::move(outcome));
	}
	return outcomes;
}

} // namespace

std::unique_ptr<Backend> make_wire_backend(const std::string &device, const WirePath &path)
{
	return std::make_unique<WireBackend>(device, path);
}

} // namespace prism::conformance

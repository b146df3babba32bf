/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "user.hpp"

#include <algorithm>
#include <utility>

#include "rpc/fetch/link.hpp"
#include "rpc/slots/link.hpp"
#include "rpc/two_sided/link.hpp"
#include "rpc/window/link.hpp"

namespace rpc_sim
{

using prism::Result;
using rpc::Way;

namespace
{

constexpr std::size_t before_filler = rpc::message_header_size + sizeof(Wish);
constexpr std::uint8_t kinds = 2; /* of calls */

rpc::QueuedLink::Needs needs_of(const rpc::ClientOptions &options)
{
	switch (options.way) {
	case Way::reply:
	case Way::fetch:
		return rpc::fetch::FetchLink::needs(options);
	case Way::slots:
		return rpc::slots::SlotsLink::needs(options);
	case Way::window:
		return rpc::window::WindowLink::needs(options);
	default:
		return rpc::TwoSidedLink::needs(options);
	}
}

template <typename Link>
std::unique_ptr<rpc::QueuedLink> make(rpc::QueuedLink::Introduced introduced)
{
	Result<std::unique_ptr<Link>> made = Link::create(std::move(introduced));
	return made ? *std::move(made) : nullptr;
}

std::unique_ptr<rpc::QueuedLink> make_link(rpc::QueuedLink::Introduced introduced)
{
	switch (introduced.parts.settings.way) {
	case Way::reply:
	case Way::fetch:
		return make<rpc::fetch::FetchLink>(std::move(introduced));
	case Way::slots:
		return make<rpc::slots::SlotsLink>(std::move(introduced));
	case Way::window:
		return make<rpc::window::WindowLink>(std::move(introduced));
	default:
		return make<rpc::TwoSidedLink>(std::move(introduced));
	}
}

} // namespace

User::User(const UserOptions &options, Around &around, Ledger &ledger)
	: options_(options), around_(around), ledger_(ledger), slots_(options.client.depth)
{
}

User::~User() = default;

/* Connections ---------------------------------------------------------------------------------------------------- */

User::Approach User::approach(test::Node &host, const DeviceOptions &options, bool again)
{
	Approach made;
	made.device = std::make_unique<Device>(host, around_, options);
	made.port = *made.device->open(needs_of(options_.client).port());
	made.me.way = options_.client.way;
	made.me.stay = again ? rpc::Stay::again : rpc::Stay::kept;
	if (!again) {
		for (std::byte &byte : name_)
			byte = static_cast<std::byte>(around_.random().bits());
	}
	made.me.client = name_;
	return made;
}

void User::enter(Approach approach, prism::ConnectionRecord record, Spoiler *spoiler)
{
	Device *const device = approach.device.get();
	device->spoiler = spoiler;
	rpc::SlotSizes sizes;
	sizes.request = before_filler + options_.sizes.request;
	sizes.response = rpc::message_header_size + options_.sizes.response;
	const bool again = approach.me.stay == rpc::Stay::again;
	std::unique_ptr<rpc::QueuedLink> link = make_link({std::move(approach.device), std::move(approach.port),
		{options_.client, sizes, "the server", {}, std::move(record), std::nullopt, {}, approach.me}});
	if (!link || !link->start()) {
		around_.find("a link does not come to be");
		return;
	}
	if (again) {
		link->take_over(*link_);
		figures_.resumed++;
	}
	count_link();
	link_ = std::move(link);
	device_ = device;
}

void User::leave()
{
	count_link();
	link_.reset();
	device_ = nullptr;
	for (Slot &slot : slots_) {
		figures_.unknown += slot.busy && !slot.expired;
		slot = {};
	}
}

void User::count_link()
{
	if (!link_)
		return;
	const rpc::LinkCounters &counters = link_->counters();
	figures_.links.fetches += counters.fetches;
	figures_.links.failed_fetches += counters.failed_fetches;
	figures_.links.second_fetches += counters.second_fetches;
	figures_.links.switches += counters.switches;
	figures_.links.refused += counters.refused;
}

/* Calls ---------------------------------------------------------------------------------------------------------- */

bool User::done() const noexcept
{
	return !left_ && std::ranges::none_of(slots_, [](const Slot &slot) { return slot.busy; });
}

void User::begin(std::uint32_t index)
{
	prism::test::Random &random = around_.random();
	Slot &slot = slots_[index];
	left_--;
	slot.busy = true;
	slot.expired = false;
	slot.wish.id = ledger_.begin();
	slot.wish.response = static_cast<std::uint32_t>(random.below(options_.sizes.response + 1));
	slot.wish.busy = static_cast<std::uint32_t>(random.below(options_.longest_busy + 1));
	const std::size_t size = before_filler + random.below(options_.sizes.request + 1);
	const std::span<std::byte> request = link_->request(index).first(size);
	rpc::MessageHeader header;
	header.call = static_cast<std::uint8_t>(random.below(kinds));
	header.size = static_cast<std::uint32_t>(size - rpc::message_header_size);
	header.serialize_request(request.data());
	std::memcpy(&request[rpc::message_header_size], &slot.wish, sizeof(slot.wish));
	fill(request.subspan(before_filler), slot.wish.id);
	link_->call(index, size);
}

bool User::poll()
{
	news_ = has_completions();
	for (std::uint32_t slot = 0; slot < slots_.size() && left_ && !link_->broken(); slot++) {
		if (!slots_[slot].busy && around_.random().chance(50))
			begin(slot);
	}
	link_->poll(*this);
	return news_;
}

void User::on_response(std::uint32_t index, std::span<const std::byte> response) noexcept
{
	Slot &slot = slots_[index];
	news_ = true;
	rpc::MessageHeader header;
	if (!slot.busy || header.parse_response(response) ||
		response.size() != rpc::message_header_size + slot.wish.response)
		around_.find("a response is not that of its call");
	else if (!fits(response.subspan(rpc::message_header_size), slot.wish.id))
		around_.find("a response is not whole, or another call's");
	else if (ledger_.executions(slot.wish.id) != 1)
		around_.find("a call was answered and not executed once");
	figures_.answered++;
	slot.busy = false;
}

void User::on_expired(std::uint32_t index) noexcept
{
	Slot &slot = slots_[index];
	slot.expired = true;
	figures_.expired++;
	if (options_.flaw == Flaw::buffer_again)
		fill(link_->request(index).subspan(before_filler), slot.wish.id + 1);
}

void User::on_released(std::uint32_t index) noexcept
{
	news_ = true;
	slots_[index].busy = false;
}

} // namespace rpc_sim

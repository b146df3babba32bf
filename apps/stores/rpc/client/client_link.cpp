/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/client/client_link.hpp"

#include "base/assertion.hpp"
#include "base/wire.hpp"
#include "rpc/datagram/link.hpp"
#include "rpc/fetch/link.hpp"
#include "rpc/slots/link.hpp"
#include "rpc/two_sided/link.hpp"
#include "rpc/window/link.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::rpc
{

namespace
{

constexpr auto look_after = std::chrono::milliseconds(20);
constexpr unsigned polls_between_looks = 256;

Result<void> check_depth(const apps::Hello &server, const std::string &who, std::uint32_t depth)
{
	if (depth > server.max_depth)
		return make_error(EINVAL,
			who + " serves " + std::to_string(server.max_depth) + " operations at once on one connection",
			"ask for a smaller depth, or raise the server's limit");
	return {};
}

} // namespace

Result<std::unique_ptr<ClientLink>> ClientLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	const auto upcast = [](auto made) -> Result<std::unique_ptr<ClientLink>> {
		if (!made)
			return made.error();
		return std::unique_ptr<ClientLink>(*std::move(made));
	};
	switch (options.way) {
	case Way::reply:
	case Way::fetch:
		return upcast(fetch::FetchLink::connect(context, host, port, wanted, options, measure));
	case Way::slots:
		return upcast(slots::SlotsLink::connect(context, host, port, wanted, options, measure));
	case Way::window:
		return upcast(window::WindowLink::connect(context, host, port, wanted, options, measure));
	case Way::datagram:
		return upcast(datagram::DatagramLink::connect(context, host, port, wanted, options, measure));
	case Way::two_sided:
		return upcast(TwoSidedLink::connect(context, host, port, wanted, options, measure));
	default:
		break;
	}
	return make_error(EINVAL, "calls by way " + std::to_string(static_cast<unsigned>(options.way)));
}

Result<std::unique_ptr<ClientLink>> ClientLink::resume(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const Measure &measure, const ClientLink &lost)
{
	if (!lost.broken() || !lost.settings_.resumable)
		return make_error(EINVAL, "a link to resume that is whole, or that nothing is kept of",
			"set ClientOptions::resumable when it is made");
	ClientOptions options = lost.settings_;
	options.again = lost.me_.client;
	Result<std::unique_ptr<ClientLink>> made = connect(context, host, port, wanted, options, measure);
	if (made)
		(*made)->take_over(lost);
	return made;
}

/* Sends the interrupted calls again, with the same ids: by these the server knows which of them it has executed. */
void ClientLink::take_over(const ClientLink &lost) noexcept
{
	for (std::uint32_t slot = 0; slot < calls_.size(); slot++) {
		const Call &before = lost.calls_[slot];
		if (!before.interrupted) {
			calls_[slot].generation = before.generation;
			continue;
		}
		calls_[slot].generation = before.generation - 1;
		const std::span<const std::byte> message = lost.request(slot).first(before.size);
		std::copy(message.begin(), message.end(), request(slot).begin());
		call(slot, before.size);
		calls_[slot].abandoned = before.abandoned;
	}
}

ClientLink::ClientLink(Parts parts)
	: settings_(parts.settings), sizes_(parts.sizes), limits_(parts.server), peer_(std::move(parts.peer)),
	  me_(parts.me), rendezvous_(std::move(parts.rendezvous)), calls_(parts.settings.depth)
{
}

Result<void> ClientLink::check(const ClientOptions &options)
{
	if (options.depth < 1 || options.depth > depth_limit)
		return make_error(EINVAL, "a depth of " + std::to_string(options.depth), "from 1 to 4096 is possible");
	return {};
}

Result<ClientLink::Parts> ClientLink::meet(const Target &server, const Endpoint &mine)
{
	const ClientOptions &options = server.options;
	const Deadline deadline = std::chrono::steady_clock::now() + options.timeout;
	Result<TcpRendezvous> link = TcpRendezvous::connect(server.host, server.port, options.timeout);
	if (!link)
		return link.error();
	const apps::Hello hello{server.wanted.kind, 0, 0, options.depth};
	Result<Introduction> introduction = Introduction::create();
	if (!introduction)
		return introduction.error();
	introduction->way = options.way;
	introduction->worker = options.worker;
	const bool comes_back = options.again != ClientId{};
	if (comes_back)
		introduction->client = options.again;
	introduction->stay = comes_back ? Stay::again : options.resumable ? Stay::kept : Stay::once;
	ConnectionRecord record;
	record.endpoint = mine;
	record.private_data = hello.serialize(introduction->serialize());
	Result<ConnectionRecord> theirs = link->swap(record, deadline);
	if (!theirs)
		return theirs.error();
	const std::string who = "the server at " + server.host + " port " + std::to_string(server.port);
	Result<apps::Hello> told = server.wanted.expect(*theirs, who);
	if (!told)
		return told.error();
	if (Result<void> checked = check_depth(*told, who, options.depth); !checked)
		return checked.error();
	Result<SlotSizes> sizes = server.measure(*theirs, *told);
	if (!sizes)
		return Error{sizes.error().code, who + " " + sizes.error().message};
	return Parts{options, *sizes, who, *told, *std::move(theirs), *std::move(link), deadline, *introduction};
}

void ClientLink::break_off(int error) noexcept
{
	if (failure_)
		return;
	failure_ = error;
	active_ = 0;
	for (Call &call : calls_)
		call.interrupted = std::exchange(call.under_way, false);
	stop();
}

void ClientLink::call(std::uint32_t slot, std::size_t size) noexcept
{
	if (failure_)
		return;
	PRISM_ASSERT(slot < calls_.size() && size <= sizes_.request);
	Call &call = calls_[slot];
	PRISM_ASSERT(!call.under_way);
	call.under_way = true;
	call.abandoned = false;
	call.size = static_cast<std::uint32_t>(size);
	if (settings_.call_limit.count())
		call.began = now();
	apps::store(request(slot).data() + message_id_offset, std::uint64_t{++call.generation} << 32 | slot);
	active_++;
	counters_.calls++;
	send(slot, static_cast<std::uint32_t>(size));
}

std::optional<std::uint32_t> ClientLink::slot_of(std::span<const std::byte> response) noexcept
{
	MessageHeader header;
	if (!header.parse_response(response)) {
		const auto slot = static_cast<std::uint32_t>(header.id);
		if (slot < calls_.size() && calls_[slot].under_way &&
			calls_[slot].generation == static_cast<std::uint32_t>(header.id >> 32))
			return slot;
	}
	break_off(EBADMSG);
	return std::nullopt;
}

void ClientLink::deliver(std::uint32_t slot, std::span<const std::byte> response, Listener &listener) noexcept
{
	Call &call = calls_[slot];
	PRISM_ASSERT(call.under_way);
	call.under_way = false;
	ended();
	if (call.abandoned)
		listener.on_released(slot);
	else
		listener.on_response(slot, response);
}

void ClientLink::expire(Listener &listener) noexcept
{
	if (!settings_.call_limit.count() || ++polls_ % polls_between_looks)
		return;
	const auto time = now();
	for (std::uint32_t slot = 0; slot < calls_.size(); slot++) {
		Call &call = calls_[slot];
		if (call.under_way && !call.abandoned && time - call.began > settings_.call_limit) {
			call.abandoned = true;
			listener.on_expired(slot);
		}
	}
}

/*
 * Breaks the link after too long a silence. A server that closes the connection shows it only on its socket; one that
 * hangs shows nothing, and its device still acknowledges and answers READs.
 */
void ClientLink::watch() noexcept
{
	if (std::exchange(answered_, false) || !active_) {
		quiet_ = false;
		quiet_polls_ = 0;
		return;
	}
	if (++quiet_polls_ % polls_between_looks)
		return;
	const auto time = now();
	if (!quiet_) {
		quiet_ = true;
		quiet_since_ = time;
	} else if (time - quiet_since_ > settings_.patience) {
		break_off(ETIMEDOUT);
	} else if (time - quiet_since_ > look_after && rendezvous_ && rendezvous_->peer_gone()) {
		break_off(ECONNRESET);
	}
}

void ClientLink::poll(Listener &listener) noexcept
{
	if (failure_)
		return;
	drive(listener);
	expire(listener);
	watch();
}

} // namespace prism::rpc

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "link.hpp"
#include "kv/store/kind.hpp"

#include <algorithm>

#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "introduction.hpp"

namespace prism::kv
{

namespace
{

/* Most work requests of one lane at once: claim_and_read() */
constexpr std::uint32_t requests_a_lane = 3;

} // namespace

std::uint32_t Link::work_requests(std::uint32_t depth) noexcept
{
	return depth * requests_a_lane + room_for_reports;
}

Result<std::unique_ptr<Link>> Link::connect(const LinkOptions &options)
{
	QueuePairOptions pair;
	pair.max_send_wr = work_requests(options.depth);
	Result<QueuePair> qp = QueuePair::create(options.pd, options.cq, options.cq, pair);
	if (!qp)
		return qp.error();
	const auto end = std::chrono::steady_clock::now() + options.timeout;
	Result<TcpRendezvous> rendezvous = TcpRendezvous::connect(
		options.server.host, options.server.port, std::min(options.listening, options.timeout));
	if (!rendezvous)
		return rendezvous.error();
	Introduction wanted;
	wanted.shard = options.shard;
	apps::Hello hello{prism_kind};
	hello.max_depth = options.depth;
	ConnectionRecord mine;
	mine.private_data = hello.serialize(wanted.serialize());
	Result<ConnectionRecord> peer =
		establish(*rendezvous, *qp, std::move(mine), std::max(time_left(end), std::chrono::milliseconds(1)));
	if (!peer)
		return peer.error();
	const std::string who = options.server.text();
	Result<ServerView> view = view_of(*peer, who);
	if (!view)
		return view.error();
	if (!qp->peer_speaks_prism())
		return make_error(EPROTONOSUPPORT, "the device of " + who + " does not speak PRISM");
	if (options.store && view->shard.store != *options.store)
		return make_error(EPROTONOSUPPORT,
			who + " is " + view->shard.text() + ", but others are of the store '" + *options.store + "'",
			"name servers of one store");
	std::unique_ptr<Link> link(new Link(*std::move(rendezvous), *std::move(qp), *std::move(view)));
	if (Result<void> reports = link->report_to(peer->free_lists); !reports)
		return reports.error();
	return link;
}

Link::Link(TcpRendezvous rendezvous, QueuePair qp, ServerView view)
	: ServerLink(std::move(rendezvous), std::move(qp)), view_(std::move(view))
{
}

} // namespace prism::kv

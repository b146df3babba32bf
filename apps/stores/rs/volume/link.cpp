/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "link.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace prism::rs
{

namespace
{

/* Time to wait for a listener: the caller tries again. */
constexpr std::chrono::milliseconds attempt{100};

/** Parses the replica's record, which is not trusted: all values that are used later are checked here. */
Result<ReplicaView> view_of(
	const ConnectionRecord &record, const Introduction &theirs, const LinkOptions &options, const std::string &who)
{
	constexpr std::size_t alignment = 32;
	const RegionInfo *const slots = record.region(slots_region);
	const RegionInfo *const scratch = record.region(scratch_region);
	const auto wrong = [&who](const char *what) {
		return make_error(EBADMSG, who + " describes " + what + " that cannot be");
	};
	if (!slots || slots->region.length / options.slot_size < theirs.blocks || slots->region.address % alignment)
		return wrong("blocks");
	if (!scratch || scratch->region.length < alignment || scratch->region.address % alignment)
		return wrong("a scratch");
	ReplicaView view;
	view.slots = slots->region;
	view.scratch = scratch->region.at();
	view.epoch = theirs.epoch;
	view.serving = theirs.serving;
	if (!options.buffer_size)
		return view;
	if (record.free_lists.size() != 1 || record.free_lists[0].buffer_size < options.buffer_size)
		return wrong("buffers");
	view.free_list = record.free_lists[0].number;
	view.buffers = record.free_lists[0].buffers;
	return view;
}

} // namespace

Result<std::unique_ptr<Link>> Link::connect(const LinkOptions &options, unsigned replica, std::uint64_t epoch)
{
	const ReplicaAddress &address = options.volume.replicas.at(replica);
	const std::string who = fmt::format("replica {} at {}:{}", replica, address.host, address.port);
	QueuePairOptions pair;
	pair.max_send_wr = options.max_send_wr + room_for_reports;
	Result<QueuePair> qp = QueuePair::create(options.pd, options.cq, options.cq, pair);
	if (!qp)
		return qp.error();
	Result<TcpRendezvous> rendezvous = TcpRendezvous::connect(address.host, address.port, attempt);
	if (!rendezvous)
		return rendezvous.error();
	Introduction mine = Introduction::of(options.volume, replica);
	mine.epoch = epoch;
	mine.client = options.client;
	mine.purpose = options.purpose;
	ConnectionRecord record;
	record.private_data = apps::Hello{options.kind}.serialize(mine.serialize());
	Result<ConnectionRecord> peer = establish(*rendezvous, *qp, std::move(record), options.timeout);
	if (!peer)
		return peer.error();
	Result<Introduction> theirs = meet(*peer, options.kind, mine, who);
	if (!theirs)
		return theirs.error();
	if (!qp->peer_speaks_prism() && options.needs_prism)
		return make_error(EPROTONOSUPPORT, "the device of " + who + " does not speak PRISM");
	Result<ReplicaView> view = view_of(*peer, *theirs, options, who);
	if (!view)
		return view.error();
	std::unique_ptr<Link> link(new Link(*std::move(rendezvous), *std::move(qp), *view));
	if (!options.buffer_size)
		return link;
	if (Result<void> reports = link->report_to(peer->free_lists); !reports)
		return reports.error();
	return link;
}

Link::Link(TcpRendezvous rendezvous, QueuePair qp, const ReplicaView &view)
	: ServerLink(std::move(rendezvous), std::move(qp)), ReplicaLink(view)
{
}

} // namespace prism::rs

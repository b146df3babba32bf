/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "membership.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "rs/store/kind.hpp"
#include "rs/store/repair.hpp"

namespace prism::rs
{

namespace
{

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds pause_between_questions = 20ms;
constexpr std::chrono::milliseconds pause_between_repairs = 200ms;
constexpr std::chrono::milliseconds answer_timeout = 1s;

/** Asks @p other if the volume is new, and passes its answer to @p founding. */
Result<void> ask(const Context &context, const Replica &replica, unsigned other)
{
	Founding &founding = replica.founding();
	const ReplicaAddress &address = replica.volume().replicas[other];
	const std::string who = fmt::format("replica {} at {}:{}", other, address.host, address.port);
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	Result<CompletionQueue> cq = CompletionQueue::create(context, 16);
	if (!cq)
		return cq.error();
	Result<QueuePair> qp = QueuePair::create(*pd, *cq, *cq);
	if (!qp)
		return qp.error();
	Result<TcpRendezvous> rendezvous = TcpRendezvous::connect(address.host, address.port, 100ms);
	if (!rendezvous)
		return rendezvous.error();
	Introduction mine = Introduction::of(replica.volume(), other);
	mine.purpose = Purpose::found;
	mine.asker = static_cast<std::uint16_t>(replica.number());
	mine.client = founding.incarnation();
	ConnectionRecord record;
	record.private_data = apps::Hello{prism_kind}.serialize(mine.serialize());
	Result<ConnectionRecord> peer = establish(*rendezvous, *qp, std::move(record), answer_timeout);
	if (!peer)
		return peer.error();
	Result<Introduction> theirs = meet(*peer, prism_kind, mine, who);
	if (!theirs)
		return theirs.error();
	if (theirs->founders.empty())
		founding.hear_new(other, theirs->client);
	else
		founding.hear_founded(other, theirs->founders);
	return {};
}

bool is_final(const Error &why)
{
	return why.code == EEXIST || why.code == EPROTONOSUPPORT;
}

} // namespace

Result<void> found_volume(
	const Context &context, Replica &replica, const FoundingRecord &record, const std::stop_token &stop)
{
	while (!replica.founding().may_serve() && !stop.stop_requested()) {
		replica.founding().begin_round();
		for (unsigned other = 0; other < replica.volume().replicas.size(); other++) {
			if (other == replica.number())
				continue;
			if (Result<void> asked = ask(context, replica, other); !asked && is_final(asked.error()))
				return asked;
		}
		if (!replica.founding().may_serve())
			std::this_thread::sleep_for(pause_between_questions);
	}
	if (!replica.founding().may_serve())
		return {};
	if (Result<void> created = record.create(); !created)
		return created;
	replica.serve_as_founder();
	return {};
}

void repair_until_it_serves(const Context &context, const Replica &replica, const std::stop_token &stop,
	const std::function<void(const std::string &)> &log)
{
	RepairOptions options;
	options.replica = replica.number();
	options.timeout = 2s;
	options.stop = stop;
	std::string told;
	while (!replica.serving() && !stop.stop_requested()) {
		const Result<void> repaired = repair(context, replica.volume(), options);
		if (repaired || repaired.error().code == EALREADY)
			return;
		if (repaired.error().code != EBUSY && repaired.error().code != ECANCELED &&
			repaired.error().message != told) {
			told = repaired.error().message;
			log(fmt::format("replica {}: not repaired yet: {}", replica.number(), told));
		}
		std::this_thread::sleep_for(pause_between_repairs);
	}
}

} // namespace prism::rs

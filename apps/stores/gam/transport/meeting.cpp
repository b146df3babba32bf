/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/transport/meeting.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

namespace prism::gam
{

namespace
{

/* Members listen before they join: one that does not has ended, and this node hears of that from the master. */
constexpr auto listening = std::chrono::milliseconds(250);
/* Pauses between two attempts to connect; doubled each time */
constexpr auto shortest_pause = std::chrono::milliseconds(10);
constexpr auto longest_pause = std::chrono::milliseconds(320);

} // namespace

/** A node that connects, until it is ready. */
class Meeting::Arrival final : public apps::Reception::AcceptedConnection
{
public:
	Arrival(Meeting &meeting, const NodeLife &life) : meeting_(meeting), life_(life) {}
	~Arrival() override
	{
		if (!entered_)
			meeting_.peers_.drop(life_);
	}
	/* The peer can receive from now on. */
	void ready() override { meeting_.peers_.release(life_); }
	void enter() override
	{
		entered_ = true;
		meeting_.changed_.notify_all();
	}

private:
	Meeting &meeting_;
	NodeLife life_;
	bool entered_ = false;
};

Meeting::Meeting(Peers &peers, const MeetingOptions &options, std::unique_ptr<apps::Reception> reception)
	: peers_(peers), options_(options), reception_(std::move(reception)),
	  wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

Result<std::unique_ptr<Meeting>> Meeting::create(Peers &peers, const MeetingOptions &options)
{
	Result<TcpListener> listener = TcpListener::create(options.port, options.address);
	if (!listener)
		return listener.error();
	Result<std::unique_ptr<apps::Reception>> reception =
		apps::Reception::create(*std::move(listener), apps::Hello{node_kind}, options.timeout);
	if (!reception)
		return reception.error();
	/* The constructor is private: no make_unique. */
	std::unique_ptr<Meeting> made(new Meeting(peers, options, *std::move(reception)));
	if (made->wake_.get() < 0)
		return make_error(errno, "cannot create an event descriptor");
	Meeting &meeting = *made;
	made->receiver_ = std::jthread([&meeting](const std::stop_token &stop) { meeting.receive(stop); });
	made->seeker_ = std::jthread([&meeting](const std::stop_token &stop) { meeting.seek(stop); });
	return made;
}

Meeting::~Meeting()
{
	receiver_.request_stop();
	(void)eventfd_write(wake_.get(), 1);
	seeker_.request_stop();
	{
		const std::lock_guard guard(lock_);
		if (link_) /* to a member that may stand still */
			(void)::shutdown(link_->fd(), SHUT_RDWR);
	}
	receiver_ = {}; /* neither need have begun */
	seeker_ = {};
}

void Meeting::receive(const std::stop_token &stop)
{
	while (!stop.stop_requested()) {
		std::array<pollfd, 2> watched{{{reception_->fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
		if (::poll(watched.data(), watched.size(), reception_->patience()) < 0 && errno != EINTR)
			break;
		try {
			if (!stop.stop_requested())
				reception_->serve(*this);
		} catch (const std::bad_alloc &) { /* who connects tries again */
			std::this_thread::sleep_for(shortest_pause);
		}
	}
	reception_->close(*this);
}

/* Logs a refusal, unless the node is dead, is too early, or came when this node ended, which is no fault. */
void Meeting::refused(const Error &why) noexcept
{
	if (why.code == ECONNRESET || why.code == EAGAIN || why.code == ESHUTDOWN)
		return;
	peers_.log()(apps::LogLevel::warning, "refused a node: " + why.message);
}

PeerIntroduction Meeting::introduction(const NodeLife &to) const
{
	const PairSizes &sizes = peers_.options().sizes;
	return {me_->cluster, me_->life, to, options_.protocol, block_size, sizes.frame_bytes, sizes.window};
}

/* Checks if the node with this introduction may be connected. EAGAIN: it knows a later epoch than this node. */
Result<void> Meeting::admit(const PeerIntroduction &theirs) const
{
	if (!me_)
		return make_error(EAGAIN, "this node is about to join");
	if (Result<void> checked = theirs.check(introduction(theirs.from)); !checked)
		return checked;
	if (theirs.from.node >= max_nodes || theirs.from.node <= me_->life.node)
		return make_error(EINVAL, "the node with the higher number connects");
	if (view_.find_live(theirs.from))
		return {};
	if (theirs.from.incarnation > view_.epoch)
		return make_error(EAGAIN, "this node is about to hear of it");
	return make_error(
		ESTALE, "node " + std::to_string(theirs.from.node) + " is no member any more", "start it again");
}

Result<std::unique_ptr<apps::Reception::AcceptedConnection>> Meeting::on_connect(
	const apps::Reception::Link & /*link*/, const ConnectionRecord &theirs, ConnectionRecord &mine)
try {
	const Result<apps::Hello> hello = apps::Hello{node_kind}.expect(theirs, "the node");
	if (!hello)
		return hello.error();
	const Result<PeerIntroduction> peer = PeerIntroduction::parse(apps::Hello::own_part(theirs.private_data));
	if (!peer)
		return peer.error();
	/* Held until the pair exists, so that adopt() cuts it off if necessary. */
	const std::lock_guard guard(lock_);
	if (Result<void> admitted = admit(*peer); !admitted)
		return admitted.error();
	Result<std::unique_ptr<rpc::Port>> port = peers_.open();
	if (!port)
		return port.error();
	if (Result<void> connected = (*port)->connect(theirs.endpoint); !connected)
		return connected.error();
	mine.endpoint = (*port)->endpoint();
	if (Result<void> added = peers_.add(peer->from, *std::move(port), Peers::Begin::held); !added)
		return added.error();
	const auto own = introduction(peer->from).serialize();
	mine.private_data = apps::Hello{node_kind}.serialize(own);
	return std::unique_ptr<apps::Reception::AcceptedConnection>(std::make_unique<Arrival>(*this, peer->from));
} catch (const std::bad_alloc &) {
	return Error{ENOMEM, "no memory"};
}

/* Returns the next member to connect to. */
std::optional<Member> Meeting::next()
{
	for (const Member &member : view_.members) {
		if (me_ && member.live() && member.life.node < me_->life.node &&
			met_[member.life.node] != member.life.incarnation)
			return member;
	}
	return std::nullopt;
}

/** Connects to @p member, unless @p stop is requested, which ends the waiting. */
Result<void> Meeting::connect(const Member &member, const std::stop_token &stop)
try {
	Result<TcpRendezvous> link =
		TcpRendezvous::connect(member.host, member.port, std::min(options_.timeout, listening));
	if (!link)
		return link.error();
	{
		const std::lock_guard guard(lock_);
		if (stop.stop_requested())
			return make_error(ECANCELED, "this node ends");
		link_ = &*link;
	}
	Result<void> connected = introduce(member, *link);
	const std::lock_guard guard(lock_);
	link_ = nullptr;
	return connected;
} catch (const std::bad_alloc &) {
	return Error{ENOMEM, "no memory"};
}

/** Makes the pair to @p member, which @p link leads to. */
Result<void> Meeting::introduce(const Member &member, TcpRendezvous &link)
try {
	const Deadline deadline = std::chrono::steady_clock::now() + options_.timeout;
	Result<std::unique_ptr<rpc::Port>> port = peers_.open();
	if (!port)
		return port.error();
	const PeerIntroduction own = introduction(member.life);
	ConnectionRecord mine;
	mine.endpoint = (*port)->endpoint();
	mine.private_data = apps::Hello{node_kind}.serialize(own.serialize());
	Result<ConnectionRecord> theirs = link.swap(mine, deadline);
	if (!theirs)
		return theirs.error();
	const std::string who = "node " + std::to_string(member.life.node);
	if (Result<apps::Hello> hello = apps::Hello{node_kind}.expect(*theirs, who); !hello)
		return hello.error();
	const Result<PeerIntroduction> peer = PeerIntroduction::parse(apps::Hello::own_part(theirs->private_data));
	if (!peer)
		return peer.error();
	if (Result<void> checked = peer->check(own); !checked)
		return checked.error();
	if (Result<void> connected = (*port)->connect(theirs->endpoint); !connected)
		return connected.error();
	{
		const std::lock_guard guard(lock_);
		if (!view_.find_live(member.life))
			return make_error(ESTALE, who + " is dead");
		/* Before the barrier, as the peer sends as soon as it has this node's mark. */
		if (Result<void> added = peers_.add(member.life, *std::move(port), Peers::Begin::open); !added)
			return added.error();
	}
	/* The peer takes this node for connected when it has the mark, and may be late to answer that. */
	Result<void> met = link.barrier(std::chrono::steady_clock::now() + options_.timeout);
	if (!met)
		peers_.drop(member.life);
	return met;
} catch (const std::bad_alloc &) {
	peers_.drop(member.life);
	return Error{ENOMEM, "no memory"};
}

void Meeting::seek(const std::stop_token &stop)
{
	auto pause = shortest_pause;
	std::unique_lock guard(lock_);
	while (changed_.wait(guard, stop, [this] { return next().has_value(); }) && !stop.stop_requested()) {
		const Member member = *next();
		guard.unlock();
		const Result<void> connected = connect(member, stop);
		guard.lock();
		if (connected) {
			met_[member.life.node] = member.life.incarnation;
			why_not_.clear();
			changed_.notify_all();
			pause = shortest_pause;
			continue;
		}
		why_not_ = connected.error().message;
		changed_.wait_for(guard, stop, pause, [] { return false; });
		pause = std::min(2 * pause, longest_pause);
	}
}

void Meeting::adopt(const Admission &me, const View &view)
{
	const std::lock_guard guard(lock_);
	if (!me_)
		me_ = me;
	view_ = view;
	for (NodeId node = 0; node < max_nodes; node++) {
		const std::optional<NodeLife> peer = peers_.peer(node);
		if (peer && !view.find_live(*peer))
			peers_.cut_off(node);
	}
	changed_.notify_all();
}

Result<void> Meeting::wait(std::chrono::milliseconds timeout)
{
	std::unique_lock guard(lock_);
	const Member *missing = nullptr;
	const auto complete = [&] {
		missing = nullptr;
		for (const Member &member : view_.members) {
			if (me_ && member.live() && member.life != me_->life && !peers_.connected(member.life))
				missing = &member;
		}
		return me_ && !missing;
	};
	if (changed_.wait_for(guard, timeout, complete))
		return {};
	if (!missing)
		return make_error(ETIMEDOUT, "this node has not joined");
	return make_error(ETIMEDOUT,
		"there is no connection to node " + std::to_string(missing->life.node) + " at " + missing->host,
		why_not_);
}

} // namespace prism::gam

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "client.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace rs_sim
{

using prism::rs::Lane;
using prism::rs::ReplicaRequest;
using prism::rs::RequestId;
using prism::rs::VolumeSession;

namespace
{

constexpr std::uint32_t domain = 1;
/* Requests that Protocol posts to install a block; no other chain has as many. */
constexpr std::size_t requests_of_an_install = 3;

bool installs(const ReplicaRequest &request)
{
	return request.chain.size() == requests_of_an_install;
}

bool gets(const Lane &lane)
{
	return lane.operation && lane.operation->kind == prism::apps::OperationKind::get;
}

/** Flaw::deaf_get: replaces the tag that @p request has read by that of the block that has arrived. */
void take_tag_of_block(const Lane &lane, ReplicaRequest &request)
{
	for (const ReplicaRequest &other : lane.requests) {
		if (!request.whole && other.whole && other.state == ReplicaRequest::State::answered &&
			other.completion.ok())
			std::memcpy(request.memory.in.data(), other.memory.in.data(), sizeof(prism::rs::Tag));
	}
}

/** Returns the options of Protocol. With Flaw::small_quorum, fewer replicas make its quorum one too small. */
prism::rs::ProtocolOptions protocol_options(const ClientOptions &options)
{
	prism::rs::ProtocolOptions protocol = options.protocol;
	if (options.flaw == Flaw::small_quorum)
		protocol.replicas -= 2;
	return protocol;
}

prism::rs::SessionOptions session_options(const ClientOptions &options)
{
	prism::rs::SessionOptions session;
	session.replicas = options.protocol.replicas;
	session.depth = options.depth;
	session.block_size = options.block_size;
	session.timeout = std::chrono::nanoseconds(options.timeout);
	session.repairs = options.protocol.repairs;
	return session;
}

} // namespace

ClientMemory::ClientMemory(test::Node &node, std::size_t size)
	: node_(node), lines_((size + sizeof(Line) - 1) / sizeof(Line)),
	  key_(node.engine.memory.add_region(reinterpret_cast<std::uint8_t *>(data()),
		  reinterpret_cast<std::uintptr_t>(data()), lines_.size() * sizeof(Line), soft::access_local_write,
		  domain))
{
}

Client::Client(test::Node &node, ClientSurroundings &around, const ClientOptions &options, Ended ended)
	: around_(around), report_batch_(options.report_batch), flaw_(options.flaw),
	  is_repair_(options.protocol.repairs.has_value()), ended_(std::move(ended)),
	  memory_(node, VolumeSession::memory_size(session_options(options))), links_(options.protocol.replicas),
	  session_(*this, session_options(options), memory_.data(), memory_.lkey(), [&options](VolumeSession &session) {
		  return std::make_unique<prism::rs::Protocol>(protocol_options(options), session);
	  })
{
}

/* Operations ----------------------------------------------------------------------------------------------------- */

bool Client::start(prism::apps::Operation &operation, std::uint64_t block)
{
	const int error = session_.start(operation, block);
	hand_over();
	return !error;
}

void Client::hand_over()
{
	std::array<prism::apps::Operation *, 1> ended{};
	while (session_.take_ended(ended))
		ended_(*ended.front());
}

void Client::poll()
{
	for (const std::unique_ptr<Link> &link : links_) {
		prism::Completion completion;
		while (link && link->pair().poll(completion))
			handle(completion);
	}
	for (const prism::Completion &completion : std::exchange(spared_, {}))
		handle(completion);
	session_.run_timers();
	session_.look_after_links();
	hand_over();
}

/** Handles a completion as the session does, except for changes by a Flaw. */
void Client::handle(const prism::Completion &completion)
{
	const RequestId id = RequestId::of(completion.wr_id);
	if (completion.failed() || id.lane == RequestId::no_lane) {
		session_.handle(completion);
		return;
	}
	const Lane &lane = session_.lane(id.lane);
	ReplicaRequest &request = session_.lane(id.lane).requests[id.replica];
	if (flaw_ == Flaw::deaf_get && gets(lane))
		take_tag_of_block(lane, request);
	if (flaw_ == Flaw::missed_guess && installs(request) && completion.status == prism::Status::cas_miss)
		std::memcpy(request.memory.old.data(), request.memory.out.data(), prism::rs::block_header);
	missing_ = request.under_way() && installs(request) && !completion.ok();
	misses_ += missing_;
	session_.handle(completion);
	missing_ = false;
}

/** Flaw::no_write_back: skips the second round of a GET as if it had succeeded. */
bool Client::spares(const prism::Chain::Posting &posting)
{
	if (flaw_ != Flaw::no_write_back || is_repair_)
		return false;
	const RequestId id = RequestId::of(posting.wr_id);
	const Lane &lane = session_.lane(id.lane);
	if (!gets(lane) || !installs(lane.requests[id.replica]))
		return false;
	prism::Completion completion;
	completion.wr_id = posting.wr_id;
	spared_.push_back(completion);
	return true;
}

soft::Time Client::next_timer() const noexcept
{
	if (!spared_.empty())
		return around_.time();
	const prism::rs::Time next = session_.next_timer();
	return next == prism::rs::Time::max() ? 0 : static_cast<soft::Time>(next.count());
}

bool Client::has_completions() const noexcept
{
	return std::any_of(links_.begin(), links_.end(),
		[](const std::unique_ptr<Link> &link) { return link && !link->pair().endpoint.send_cq.empty(); });
}

std::optional<unsigned> Client::installing() noexcept
{
	for (std::size_t number = 0; number < session_.depth(); number++) {
		const Lane &lane = session_.lane(number);
		for (unsigned replica = 0; replica < links_.size(); replica++) {
			if (lane.requests[replica].state == ReplicaRequest::State::asked &&
				installs(lane.requests[replica]))
				return replica;
		}
	}
	return std::nullopt;
}

/* Connections ---------------------------------------------------------------------------------------------------- */

void Client::link_up(unsigned replica, std::unique_ptr<Pair> pair, const Admission &admission)
{
	LinkHooks &hooks = *this; /* the base is private */
	links_[replica] = std::make_unique<Link>(std::move(pair), admission, report_batch_, flaw_, hooks);
	session_.link_up(replica, *links_[replica]);
	hand_over();
}

void Client::close(unsigned replica) noexcept
{
	const std::uint32_t connection = links_[replica]->connection();
	links_[replica].reset();
	around_.closed(*this, replica, connection);
}

} // namespace rs_sim

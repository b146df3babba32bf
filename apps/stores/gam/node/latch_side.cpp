/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/node/latch_side.hpp"

#include <prism/connection.hpp>

#include <cerrno>
#include <string>
#include <utility>

#include "base/wire.hpp"

namespace prism::gam
{

namespace
{

/** Types of messages beside those of Home. */
enum class LatchMessage : std::uint8_t {
	offer = 0xc0, /**< with an Offer as its data */
	ready,        /**< the offered endpoint is connected */
	freed,        /**< counter: number of addresses of buffers in the data */
	let_go,       /**< counter: the incarnation of a dead node. See Farewells */
	swept,        /**< likewise */
	settle,       /**< counter: a round of the home's LostBuffers */
	settled,      /**< the answer, behind the reports of what was replaced */
};
constexpr bool is_own(std::uint8_t type) noexcept
{
	return type >= static_cast<std::uint8_t>(LatchMessage::offer);
}

Message message_of(LatchMessage type, std::uint64_t counter = 0)
{
	Message message;
	message.type = static_cast<std::uint8_t>(type);
	message.counter = counter;
	return message;
}

using Data = std::array<std::byte, block_size>;

/**
 * An endpoint and the memory behind it: a ConnectionRecord, whose private data are, in network order,
 *
 *     blocks u64 | spares u64 | free list u32
 */
struct Offer {
	static constexpr std::size_t own_size = 20;
	static constexpr std::uint64_t most_blocks = (std::uint64_t{1} << Address::offset_bits) / block_size;

	Endpoint endpoint;
	latch::HomeMemory memory;

	[[nodiscard]] Result<Data> serialize() const
	{
		ConnectionRecord record;
		record.endpoint = endpoint;
		record.regions.push_back({0, memory.region});
		record.private_data.resize(own_size);
		apps::store(&record.private_data[0], memory.layout.blocks);
		apps::store(&record.private_data[8], memory.layout.spares);
		apps::store(&record.private_data[16], memory.free_list);
		const Result<std::vector<std::byte>> bytes = record.serialize();
		if (!bytes)
			return bytes.error();
		Data data{};
		static_assert(ConnectionRecord::header_size + ConnectionRecord::region_size + own_size <= block_size);
		std::copy(bytes->begin(), bytes->end(), data.begin());
		return data;
	}
	/** Parses an offer of a node that is not trusted. Errors: EBADMSG, EPROTONOSUPPORT. */
	static Result<Offer> parse(std::span<const std::byte> data)
	{
		if (data.size() != block_size)
			return make_error(EBADMSG, "an offer without data");
		const Result<std::size_t> size =
			ConnectionRecord::announced_size(data.first(ConnectionRecord::prefix_size));
		if (!size)
			return size.error();
		if (*size > data.size())
			return make_error(EBADMSG, "an offer that is too long");
		const Result<ConnectionRecord> record = ConnectionRecord::parse(data.first(*size));
		if (!record)
			return record.error();
		if (record->regions.size() != 1 || record->private_data.size() != own_size)
			return make_error(EBADMSG, "an offer of something else than memory");
		Offer offer;
		offer.endpoint = record->endpoint;
		offer.memory.region = record->regions[0].region;
		offer.memory.layout.blocks = apps::load<std::uint64_t>(&record->private_data[0]);
		offer.memory.layout.spares = apps::load<std::uint64_t>(&record->private_data[8]);
		offer.memory.free_list = apps::load<std::uint32_t>(&record->private_data[16]);
		const latch::Layout &layout = offer.memory.layout;
		const bool fits = layout.blocks <= most_blocks && layout.spares <= most_blocks &&
				  layout.bytes() <= offer.memory.region.length;
		if (!fits)
			return make_error(EBADMSG, "memory that is too small for what is in it");
		return offer;
	}
};

/**
 * Returns the layout with spare buffers: each node keeps free buffers for a while, and uses one for each line that is
 * written back.
 */
latch::Layout layout_of(const NodeOptions &options)
{
	const std::uint64_t blocks = options.bytes / block_size;
	return {blocks, max_nodes * latch::VerbsHomes::max_reported + blocks / 8};
}

} // namespace

Result<std::unique_ptr<LatchSide>> LatchSide::create(
	Peers &peers, const NodeOptions &options, std::size_t lines, Swept swept, Broken broken)
{
	std::unique_ptr<LatchSide> side(
		new LatchSide(peers, options, std::move(swept), std::move(broken))); /* private constructor */
	Result<std::unique_ptr<latch::VerbsHomes>> homes = latch::VerbsHomes::create(
		peers.device(), options.self, layout_of(options), requests, *side, peers.ack_timeout());
	if (!homes)
		return homes.error();
	side->homes_ = *std::move(homes);
	for (std::size_t shard = 0; shard < options.shards; shard++) {
		const Result<latch::WorkingMemory> memory = side->homes_->allocate_lines(lines / options.shards);
		if (!memory)
			return memory.error();
		side->lines_.push_back(*memory);
	}
	return side;
}

LatchSide::LatchSide(Peers &peers, const NodeOptions &options, Swept swept, Broken broken)
	: peers_(peers), options_(options), swept_(std::move(swept)), broken_(std::move(broken)),
	  shards_(options.shards), farewells_(options.self, *this), lost_buffers_(*this)
{
}

LatchSide::~LatchSide()
{
	stop();
}

std::unique_ptr<Coherence> LatchSide::make(Coherence::Host &host, std::size_t shard)
{
	latch::Options latch;
	latch.self = options_.self;
	latch.memory = lines_[shard];
	latch.region = &homes_->region();
	latch.shards = options_.shards;
	latch.shard = shard;
	auto made = std::make_unique<Latch>(latch, host, *homes_);
	shards_[shard] = made.get();
	return made;
}

void LatchSide::start(Node &node)
{
	node_.store(&node, std::memory_order_release);
	thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
}

void LatchSide::stop()
{
	if (!thread_.joinable())
		return;
	thread_.request_stop();
	thread_.join();
	const std::scoped_lock guard(lock_);
	node_.store(nullptr, std::memory_order_release);
}

std::size_t LatchSide::poll(Network::Listener &listener) noexcept
{
	if (!node_.load(std::memory_order_acquire))
		return 0;
	listener_ = &listener; /* one thread at a time */
	return peers_.poll(*this);
}

void LatchSide::adopt(const View &view)
{
	const std::scoped_lock guard(lock_);
	Node *const node = node_.load(std::memory_order_relaxed);
	view_ = view;
	for (NodeId id = 0; id < max_nodes; id++) {
		if (links_[id].incarnation && !view.find_live({id, links_[id].incarnation}))
			forget(id);
	}
	for (const Member &member : view.members) {
		/* A node that joins also has to know of the dead whose numbers are not free yet. */
		if (node && !member.live() && !farewells_.knows(member.life))
			node->lost(member.life.node);
	}
	farewells_.adopt(view);
	changed_.notify_all();
}

void LatchSide::end_all()
{
	View view;
	{
		const std::scoped_lock guard(lock_);
		view = view_;
	}
	for (Member &member : view.members) {
		if (member.life.node != options_.self)
			member.state = NodeState::dead;
	}
	adopt(view);
}

/** Forgets @p node. Cuts it off, as nothing that it has posted may be executed when others have swept. */
void LatchSide::forget(NodeId node)
{
	homes_->cut_off(node);
	there_.fetch_and(~bit(node));
	links_[node] = {};
	questions_[node] = {};
	lost_buffers_.forget(node);
	lost_buffers_.search();
}

bool LatchSide::is_there(const NodeLife &life)
{
	const std::scoped_lock guard(lock_);
	return life.node < max_nodes && links_[life.node].incarnation == life.incarnation &&
	       (there_.load() & bit(life.node));
}

const Member *LatchSide::missing() const
{
	for (const Member &member : view_.members) {
		const NodeLife &life = member.life;
		if (life.node < max_nodes && life.node != options_.self && member.live() &&
			!(there_.load() & bit(life.node)))
			return &member;
	}
	return nullptr;
}

Result<void> LatchSide::wait(std::chrono::milliseconds timeout)
{
	std::unique_lock guard(lock_);
	if (changed_.wait_for(guard, timeout, [this] { return !missing(); }))
		return {};
	return make_error(ETIMEDOUT, "node " + std::to_string(missing()->life.node) +
					     " does not connect its queue pair for the latch protocol");
}

/**
 * Returns the link to @p life; makes and offers it if it is new. Null: the slot has another life, or no queue pair
 * could be made.
 */
LatchSide::Link *LatchSide::offer(const NodeLife &life)
{
	Link &link = links_[life.node];
	if (link.incarnation == life.incarnation)
		return &link;
	if (link.incarnation)
		return nullptr;
	Result<std::unique_ptr<rpc::Port>> port = homes_->open();
	if (!port)
		return nullptr;
	const Result<Data> data = Offer{(*port)->endpoint(), homes_->memory()}.serialize();
	if (!data)
		return nullptr;
	link.incarnation = life.incarnation;
	link.port = *std::move(port);
	link.number = link.port->number();
	Message message = message_of(LatchMessage::offer);
	message.data = *data;
	send(life.node, message);
	return &link;
}

void LatchSide::hear_offer(NodeId from, const Message &message)
{
	const std::optional<NodeLife> life = peers_.peer(from);
	/* To the other end, this queue pair has ended. */
	if (life && links_[from].incarnation == life->incarnation && links_[from].connected && !begin_anew(from))
		return;
	Link *const link = life ? offer(*life) : nullptr;
	const Result<Offer> theirs = Offer::parse(message.data);
	if (!link || !link->port || !theirs || !link->port->connect(theirs->endpoint))
		return;
	homes_->add(from, std::move(link->port), theirs->memory);
	link->connected = true;
	send(from, message_of(LatchMessage::ready, theirs->endpoint.qp_num));
	settle(from, *link);
}

/** Tells the node of @p node when both ends are connected. */
void LatchSide::settle(NodeId node, const Link &link)
{
	if (!link.connected || !link.ready)
		return;
	if (there_.load() & bit(node))
		return broken_({node, link.incarnation}, false);
	there_.fetch_or(bit(node));
	farewells_.met(node);
	node_.load(std::memory_order_acquire)->joined(node);
	changed_.notify_all();
}

void LatchSide::heard(NodeId from, const Message &message)
{
	if (is_own(message.type))
		hear_own(from, message);
	else if (there_.load(std::memory_order_relaxed) & bit(from))
		listener_->heard(from, message);
}

void LatchSide::hear_own(NodeId from, const Message &message)
{
	const auto type = static_cast<LatchMessage>(message.type);
	if (type == LatchMessage::freed)
		return there_.load(std::memory_order_relaxed) & bit(from) ? hear_freed(message) : void();
	const std::scoped_lock guard(lock_);
	Link &link = links_[from];
	switch (type) {
	case LatchMessage::offer:
		return hear_offer(from, message);
	case LatchMessage::ready:
		link.ready = link.incarnation != 0 && message.counter == link.number;
		return settle(from, link);
	case LatchMessage::let_go:
		return farewells_.hear(from, Farewells::Word::let_go, message.counter);
	case LatchMessage::swept:
		return farewells_.hear(from, Farewells::Word::swept, message.counter);
	case LatchMessage::settle:
		return hear_question(from, message.counter);
	case LatchMessage::settled:
		return lost_buffers_.hear(from, message.counter);
	default:
		return;
	}
}

void LatchSide::completed(std::uint64_t token, const latch::Outcome &outcome)
{
	if (Node *const node = node_.load(std::memory_order_acquire))
		node->with_shard(
			Latch::block_of(token), [&](std::size_t shard) { shards_[shard]->completed(token, outcome); });
}

void LatchSide::report(NodeId home, std::span<const std::uint64_t> buffers)
{
	Data data{};
	for (std::size_t i = 0; i < buffers.size(); i++)
		apps::store(&data[i * sizeof(std::uint64_t)], buffers[i]);
	Message message = message_of(LatchMessage::freed, buffers.size());
	message.data = data;
	send(home, message);
}

void LatchSide::hear_freed(const Message &message)
{
	if (message.data.size() != block_size || message.counter > latch::VerbsHomes::max_reported)
		return;
	std::array<std::uint64_t, latch::VerbsHomes::max_reported> buffers;
	for (std::size_t i = 0; i < message.counter; i++)
		buffers[i] = apps::load<std::uint64_t>(&message.data[i * sizeof(std::uint64_t)]);
	homes_->freed(std::span(buffers).first(message.counter));
}

void LatchSide::ask(NodeId node, std::uint64_t round)
{
	if (node == options_.self)
		hear_question(node, round);
	else
		send(node, message_of(LatchMessage::settle, round));
}

void LatchSide::hear_question(NodeId home, std::uint64_t round)
{
	questions_[home] = {round, homes_->posted_chains(home)};
}

/** Answers the homes to which this node has settled. Returns false if there are others. */
bool LatchSide::answer_questions()
{
	bool all = true;
	std::uint64_t settled = 0;
	for (NodeId home = 0; home < max_nodes; home++) {
		const Question &question = questions_[home];
		const bool has_settled = question.round && homes_->have_ended(home, question.chains);
		all &= !question.round || has_settled;
		settled |= has_settled ? bit(home) : 0;
	}
	if (settled)
		homes_->flush_reports();
	for_each_node(settled, [this](NodeId home) {
		const std::uint64_t round = std::exchange(questions_[home].round, 0);
		if (home == options_.self)
			lost_buffers_.hear(home, round);
		else
			send(home, message_of(LatchMessage::settled, round));
	});
	return all;
}

void LatchSide::tell(NodeId to, Farewells::Word word, std::uint64_t incarnation)
{
	send(to, message_of(word == Farewells::Word::let_go ? LatchMessage::let_go : LatchMessage::swept, incarnation));
}

bool LatchSide::has_let_go(NodeId dead)
{
	bool all = true;
	node_.load()->for_each_shard([&](std::size_t shard) { all &= shards_[shard]->has_let_go(dead); });
	return all;
}

void LatchSide::sweep(NodeId dead)
{
	node_.load()->for_each_shard([&](std::size_t shard) { shards_[shard]->sweep(dead); });
}

bool LatchSide::is_sweeping(NodeId /*dead*/)
{
	bool any = false;
	node_.load()->for_each_shard([&](std::size_t shard) { any |= shards_[shard]->is_sweeping(); });
	return any;
}

void LatchSide::over(NodeId dead)
{
	node_.load()->for_each_shard([&](std::size_t shard) { shards_[shard]->swept(dead); });
	homes_->bury(dead); /* each shard has been locked since it was cut off */
	over_.push_back(dead);
}

/** Takes the next steps. Returns true if it must be called again soon, as a node is still to come or to go. */
bool LatchSide::go_on()
{
	std::vector<NodeId> over;
	std::uint64_t epoch = 0;
	bool waits = false;
	{
		const std::scoped_lock guard(lock_);
		look_for_broken();
		for (const Member &member : view_.members) {
			if (member.life.node != options_.self && member.live() && peers_.connected(member.life))
				if (const Link *const link = offer(member.life))
					waits |= !(link->connected && link->ready);
		}
		farewells_.step();
		lost_buffers_.step();
		waits |= !answer_questions() || lost_buffers_.is_searching();
		over.swap(over_);
		epoch = view_.epoch;
		waits |= missing() || farewells_.is_waiting();
	}
	for (const NodeId dead : over)
		swept_(dead, epoch);
	homes_->flush_reports();
	peers_.flush();
	return waits;
}

void LatchSide::look_for_broken()
{
	for (NodeId id = 0; id < max_nodes; id++) {
		if (links_[id].connected && homes_->has_ended(id))
			(void)begin_anew(id);
	}
	if (homes_->has_ended(options_.self) && own_attempts_++ < most_attempts && homes_->connect_to_itself())
		lost_buffers_.search();
}

/**
 * Replaces the queue pair to @p node, of which nothing is executed any more; messages come as before. Returns false if
 * there were too many already, so the two nodes cannot work together.
 */
bool LatchSide::begin_anew(NodeId node)
{
	Link &link = links_[node];
	const unsigned attempts = link.attempts;
	homes_->end(node);
	broken_({node, link.incarnation}, true);
	if (attempts >= most_attempts)
		return false;
	lost_buffers_.search(); /* of chains that have failed */
	link = {};
	link.attempts = attempts + 1;
	return true;
}

/** Runs the side's thread. It polls too while others wait for this node, as perhaps no user thread does. */
void LatchSide::run(const std::stop_token &stop)
{
	constexpr std::chrono::microseconds soon(200), now_and_then(5000);
	while (!stop.stop_requested()) {
		const bool waits = go_on();
		if (waits)
			(void)node_.load()->poll();
		std::unique_lock guard(lock_);
		changed_.wait_for(guard, stop, waits ? soon : now_and_then, [] { return false; });
	}
}

} // namespace prism::gam

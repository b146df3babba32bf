/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "session.hpp"

namespace prism::test
{

Simulation::Simulation(std::uint64_t seed, const SimulationOptions &chosen)
	: options(chosen), random(seed), memory(private_at + chosen.qps * own_size), objects(object_count),
	  network_({&server, &client_a_, &client_b_}, chosen.faults, random)
{
	const std::uint32_t all = soft::access_local_write | soft::access_remote_read | soft::access_remote_write |
				  soft::access_remote_atomic;
	key = server.engine.memory.add_region(memory.data(), server_va, memory.size(), all, 1);
	static const std::vector<std::uint8_t> constant = [] {
		std::vector<std::uint8_t> bytes(constant_size);
		fill_pattern(bytes.data(), 0, bytes.size());
		return bytes;
	}();
	std::copy(constant.begin(), constant.end(), memory.begin() + constant_at);
	places = std::make_unique<soft::SharedReceiveQueue>(server.engine.take_srqn(), 1, place_count, 1, true);
	server.engine.add_srq(*places);
	for (unsigned i = 0; i < place_count; i++)
		server.engine.post_free_list(*places, i, {server_va + objects_at + i * object_size, object_size, key});
	owner_ = std::make_unique<Endpoint>(server, EndpointOptions{});
	owner_->connect(*owner_, {});
	for (unsigned i = 0; i < object_count; i++) {
		/* Sets both copies, so that a direct READ finds a version too. */
		set_version(i, 1);
		set_version(i, 2);
	}
	list = std::make_unique<soft::SharedReceiveQueue>(server.engine.take_srqn(), 1, buffer_count, 1, true);
	server.engine.add_srq(*list);
	for (unsigned i = 0; i < buffer_count; i++)
		server.engine.post_free_list(*list, i, {server_va + buffers_at + i * buffer_size, buffer_size, key});
	for (unsigned i = 0; i < options.qps; i++)
		sessions_.push_back(std::make_unique<Session>(*this, i % 2 ? client_a_ : client_b_, server, i));
	if (options.sabotage != Sabotage::none)
		network_.set_shim(
			[this](Node &node, std::vector<std::uint8_t> &packet) { return sabotage(node, packet); });
}

/** Allocates a place by an ALLOCATE, as the owner of memory that READs resolve to must; 0: READs are under way. */
std::uint64_t Simulation::take_place()
{
	prism_request request{};
	request.op = PRISM_ALLOCATE;
	request.first = request.last = true;
	request.free_list = places->number;
	std::vector<std::uint8_t> packet(prism_request_header_size(&request));
	prism_bth bth{};
	bth.opcode = PRISM_OP_ALLOCATE_ONLY;
	bth.qpn = owner_->qp.qpn;
	bth.psn = owner_->qp.resp.expected_psn;
	prism_bth_encode(packet.data(), &bth);
	prism_request_encode(packet.data(), &request);
	server.engine.receive({server.address, {}}, packet, now);
	/* Its answer is the last; packets gathered for others left before it. */
	server.outbox.keep(server.outbox.size() - 1);
	const auto &saved = owner_->qp.resp.saved;
	return saved[(owner_->qp.resp.next_saved + saved.size() - 1) % saved.size()].response.value;
}

void Simulation::set_version(unsigned number, std::uint64_t version)
{
	Object &object = objects[number];
	const std::uint64_t place = take_place();
	if (!place)
		return;
	if (object.place)
		server.engine.post_free_list(*places, 0, {object.place, object_size, key});
	object.place = place;
	object.version = version;
	const std::uint64_t at = place - server_va;
	const auto length = static_cast<std::uint32_t>(8 * random.between(1, object_size / 8));
	for (std::uint32_t i = 0; i < object_size; i += 8)
		store64(memory.data() + at + i, version);
	object.lengths[version] = length;
	object.null = random.chance(10);
	std::uint8_t *pointer = memory.data() + pointers_at + 32 * number;
	store64(pointer, object.null ? 0 : place);
	store64(pointer + 8, length);
}

void Simulation::change_objects()
{
	for (unsigned i = 0; i < object_count; i++)
		if (random.chance(30))
			set_version(i, objects[i].version + 1);
}

void Simulation::take_buffer(std::uint64_t va, std::uint64_t tag, std::uint32_t length)
{
	const std::uint64_t offset = va - server_va - buffers_at;
	if (offset >= buffer_count * buffer_size || offset % buffer_size)
		find(fmt::format("ALLOCATE answers {:#x}, which is no buffer", va));
	else if (!owned_.insert(va).second)
		find("ALLOCATE answers a buffer that has an owner");
	else if (!has_pattern(memory.data() + buffers_at + offset, tag, length))
		find("ALLOCATE has completed, its payload is not in the buffer");
}

void Simulation::give_back_buffers()
{
	while (!owned_.empty() && random.chance(60)) {
		const std::uint64_t va = *owned_.begin();
		owned_.erase(owned_.begin());
		if (server.engine.post_free_list(*list, va, {va, buffer_size, key}))
			find("a buffer that its owner gives back finds no room in the list");
	}
}

Time Simulation::next_time()
{
	Time next = now + tick;
	for (Node *node : {&server, &client_a_, &client_b_})
		if (const Time deadline = node->engine.next_deadline(); deadline && deadline < next)
			next = deadline;
	if (const Time arrival = network_.next(); arrival && arrival < next)
		next = arrival;
	return std::max(next, now + 1);
}

void Simulation::step()
{
	now = next_time();
	network_.deliver(now);
	if (random.chance(20)) {
		change_objects();
		give_back_buffers();
	}
	for (auto &session : sessions_) {
		session->poll_server();
		session->poll();
		if (random.chance(10))
			session->post_receives();
		session->post_some();
		if (session->failed())
			find("a QP went to ERROR");
	}
	for (Node *node : {&server, &client_a_, &client_b_})
		node->engine.progress(
			now, random.chance(50) ? soft::Engine::Again::surely : soft::Engine::Again::maybe);
	network_.collect(now);
}

void Simulation::final_check()
{
	std::uint64_t adds = 0, allocated = 0;
	for (auto &session : sessions_) {
		session->final_check();
		adds += session->adds;
		allocated += session->allocated;
		result.operations += session->completed();
	}
	if (load64(memory.data() + counter_at) != adds || counter_values.size() != adds ||
		(adds && *counter_values.rbegin() != adds - 1))
		find(fmt::format("{} FETCH_AND_ADDs left {} in the counter", adds, load64(memory.data() + counter_at)));
	if (list->popped - list->reclaimed != allocated)
		find(fmt::format("{} buffers were taken for {} ALLOCATEs", list->popped, allocated));
	if (server.engine.allocatable(*list) + owned_.size() != buffer_count)
		find("a buffer is neither in the list nor a client's");
}

SimulationResult Simulation::run()
{
	/* A READ that a late duplicate has requested again delays grace periods until it is answered. */
	const auto busy = [this] {
		return std::any_of(sessions_.begin(), sessions_.end(),
			[](const auto &s) { return !s->done() || s->server().qp.resp.stream.active; });
	};
	/* Late packets of the network are delivered as well: they must have no effect any more. */
	while (result.finding.empty() && (busy() || network_.next())) {
		if (now > longest_run) {
			find("work is left undone");
			break;
		}
		step();
	}
	if (result.finding.empty())
		final_check();
	for (Node *node : {&client_a_, &client_b_})
		result.retransmits += node->engine.counters.retransmits;
	result.replays = server.engine.counters.prism_replays;
	for (const Node *node : {&client_a_, &client_b_, &server})
		result.bundled += node->engine.counters.tx_bundled;
	result.packets = network_.sent;
	result.time = now;
	return result;
}

/* Sabotage ----------------------------------------------------------------------------------------------------- */

void Simulation::execute_again(const prism_bth &bth)
{
	soft::QueuePair *qp = server.engine.find_qp(bth.qpn);
	const bool once = bth.opcode == soft::rc_fetch_add || bth.opcode == soft::rc_cmp_swap ||
			  bth.opcode == soft::rc_atomic_write || bth.opcode == PRISM_OP_CAS ||
			  bth.opcode == PRISM_OP_ALLOCATE_ONLY;
	if (qp && once && soft::psn_diff(bth.psn, qp->resp.expected_psn) < 0)
		qp->resp.expected_psn = bth.psn;
}

/** Changes packets and state from outside as a faulty implementation might. */
bool Simulation::sabotage(Node &node, std::vector<std::uint8_t> &packet)
{
	prism_bth bth;
	prism_bth_decode(packet.data(), &bth);
	soft::QueuePair *qp = node.engine.find_qp(bth.qpn);
	if (options.sabotage == Sabotage::execute_again && &node == &server) {
		const std::uint32_t expected = qp ? qp->resp.expected_psn : 0;
		execute_again(bth);
		if (qp && qp->resp.expected_psn != expected) {
			node.engine.receive({qp->attr.peer, {}}, packet, now);
			qp->resp.expected_psn = expected;
			return false;
		}
	}
	if (options.sabotage == Sabotage::splice && bth.opcode >= PRISM_OP_READ_RESPONSE_FIRST &&
		bth.opcode <= PRISM_OP_READ_RESPONSE_ONLY)
		put_unaligned_be32(1, packet.data() + PRISM_BTH_SIZE + PRISM_AETH_SIZE);
	if (options.sabotage == Sabotage::forget && &node == &server && bth.opcode == soft::rc_send_only && qp &&
		bth.psn == qp->resp.expected_psn && random.chance(10)) {
		qp->resp.expected_psn = soft::psn_add(bth.psn, 1);
		return false;
	}
	if (options.sabotage == Sabotage::replay_wrong && &node == &server && prism_opcode_is_request(bth.opcode) &&
		qp && soft::psn_diff(bth.psn, qp->resp.expected_psn) < 0)
		for (soft::SavedResponse &saved : qp->resp.saved)
			saved.response.result[8] ^= 1;
	return true;
}

SimulationResult simulate(std::uint64_t seed, const SimulationOptions &options)
{
	return Simulation(seed, options).run();
}

} // namespace prism::test

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One queue pair of a simulation: its client's requests, and the expected results. */
#include "session.hpp"

namespace prism::test
{

Session::Session(Simulation &simulation, Node &client, Node &server, unsigned number)
	: sim_(simulation), number_(number), client_(client, {}), server_(server, {}), local_(64 * piece_size)
{
	Random &random = sim_.random;
	mtu_ = random.pick({256u, 512u, 1024u, 2048u, 4096u});
	window_ = static_cast<unsigned>(random.between(1, 14));
	to_post_ = sim_.options.operations;
	local_key_ =
		client.engine.memory.add_region(local_.data(), client_va, local_.size(), soft::access_local_write, 1);
	if (sim_.options.long_reads > 0) {
		long_.resize(constant_size);
		long_key_ = client.engine.memory.add_region(
			long_.data(), long_va, long_.size(), soft::access_local_write, 1);
	}
	ConnectOptions options;
	options.mtu = mtu_;
	options.max_rd_atomic = static_cast<std::uint32_t>(random.between(1, 16));
	options.send_psn =
		static_cast<std::uint32_t>(random.chance(30) ? PRISM_PSN_MASK - random.below(50) : random.bits()) &
		PRISM_PSN_MASK;
	options.recv_psn = static_cast<std::uint32_t>(random.bits()) & PRISM_PSN_MASK;
	options.peer_is_ours = random.chance(50);
	ConnectOptions back = options;
	std::swap(back.send_psn, back.recv_psn);
	/* A server whose application declares no peer still bundles once it has received a bundle. */
	const bool bundles = sim_.options.bundles && sim_.options.sabotage == Sabotage::none;
	options.bundles = bundles && random.chance(80);
	back.bundles = options.bundles && random.chance(50);
	client_.connect(server_, options);
	server_.connect(client_, back);
	for (unsigned slot = 0; slot < slots; slot++)
		std::fill_n(own(own_slots + slot * slot_size), slot_size, poison);
}

std::uint8_t *Session::own(std::uint64_t at)
{
	return sim_.memory.data() + private_at + number_ * own_size + at;
}

void Session::find(const std::string &what)
{
	sim_.find(fmt::format("QP {} at {} us: {}", number_, sim_.now / 1000, what));
}

bool Session::done() const
{
	return !to_post_ && pending_.empty() && sends_.empty();
}

/** At most a dozen packets: at 5% loss most longer ones would never arrive whole. */
std::uint32_t Session::some_length(std::uint32_t most)
{
	most = std::min(most, 12 * mtu_);
	return static_cast<std::uint32_t>(
		sim_.random.chance(50) ? sim_.random.between(8, 64) : sim_.random.between(8, most));
}

SendRequest &Session::begin(Kind kind)
{
	SendRequest &wr = *client_.next();
	pending_.push_back({});
	pending_.back().kind = kind;
	pending_.back().id = next_id_;
	wr.wr_id = next_id_;
	std::fill_n(piece(next_id_), piece_size, 0);
	return wr;
}

void Session::finish(SendRequest &wr, std::uint32_t local_length)
{
	const Sge sge{client_va + next_id_ % 64 * piece_size, local_length, local_key_};
	client_.post(wr, {&sge, local_length ? 1u : 0u});
	next_id_++;
}

void Session::finish_prism(SendRequest &wr, const prism_request &request, std::span<const std::uint8_t> operands,
	std::uint32_t local_length)
{
	set_prism(client_, wr, request, operands);
	wr.prism.rkey = wr.prism.aux_rkey = sim_.key;
	finish(wr, local_length);
}

void Session::post_some()
{
	while (to_post_ && pending_.size() < window_ && sends_.size() < slots / 2) {
		post_one();
		to_post_--;
	}
}

void Session::post_one()
{
	if (!reading_long_ && sim_.random.chance(sim_.options.long_reads)) {
		post_long_read();
		return;
	}
	switch (sim_.random.below(12)) {
	case 0:
		post_atomic(Kind::add);
		break;
	case 1:
		post_atomic(Kind::swap);
		break;
	case 2:
		post_cas();
		break;
	case 3:
		post_allocate(false);
		break;
	case 4:
		post_allocate(true);
		break;
	case 5:
		post_send();
		break;
	case 6:
		post_write(Kind::plain_write);
		break;
	case 7:
		post_write(Kind::write);
		break;
	case 8:
		post_plain_read();
		break;
	case 9:
		post_word();
		break;
	default:
		post_read();
		break;
	}
}

/** FETCH_AND_ADD to the counter that all share; CMP_AND_SWP on a word of this QP's, from each value to the next. */
void Session::post_atomic(Kind kind)
{
	SendRequest &wr = begin(kind);
	wr.kind = SendKind::atomic;
	wr.rkey = sim_.key;
	if (kind == Kind::add) {
		wr.fetch_add = true;
		wr.compare_add = 1;
		wr.remote_addr = server_va + counter_at;
		adds++;
	} else {
		wr.compare_add = own_swaps_;
		pending_.back().expected = own_swaps_;
		wr.swap = ++own_swaps_;
		wr.remote_addr = own_va(own_swap);
	}
	finish(wr, 8);
}

/** Posts atomic writes of ever greater values: a second execution would restore an old value. */
void Session::post_word()
{
	SendRequest &wr = begin(Kind::word);
	wr.kind = SendKind::atomic_write;
	wr.rkey = sim_.key;
	wr.remote_addr = own_va(own_word);
	pending_.back().expected = ++words_;
	store64(piece(next_id_), words_);
	finish(wr, 8);
}

/** Installs ever newer versions, in 16 bytes; each must find the one before it. */
void Session::post_cas()
{
	SendRequest &wr = begin(Kind::version_cas);
	pending_.back().expected = versions_;
	std::uint8_t operands[64] = {};
	store64(operands + 8, versions_ + 1); /* compare: high word */
	store64(operands + 16, number_);      /* swap */
	store64(operands + 24, ++versions_);
	std::memset(operands + 40, 0xff, 8); /* compare mask: the version alone */
	std::memset(operands + 48, 0xff, 16);
	prism_request request{};
	request.op = PRISM_CAS;
	request.cas_mode = PRISM_CAS_GT;
	request.cas_size = 16;
	request.va = own_va(own_version);
	if (sim_.random.chance(30)) {
		store64(own(own_version_pointer), own_va(own_version));
		request.flags = PRISM_FLAG_T;
		request.va = own_va(own_version_pointer);
	}
	finish_prism(wr, request, operands, 16);
}

/** Posts an ALLOCATE; with @p chain a conditional CAS follows that installs the new buffer's address. */
void Session::post_allocate(bool chain)
{
	SendRequest &wr = begin(Kind::allocate);
	Pending &pending = pending_.back();
	pending.tag = (std::uint64_t{number_} << 32) + next_id_;
	pending.length = some_length(buffer_size);
	fill_pattern(piece(next_id_), pending.tag, pending.length);
	wr.result = {client_va + next_id_ % 64 * piece_size + piece_size - 8, 8, local_key_};
	prism_request request{};
	request.op = PRISM_ALLOCATE;
	request.free_list = sim_.list->number;
	request.length = pending.length;
	request.tag = static_cast<std::uint32_t>(next_id_);
	const unsigned slot = next_slot_ = (next_slot_ + 1) % slots;
	if (chain || sim_.random.chance(50)) {
		request.flags = PRISM_FLAG_R | PRISM_FLAG_B;
		request.aux_va = own_va(own_scratch + 16 * slot);
	}
	finish_prism(wr, request, {}, pending.length);
	if (chain)
		post_install(slot);
}

void Session::post_install(unsigned slot)
{
	SendRequest &wr = begin(Kind::install);
	std::uint8_t operands[64] = {};
	std::memset(operands + 48, 0xff, 16); /* nothing is compared, all is swapped */
	prism_request request{};
	request.op = PRISM_CAS;
	request.flags = PRISM_FLAG_C | PRISM_FLAG_D;
	request.cas_size = 16;
	request.va = own_va(own_install);
	request.aux_va = own_va(own_scratch + 16 * slot);
	finish_prism(wr, request, operands, 16);
}

void Session::post_send()
{
	SendRequest &wr = begin(Kind::send);
	const std::uint64_t tag = (std::uint64_t{number_} << 32) + next_id_;
	const std::uint32_t length = some_length(slot_size);
	fill_pattern(piece(next_id_), tag, length);
	wr.kind = SendKind::send;
	if (sim_.random.chance(50)) {
		wr.tail = soft::Tail::immediate;
		wr.immediate = static_cast<std::uint32_t>(next_id_);
	}
	sends_.emplace_back(tag, length);
	finish(wr, length);
}

/** Writes to a slot that nothing else writes to; it is poisoned again once the write is complete. */
void Session::post_write(Kind kind)
{
	const unsigned slot = next_slot_ = (next_slot_ + 1) % slots;
	if (slots_used_.contains(slot))
		return;
	const std::uint8_t *at = own(own_slots + slot * slot_size);
	if (!std::all_of(at, at + slot_size, [](std::uint8_t byte) { return byte == poison; }))
		find("a WRITE was executed again after it had completed");
	slots_used_.insert(slot);
	SendRequest &wr = begin(kind);
	Pending &pending = pending_.back();
	pending.slot = slot;
	pending.tag = (std::uint64_t{number_} << 32) + next_id_;
	pending.length = some_length(slot_size);
	const std::uint64_t va = own_va(own_slots + slot * slot_size);
	if (kind == Kind::plain_write) {
		fill_pattern(piece(next_id_), pending.tag, pending.length);
		wr.kind = SendKind::write;
		wr.rkey = sim_.key;
		wr.remote_addr = va;
		finish(wr, pending.length);
		return;
	}
	prism_request request{};
	request.op = PRISM_WRITE;
	request.va = va;
	std::uint32_t local = pending.length;
	if (sim_.random.chance(30)) {
		/* The data comes from memory that never changes, with or without a pointer. */
		request.flags = PRISM_FLAG_D;
		request.aux_va = server_va + constant_at;
		pending.direct = true;
		local = 0;
	}
	if (sim_.random.chance(50)) {
		store64(own(own_pointers + 16 * slot), va);
		request.flags |= PRISM_FLAG_T;
		request.va = own_va(own_pointers + 16 * slot);
		pending.length = std::min(pending.length, mtu_);
		local = std::min(local, mtu_);
	}
	request.length = pending.length;
	if (local)
		fill_pattern(piece(next_id_), pending.tag, local);
	finish_prism(wr, request, {}, local);
}

void Session::post_plain_read()
{
	SendRequest &wr = begin(Kind::plain_read);
	pending_.back().length = some_length(8192);
	wr.kind = SendKind::read;
	wr.rkey = sim_.key;
	wr.remote_addr = server_va + constant_at;
	finish(wr, pending_.back().length);
}

/** Reads an object that keeps changing. */
void Session::post_read()
{
	SendRequest &wr = begin(Kind::read);
	Pending &pending = pending_.back();
	pending.object = static_cast<unsigned>(sim_.random.below(object_count));
	pending.length = std::min(object_size, 12 * mtu_);
	prism_request request{};
	request.op = PRISM_READ;
	if (sim_.random.chance(25)) {
		pending.direct = true;
		pending.length = 512;
		request.va = server_va + objects_at + std::uint64_t{pending.object} * object_size;
	} else {
		pending.bounded = true;
		request.flags = PRISM_FLAG_T | PRISM_FLAG_B;
		request.va = server_va + pointers_at + 32 * pending.object;
	}
	request.length = pending.length;
	finish_prism(wr, request, {}, pending.length);
}

/** Reads memory that never changes; one READ at a time. */
void Session::post_long_read()
{
	SendRequest &wr = begin(Kind::long_read);
	Pending &pending = pending_.back();
	pending.length = static_cast<std::uint32_t>(sim_.random.between(1, constant_size));
	reading_long_ = true;
	std::fill(long_.begin(), long_.end(), 0);
	const Sge sge{long_va, pending.length, long_key_};
	if (sim_.options.long_prism_reads && sim_.random.chance(50)) {
		prism_request request{};
		request.op = PRISM_READ;
		request.length = pending.length;
		request.rkey = sim_.key;
		request.va = server_va + constant_at;
		set_prism(client_, wr, request, {});
	} else {
		wr.kind = SendKind::read;
		wr.rkey = sim_.key;
		wr.remote_addr = server_va + constant_at;
	}
	client_.post(wr, {&sge, 1});
	next_id_++;
}

void Session::poll()
{
	ibv_wc wc;
	while (client_.send_cq.poll(1, &wc)) {
		if (pending_.empty() || pending_.front().id != wc.wr_id) {
			find("a completion out of order, or one too many");
			return;
		}
		const Pending pending = pending_.front();
		pending_.pop_front();
		completed_++;
		if (wc.status != IBV_WC_SUCCESS)
			find(fmt::format("a completion with status {}", static_cast<int>(wc.status)));
		else
			check(pending, wc);
	}
}

void Session::check(const Pending &pending, const ibv_wc &wc)
{
	const std::uint8_t *local = piece(pending.id);
	switch (pending.kind) {
	case Kind::add:
		if (!sim_.counter_values.insert(load64(local)).second)
			find(fmt::format("two FETCH_AND_ADDs saw {}", load64(local)));
		break;
	case Kind::swap:
		if (load64(local) != pending.expected)
			find(fmt::format("CMP_AND_SWP saw {}, not {}", load64(local), pending.expected));
		break;
	case Kind::word:
		if (load64(own(own_word)) < pending.expected)
			find(fmt::format("atomic write {} has completed, the word is {}", pending.expected,
				load64(own(own_word))));
		break;
	case Kind::version_cas:
		if (wc.vendor_err != PRISM_STATUS_OK || load64(local + 8) != pending.expected)
			find(fmt::format("CAS status {}, saw version {}, not {}", wc.vendor_err, load64(local + 8),
				pending.expected));
		break;
	case Kind::allocate:
		check_allocate(pending, wc);
		break;
	case Kind::install:
		if (wc.vendor_err != (allocate_ok_ ? PRISM_STATUS_OK : PRISM_STATUS_SKIPPED))
			find(fmt::format("conditional CAS: status {} after an ALLOCATE that {}", wc.vendor_err,
				allocate_ok_ ? "succeeded" : "did not succeed"));
		break;
	case Kind::plain_write:
	case Kind::write:
		check_write(pending, wc);
		break;
	case Kind::plain_read:
		if (std::memcmp(local, sim_.memory.data() + constant_at, pending.length) != 0)
			find("READ of the wrong bytes");
		break;
	case Kind::read:
		check_read(pending, wc);
		break;
	case Kind::long_read:
		reading_long_ = false;
		if (wc.byte_len != pending.length ||
			std::memcmp(long_.data(), sim_.memory.data() + constant_at, pending.length) != 0)
			find("a long READ of the wrong bytes");
		break;
	default:
		break;
	}
}

void Session::check_allocate(const Pending &pending, const ibv_wc &wc)
{
	const std::uint64_t va = load64(piece(pending.id) + piece_size - 8);
	allocate_ok_ = wc.vendor_err == PRISM_STATUS_OK;
	if (allocate_ok_) {
		allocated++;
		sim_.take_buffer(va, pending.tag, pending.length);
	} else if (wc.vendor_err != PRISM_STATUS_NO_BUFFER || va) {
		find(fmt::format("ALLOCATE: status {} address {:#x}", wc.vendor_err, va));
	}
}

void Session::check_write(const Pending &pending, const ibv_wc &wc)
{
	std::uint8_t *at = own(own_slots + pending.slot * slot_size);
	if (wc.vendor_err != PRISM_STATUS_OK || wc.byte_len != pending.length)
		find(fmt::format("WRITE: status {} byte_len {}", wc.vendor_err, wc.byte_len));
	if (!has_pattern(at, pending.direct ? 0 : pending.tag, pending.length))
		find("WRITE has completed, its bytes are not there");
	std::fill_n(at, pending.length, poison);
	slots_used_.erase(pending.slot);
}

/** Checks that all words are of one version, and that the length is that version's. */
void Session::check_read(const Pending &pending, const ibv_wc &wc)
{
	if (wc.vendor_err == PRISM_STATUS_NULL_POINTER && pending.bounded)
		return;
	if (wc.vendor_err != PRISM_STATUS_OK) {
		find(fmt::format("PRISM READ: status {}", wc.vendor_err));
		return;
	}
	const std::uint8_t *local = piece(pending.id);
	const std::uint64_t version = load64(local);
	std::uint32_t length = pending.length;
	if (pending.bounded) {
		const auto &lengths = sim_.objects[pending.object].lengths;
		const auto found = lengths.find(version);
		if (found == lengths.end()) {
			find(fmt::format("PRISM READ of a version {:#x} that never was", version));
			return;
		}
		length = std::min(found->second, pending.length);
	}
	if (wc.byte_len != length)
		find(fmt::format("PRISM READ of {} bytes; version {} had {}", wc.byte_len, version, length));
	for (std::uint32_t i = 0; i + 8 <= wc.byte_len; i += 8)
		if (load64(local + i) != version) {
			find(fmt::format("PRISM READ spliced of versions {} and {}", version, load64(local + i)));
			return;
		}
}

/* The server's side of a session */

void Session::post_receives()
{
	while (receives_posted_ - received_ < slots / 2 && sim_.random.chance(60)) {
		const std::uint64_t slot = receives_posted_ % slots;
		const Sge sge{own_va(own_receives + slot * slot_size), slot_size, sim_.key};
		server_.post_receive(receives_posted_++, {&sge, 1});
	}
}

void Session::poll_server()
{
	ibv_wc wc;
	while (server_.recv_cq.poll(1, &wc)) {
		const std::uint64_t number = received_++;
		if (wc.status != IBV_WC_SUCCESS || wc.wr_id != number) {
			find(fmt::format("a receive completes with status {}", static_cast<int>(wc.status)));
			return;
		}
		if (sends_.empty()) {
			find("a SEND arrived twice");
			return;
		}
		const auto [tag, length] = sends_.front();
		sends_.pop_front();
		if (wc.byte_len != length || !has_pattern(own(own_receives + number % slots * slot_size), tag, length))
			find("a SEND was lost, doubled or damaged");
	}
}

void Session::final_check()
{
	if (load64(own(own_swap)) != own_swaps_)
		find("CMP_AND_SWP did not run once each");
	if (load64(own(own_word)) != words_)
		find("atomic writes did not run once each, in order");
	if (load64(own(own_version) + 8) != versions_)
		find("CAS did not run once each");
	for (unsigned slot = 0; slot < slots; slot++) {
		const std::uint8_t *at = own(own_slots + slot * slot_size);
		if (!std::all_of(at, at + slot_size, [](std::uint8_t byte) { return byte == poison; }))
			find("a WRITE was executed again after it had completed");
	}
}

} // namespace prism::test

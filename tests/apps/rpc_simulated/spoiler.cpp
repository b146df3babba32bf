/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "spoiler.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "rpc/fetch/layout.hpp"
#include "rpc/slots/layout.hpp"

namespace rpc_sim
{

using rpc::Frame;
using rpc::frame_size;

namespace
{

/** Makes the frame at @p place look whole, even if its message is not. */
void mend(std::byte *place, Frame frame, std::size_t longest)
{
	if (!frame.seq || frame.size > longest)
		return;
	frame.crc = frame.checksum({place + frame_size, frame.size});
	frame.store(place);
}

/** Calls @p act for each request of @p list. */
template <typename Do>
void for_each(ibv_send_wr *list, Do act)
{
	for (ibv_send_wr *wr = list; wr;) {
		ibv_send_wr *const next = wr->next; /* act() may insert one */
		act(*wr);
		wr = next;
	}
}

bool has_opcode(const ibv_send_wr &wr, unsigned opcode)
{
	unsigned its = 0; /* not a value of ibv_wr_opcode if it is PRISM's */
	std::memcpy(&its, &wr.opcode, sizeof(its));
	return its == opcode;
}

/* fetch and reply ------------------------------------------------------------------------------------------------ */

class FetchSpoiler : public Spoiler
{
public:
	FetchSpoiler(const prism::ConnectionRecord &server, std::uint32_t depth)
		: requests_(server.region(rpc::fetch::request_region)->region),
		  responses_(server.region(rpc::fetch::response_region)->region),
		  layout_(*rpc::fetch::Layout::of(depth, requests_.length, responses_.length)), seqs_(depth)
	{
	}

	ibv_send_wr *on_post(Device &client, ibv_send_wr *first) final
	{
		for_each(first, [&](ibv_send_wr &wr) {
			if (wr.opcode == IBV_WR_RDMA_WRITE)
				note_write(client, wr);
			else if (wr.opcode == IBV_WR_RDMA_READ)
				on_read(wr, static_cast<std::uint32_t>((wr.wr.rdma.remote_addr - responses_.address) /
								       layout_.response_stride()));
		});
		return first;
	}

protected:
	virtual void on_read(ibv_send_wr & /*read*/, std::uint32_t /*call*/) {}
	virtual void on_request(std::uint32_t /*call*/) {}
	virtual void on_mode_word(std::uint32_t /*call*/) {}

	/** Returns the place of the response to @p call at the client; null if it is not known yet. */
	[[nodiscard]] std::byte *landing(Device &client, std::uint32_t call) const
	{
		return landing_ ? client.at(landing_ + layout_.response_offset(call)) : nullptr;
	}
	[[nodiscard]] const rpc::fetch::Layout &layout() const noexcept { return layout_; }
	[[nodiscard]] std::uint64_t request_at(std::uint32_t call) const noexcept
	{
		return requests_.address + layout_.request_offset(call);
	}
	/** Returns the seq of the latest request in @p call. */
	[[nodiscard]] std::uint32_t seq(std::uint32_t call) const noexcept { return seqs_[call]; }

private:
	void note_write(Device &client, const ibv_send_wr &wr)
	{
		const std::uint64_t offset = wr.wr.rdma.remote_addr - requests_.address;
		const std::byte *const bytes = client.at(wr.sg_list->addr);
		if (offset < rpc::fetch::registration_size) {
			std::memcpy(&landing_, bytes, sizeof(landing_));
		} else if (offset < layout_.request_offset(0)) {
			on_mode_word(static_cast<std::uint32_t>((offset - layout_.mode_offset(0)) / 8));
		} else {
			const auto call = static_cast<std::uint32_t>(
				(offset - layout_.request_offset(0)) / layout_.request_stride());
			seqs_[call] = Frame::load(bytes).seq;
			on_request(call);
		}
	}

	const prism::RemoteRegion requests_;
	const prism::RemoteRegion responses_;
	const rpc::fetch::Layout layout_;
	std::vector<std::uint32_t> seqs_;
	std::uint64_t landing_ = 0;
};

/** Flaw::no_crc */
class CrcSpoiler final : public FetchSpoiler
{
public:
	using FetchSpoiler::FetchSpoiler;

	void before_server(Device &server) override
	{
		for (std::uint32_t call = 0; call < layout().calls; call++) {
			std::byte *const place = server.at(request_at(call));
			mend(place, Frame::load(place), layout().request);
		}
	}
	void before_client(Device &client) override
	{
		for (std::uint32_t call = 0; call < layout().calls; call++) {
			std::byte *const place = landing(client, call);
			if (place && Frame::load(place).seq == seq(call))
				mend(place, Frame::load(place), layout().response);
		}
	}
};

/** Flaw::no_seq */
class SeqSpoiler final : public FetchSpoiler
{
public:
	using FetchSpoiler::FetchSpoiler;

	void before_client(Device &client) override
	{
		for (std::uint32_t call = 0; call < layout().calls; call++) {
			std::byte *const place = landing(client, call);
			if (!place)
				continue;
			Frame frame = Frame::load(place);
			const bool whole = frame.seq && frame.size <= layout().response &&
					   frame.checksum({place + frame_size, frame.size}) == frame.crc;
			if (!whole || frame.seq == seq(call))
				continue;
			frame.seq = seq(call);
			mend(place, frame, layout().response);
		}
	}
};

/** Flaw::no_last_read: READs after the mode word deliver nothing. */
class LastReadSpoiler final : public FetchSpoiler
{
public:
	LastReadSpoiler(const prism::ConnectionRecord &server, std::uint32_t depth)
		: FetchSpoiler(server, depth), asked_(depth)
	{
	}

private:
	void on_request(std::uint32_t call) override { asked_[call] = false; }
	void on_mode_word(std::uint32_t call) override { asked_[call] = true; }
	void on_read(ibv_send_wr &read, std::uint32_t call) override
	{
		if (asked_[call])
			read.num_sge = 0;
	}

	std::vector<bool> asked_; /* calls that have asked for a reply */
};

/* slots ---------------------------------------------------------------------------------------------------------- */

class SlotsSpoiler : public Spoiler
{
public:
	SlotsSpoiler(const prism::ConnectionRecord &server, std::uint32_t depth)
		: slots_(server.region(rpc::slots::slot_region)->region), depth_(depth)
	{
	}

protected:
	static constexpr std::size_t even_half = rpc::slots::response_offset(0);
	static constexpr std::size_t odd_half = rpc::slots::response_offset(1);

	[[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
	[[nodiscard]] std::uint64_t place(std::uint32_t slot, std::size_t offset) const noexcept
	{
		return slots_.address + slot * rpc::slots::slot_size + offset;
	}
	[[nodiscard]] std::uint32_t rkey() const noexcept { return slots_.rkey; }
	/** Returns the slot whose response @p read fetches; nothing if it is another READ. */
	[[nodiscard]] std::optional<std::uint32_t> slot_of(const ibv_send_wr &read) const noexcept
	{
		if (!has_opcode(read, PRISMDV_WR_READ))
			return std::nullopt;
		return static_cast<std::uint32_t>((read.wr.rdma.remote_addr - slots_.address) / rpc::slots::slot_size);
	}
	[[nodiscard]] prismdv_bounded_ptr &pointer(Device &server, std::uint32_t slot, std::size_t half) const noexcept
	{
		return *reinterpret_cast<prismdv_bounded_ptr *>(server.at(place(slot, half)));
	}

private:
	const prism::RemoteRegion slots_;
	const std::uint32_t depth_;
};

/** Flaw::one_half: copies the server's changes of the odd half to the even one. */
class HalfSpoiler final : public SlotsSpoiler
{
public:
	HalfSpoiler(const prism::ConnectionRecord &server, std::uint32_t depth)
		: SlotsSpoiler(server, depth), copied_(depth)
	{
	}

	ibv_send_wr *on_post(Device &, ibv_send_wr *first) override
	{
		for_each(first, [this](ibv_send_wr &wr) {
			if (const std::optional<std::uint32_t> slot = slot_of(wr))
				wr.wr.rdma.remote_addr = place(*slot, even_half);
		});
		return first;
	}
	void after_server(Device &server) override
	{
		for (std::uint32_t slot = 0; slot < depth(); slot++) {
			const prismdv_bounded_ptr &odd = pointer(server, slot, odd_half);
			prismdv_bounded_ptr &even = pointer(server, slot, even_half);
			if (odd.ptr && odd.tag != copied_[slot]) {
				even = odd;
				copied_[slot] = odd.tag;
			} else if (!odd.ptr && even.tag == copied_[slot]) {
				even.ptr = 0;
			}
		}
	}

private:
	std::vector<std::uint32_t> copied_; /* seqs, by slot */
};

/** Flaw::ptr_first: for one turn the new pointer has the previous bound. */
class BoundSpoiler final : public SlotsSpoiler
{
public:
	BoundSpoiler(const prism::ConnectionRecord &server, std::uint32_t depth)
		: SlotsSpoiler(server, depth), seen_(2 * std::size_t{depth})
	{
	}

	void before_server(Device &server) override
	{
		for_each_half(server, [](prismdv_bounded_ptr &now, prismdv_bounded_ptr &seen) {
			if (now.ptr && now.tag == seen.tag)
				now.bound = seen.bound;
		});
	}
	void after_server(Device &server) override
	{
		for_each_half(server, [](prismdv_bounded_ptr &now, prismdv_bounded_ptr &seen) {
			if (!now.ptr || now.tag == seen.tag)
				return;
			std::swap(now.bound, seen.bound);
			seen.tag = now.tag;
		});
	}

private:
	template <typename Do>
	void for_each_half(Device &server, Do act)
	{
		for (std::uint32_t slot = 0; slot < depth(); slot++) {
			act(pointer(server, slot, even_half), seen_[2 * slot]);
			act(pointer(server, slot, odd_half), seen_[2 * slot + 1]);
		}
	}

	std::vector<prismdv_bounded_ptr> seen_; /* with the right bounds */
};

/** Flaw::early_fetched: adds a conditional WRITE to each READ, which says that the READ was successful. */
class FetchedSpoiler final : public SlotsSpoiler
{
public:
	FetchedSpoiler(const prism::ConnectionRecord &server, std::uint32_t depth)
		: SlotsSpoiler(server, depth), seqs_(depth), words_(depth)
	{
	}

	ibv_send_wr *on_post(Device &, ibv_send_wr *first) override
	{
		for_each(first, [this](ibv_send_wr &wr) {
			if (has_opcode(wr, PRISMDV_WR_ALLOCATE))
				note_request(reinterpret_cast<const prismdv_send_wr &>(wr));
			else if (const std::optional<std::uint32_t> slot = slot_of(wr))
				tell_fetched(wr, *slot);
		});
		return first;
	}

private:
	struct Word {
		std::uint64_t seq = 0;
		ibv_sge piece{};
		prismdv_send_wr write{};
	};

	void note_request(const prismdv_send_wr &request)
	{
		const auto slot = static_cast<std::uint32_t>((request.aux.addr - place(0, 0)) / rpc::slots::slot_size);
		seqs_[slot] = request.allocate.tag;
	}
	void tell_fetched(ibv_send_wr &read, std::uint32_t slot)
	{
		Word &word = words_[slot];
		word.seq = seqs_[slot];
		word.piece = {reinterpret_cast<std::uintptr_t>(&word.seq), sizeof(word.seq), 0};
		word.write = {};
		word.write.wr.sg_list = &word.piece;
		word.write.wr.num_sge = 1;
		word.write.wr.opcode = static_cast<ibv_wr_opcode>(PRISMDV_WR_WRITE);
		word.write.wr.send_flags = IBV_SEND_INLINE;
		word.write.wr.wr.rdma.remote_addr = place(slot, rpc::slots::fetched_offset);
		word.write.wr.wr.rdma.rkey = rkey();
		word.write.flags = PRISMDV_WR_CONDITIONAL;
		word.write.wr.next = read.next;
		read.next = &word.write.wr;
	}

	std::vector<std::uint32_t> seqs_;
	std::vector<Word> words_;
};

} // namespace

std::unique_ptr<Spoiler> Spoiler::of(Flaw flaw, const prism::ConnectionRecord &server, std::uint32_t depth)
{
	switch (flaw) {
	case Flaw::no_crc:
		return std::make_unique<CrcSpoiler>(server, depth);
	case Flaw::no_seq:
		return std::make_unique<SeqSpoiler>(server, depth);
	case Flaw::no_last_read:
		return std::make_unique<LastReadSpoiler>(server, depth);
	case Flaw::one_half:
		return std::make_unique<HalfSpoiler>(server, depth);
	case Flaw::ptr_first:
		return std::make_unique<BoundSpoiler>(server, depth);
	case Flaw::early_fetched:
		return std::make_unique<FetchedSpoiler>(server, depth);
	default:
		return nullptr;
	}
}

} // namespace rpc_sim

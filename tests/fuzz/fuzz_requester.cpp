/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A hostile responder: sequences of response packets to a QP with one request of each kind under way. Whatever arrives,
 * nothing outside the local sges changes, each request completes at most once and in order, and the QP works again
 * after it is re-armed.
 */
#include "hostile.hpp"

namespace
{

using namespace prism;
using namespace prism::fuzz;
using soft::SendKind;
using soft::SendRequest;
using soft::Sge;

constexpr std::uint64_t va = 0x1000;
constexpr std::uint32_t piece = 1024;
constexpr unsigned pieces = 32;

class Victim
{
public:
	Victim() : node_(1), peer_(2), local_(piece * pieces, 0), bystander_(4096, 0x5c)
	{
		key_ = node_.engine.memory.add_region(local_.data(), va, local_.size(), soft::access_local_write, 1);
		node_.engine.memory.add_region(
			bystander_.data(), va + (1 << 20), bystander_.size(), soft::access_local_write, 1);
		connect();
	}

	void receive(Record &record)
	{
		if (record.packet.size() >= PRISM_BTH_SIZE)
			set_bth(record.packet, endpoint_.qp.qpn, record.psn(answer_psn()));
		now_ += record.delay();
		const std::vector<std::uint8_t> exact(record.packet);
		node_.engine.receive({peer_.address, {}}, exact, now_);
		node_.engine.progress(now_);
		node_.outbox.clear();
		poll();
		if (endpoint_.qp.state != IBV_QPS_RTS)
			connect();
		while (next_ - completed_ < 12)
			post();
		node_.engine.progress(now_);
	}

	void check()
	{
		require(local_.guards_intact());
		require(bystander_.guards_intact() && bystander_.all(0x5c));
		/* Unanswered requests end by themselves. */
		for (int i = 0; i < 200 && completed_ != next_; i++) {
			now_ += 10'000'000;
			node_.engine.progress(now_);
			node_.outbox.clear();
			poll();
		}
		require(completed_ == next_);
	}

private:
	void connect()
	{
		test::ConnectOptions options;
		options.mtu = 256;
		options.send_psn = 0xfffff0;
		options.bundles = true;
		endpoint_.connect(peer_endpoint_, options);
		ibv_wc wc;
		while (endpoint_.send_cq.poll(1, &wc))
			;
		completed_ = next_;
	}

	void poll()
	{
		ibv_wc wc;
		while (endpoint_.send_cq.poll(1, &wc)) {
			require(wc.wr_id == completed_);
			completed_++;
			require(wc.status != IBV_WC_SUCCESS || wc.byte_len <= piece);
		}
	}

	/** Returns the PSN of the next answer to the oldest request without one. */
	std::uint32_t answer_psn()
	{
		soft::SendQueue &sq = endpoint_.qp.sq;
		if (sq.empty() || !sq.at(sq.head).started)
			return endpoint_.qp.req.unacked;
		const SendRequest &wr = sq.at(sq.head);
		if (wr.kind == SendKind::prism && wr.prism.op != PRISM_READ)
			return soft::psn_add(wr.first_psn, wr.psns - 1);
		return soft::psn_add(wr.first_psn, wr.acked);
	}

	void post_prism(SendRequest &wr)
	{
		prism_request request{};
		request.op = static_cast<u8>(next_ % 4);
		request.cas_size = 16;
		request.length = request.op == PRISM_READ ? piece : 300;
		if (request.op == PRISM_READ && next_ % 3 == 0)
			request.flags = PRISM_FLAG_T | PRISM_FLAG_B;
		if (request.op == PRISM_ALLOCATE)
			wr.result = {va + next_ % pieces * piece + 512, 8, key_};
		std::uint8_t operands[64] = {};
		test::set_prism(endpoint_, wr, request, operands);
	}

	void post()
	{
		SendRequest &wr = *endpoint_.next();
		wr.wr_id = next_;
		std::uint32_t length = 600;
		switch (next_ % 8) {
		case 0:
			wr.kind = SendKind::read;
			length = piece;
			break;
		case 1:
			wr.kind = SendKind::atomic;
			length = 8;
			break;
		case 2:
			wr.kind = SendKind::send;
			break;
		case 3:
			wr.kind = SendKind::write;
			break;
		case 4:
			wr.kind = SendKind::atomic_write;
			length = 8;
			break;
		default:
			post_prism(wr);
			length = wr.prism.op == PRISM_READ ? piece : wr.prism.op == PRISM_CAS ? 16 : 300;
			break;
		}
		/* In two parts, the second one unaligned. */
		const std::uint64_t at = va + next_ % pieces * piece;
		const std::uint32_t first = length / 3;
		const Sge sges[2] = {{at, first, key_}, {at + first, length - first, key_}};
		endpoint_.post(wr, sges);
		next_++;
	}

	test::Node node_, peer_;
	Guarded local_, bystander_;
	std::uint32_t key_ = 0;
	test::Endpoint endpoint_{node_, {}}, peer_endpoint_{peer_, {}};
	std::uint64_t next_ = 0, completed_ = 0;
	soft::Time now_ = 1000;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Victim victim;
	Reader reader(data, size);
	Record record;
	while (reader.next(record))
		victim.receive(record);
	victim.check();
	return 0;
}

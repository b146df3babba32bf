/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A hostile requester: sequences of request packets to QPs of each type, and datagrams to QP 1. Whatever arrives,
 * memory outside the regions with remote write or atomic stays unchanged, a sanitizer finds nothing, and the QP answers
 * again after it is re-armed.
 */
#include "hostile.hpp"

namespace
{

using namespace prism;
using namespace prism::fuzz;

constexpr std::uint64_t va = 0x1000;
constexpr std::uint32_t size = 8192;
constexpr std::uint8_t secret = 0x5c;

enum RegionIndex {
	writable,
	read_only,
	atomic_only,
	foreign,
	local_only,
	region_count
};

constexpr std::uint32_t qkey = 0x2222;

/** The node under attack; its QP of type RC speaks PRISM. */
class Victim
{
public:
	Victim() : node_(2), peer_(1)
	{
		static constexpr std::uint32_t access[region_count] = {
			soft::access_local_write | soft::access_remote_read | soft::access_remote_write |
				soft::access_remote_atomic,
			soft::access_remote_read, soft::access_local_write | soft::access_remote_atomic,
			soft::access_local_write | soft::access_remote_read | soft::access_remote_write |
				soft::access_remote_atomic,
			soft::access_local_write};
		for (unsigned i = 0; i < region_count; i++) {
			memory_.emplace_back(size, i == writable ? std::uint8_t{0} : secret);
			keys_[i] = node_.engine.memory.add_region(
				memory_[i].data(), va + i * 0x10000ull, size, access[i], i == foreign ? 2 : 1);
		}
		/* Pointers for indirect requests, to good places and bad ones. */
		for (std::uint64_t i = 0; i < 64; i++) {
			const std::uint64_t pointer[2] = {i % 5 ? va + i * 129 : i * 0x1000, i * 77};
			std::memcpy(memory_[writable].data() + 16 * i, pointer, sizeof(pointer));
		}
		node_.engine.add_srq(list_);
		connect();
	}

	void receive(Record &record)
	{
		if (record.packet.size() >= PRISM_BTH_SIZE) {
			const soft::QueuePair &qp = target_of(record.packet).qp;
			set_bth(record.packet, for_gsi(record) ? soft::gsi_qpn : qp.qpn,
				record.psn(qp.resp.expected_psn));
			if (!record.raw_keys())
				set_all_keys(record.packet);
		}
		now_ += record.delay();
		const std::vector<std::uint8_t> exact(record.packet);
		node_.engine.receive({peer_.address, {}}, exact, now_);
		node_.engine.progress(now_);
		check_answers();
		for (const test::Endpoint *endpoint : {&endpoint_, &uc_, &ud_})
			if (endpoint->qp.state != IBV_QPS_RTS)
				connect();
		supply();
	}

	void check()
	{
		for (unsigned i = 0; i < region_count; i++) {
			require(memory_[i].guards_intact());
			if (i != writable && i != atomic_only)
				require(memory_[i].all(secret));
		}
		/* Every buffer is in the list, was answered, or was rejected. */
		const std::uint64_t gone = list_.popped - list_.reclaimed;
		require(node_.engine.allocatable(list_) + gone + list_.rejected == list_.posted);
		require(!endpoint_.qp.resp.prism.active || endpoint_.qp.state == IBV_QPS_RTS);
	}

private:
	void connect()
	{
		test::ConnectOptions options;
		options.mtu = 256;
		options.recv_psn = 0xfffff0;
		for (test::Endpoint *endpoint : {&endpoint_, &uc_, &ud_})
			endpoint->connect(peer_endpoint_, options);
		ud_.qp.attr.qkey = qkey;
		supply();
	}

	/** Keeps a receive and a buffer posted. */
	void supply()
	{
		const soft::Sge sge{va, 512, keys_[writable]};
		for (test::Endpoint *endpoint : {&endpoint_, &uc_, &ud_})
			if (endpoint->qp.rq.size() < 2)
				endpoint->post_receive(1, {&sge, 1});
		if (node_.engine.allocatable(list_) < 2)
			node_.engine.post_free_list(list_, 1, {va + 4096, 512, keys_[writable]});
		ibv_wc wc;
		for (test::Endpoint *endpoint : {&endpoint_, &uc_, &ud_})
			while (endpoint->recv_cq.poll(1, &wc))
				;
	}

	/** Returns the QP for the class of the opcode. */
	test::Endpoint &target_of(const std::vector<std::uint8_t> &packet)
	{
		const unsigned service = packet[0] >> 5;
		return service == 3 ? ud_ : service == 1 ? uc_ : endpoint_;
	}

	/** Bit 7 of control: a datagram goes to QP 1. */
	static bool for_gsi(const Record &record) { return record.packet[0] >> 5 == 3 && (record.control & 0x80); }

	/** Sets the keys of the packet, or of each entry of a bundle as far as its headers lead; sets the right Q_Key
	 * in a datagram. */
	void set_all_keys(std::vector<std::uint8_t> &packet)
	{
		const std::span<std::uint8_t> body = std::span(packet).subspan(PRISM_BTH_SIZE);
		if (packet[0] >> 5 == 3) {
			if (body.size() >= 4)
				put_unaligned_be32(qkey, body.data());
		} else if (packet[0] != PRISM_OP_BUNDLE) {
			set_keys(packet[0], packet[8], body);
		} else {
			for_each_entry(body, [this](const std::uint8_t *header, std::span<std::uint8_t> entry) {
				set_keys(header[0], header[1], entry);
			});
		}
	}

	/** Sets keys: the last byte of a key chooses a region. */
	void set_keys(std::uint8_t opcode, std::uint8_t flags, std::span<std::uint8_t> headers)
	{
		const auto set = [this, headers](std::size_t at) {
			if (at + 4 <= headers.size())
				put_unaligned_be32(keys_[headers[at + 3] % region_count], headers.data() + at);
		};
		const bool allocate = opcode >= PRISM_OP_ALLOCATE_FIRST && opcode <= PRISM_OP_ALLOCATE_ONLY;
		if (!allocate)
			set(8);
		else if (headers.size() >= 4)
			headers[3] = static_cast<std::uint8_t>(list_.number), headers[1] = headers[2] = 0;
		if (flags & (PRISM_FLAG_R | PRISM_FLAG_D))
			set((allocate ? PRISM_ALETH_SIZE : PRISM_RETH_SIZE) + 8);
	}

	/** Checks that the answers do not carry more than the peer may read. */
	void check_answers()
	{
		std::size_t bytes = 0;
		for (std::size_t i = 0; i < node_.outbox.size(); i++)
			bytes += node_.outbox.at(i).bytes.size();
		require(bytes <= 4u << 20);
		node_.outbox.clear();
	}

	test::Node node_, peer_;
	std::vector<Guarded> memory_;
	std::uint32_t keys_[region_count] = {};
	soft::SharedReceiveQueue list_{3, 1, 8, 1, true};
	test::Endpoint endpoint_{node_, {}}, peer_endpoint_{peer_, {}};
	test::Endpoint uc_{node_, {.prism = false, .type = IBV_QPT_UC}};
	test::Endpoint ud_{node_, {.prism = false, .type = IBV_QPT_UD}};
	soft::Time now_ = 1000;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t input_size)
{
	Victim victim;
	Reader reader(data, input_size);
	Record record;
	while (reader.next(record))
		victim.receive(record);
	victim.check();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rights on every hop of every request, and the peer's status (S.5, S.11.1). */
#include "harness.hpp"

namespace verbs_test
{
namespace
{

constexpr unsigned local = IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned remote_read = IBV_ACCESS_REMOTE_READ, remote_write = IBV_ACCESS_REMOTE_WRITE,
		   remote_atomic = IBV_ACCESS_REMOTE_ATOMIC;

class Protection : public EachVariant
{
protected:
	Protection() { connect(); }

	void reconnect()
	{
		disconnect();
		connect();
	}
	void expect_access_error(const Op &op, const char *why = "")
	{
		SCOPED_TRACE(why);
		expect_fault(op, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_access_error");
		reconnect();
	}
	void expect_invalid(const Op &op, const char *counter)
	{
		expect_fault(op, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, counter);
		reconnect();
	}
	void expect_ok(const Op &op) { EXPECT_EQ(status(op), 0u); }

	[[nodiscard]] ibv_sge data(std::uint32_t length = 8) const { return client.memory.sge(0, length); }

	Cas8 cas_{};
};

TEST_P(Protection, WrongKeyOfEachOperation)
{
	for (Op op : {standard(IBV_WR_RDMA_WRITE, {data()}, &server.memory),
		     standard(IBV_WR_RDMA_READ, {data()}, &server.memory),
		     standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {data()}, &server.memory),
		     prism_read({data()}, server.memory), prism_write({data()}, server.memory),
		     prism_cas({}, server.memory, 0, cas_.operands()),
		     prism_read({data()}, server.memory).indirect()}) {
		op.rkey ^= 1;
		expect_access_error(op);
	}
}

TEST_P(Protection, RangeMustLieInTheRegion)
{
	const std::size_t end = server.memory.length();
	expect_access_error(prism_read({data()}, server.memory, end - 7));
	expect_access_error(prism_write({data()}, server.memory, end - 7));
	expect_access_error(prism_cas({}, server.memory, end, cas_.operands()));
	expect_access_error(prism_read({data()}, server.memory, end).indirect(), "the location of the pointer");
	expect_ok(prism_read({data()}, server.memory, end - 8));
}

TEST_P(Protection, RegionOfAnotherDomainIsUnknown)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Region foreign(pd.get(), 4096);
	expect_access_error(prism_read({data()}, foreign));
	expect_access_error(prism_write({data()}, foreign));
	expect_access_error(prism_cas({}, foreign, 0, cas_.operands()));
	expect_access_error(prism_read({}, server.memory).redirect(foreign.at(), foreign.key(), 8));
	expect_access_error(prism_write({}, server.memory).data_from(foreign.at(), foreign.key(), 8));
}

TEST_P(Protection, ReadNeedsRemoteReadAlone)
{
	const Region yes = server.region(64, remote_read), no = server.region(64, local | remote_write | remote_atomic);
	expect_ok(prism_read({data()}, yes));
	expect_access_error(prism_read({data()}, no));
}

TEST_P(Protection, WriteNeedsRemoteWriteAlone)
{
	const Region yes = server.region(64, local | remote_write),
		     no = server.region(64, local | remote_read | remote_atomic);
	expect_ok(prism_write({data()}, yes));
	expect_access_error(prism_write({data()}, no));
}

TEST_P(Protection, CasNeedsRemoteAtomicAlone)
{
	const Region yes = server.region(64, local | remote_atomic),
		     no = server.region(64, local | remote_read | remote_write);
	expect_ok(prism_cas({}, yes, 0, cas_.operands()));
	expect_access_error(prism_cas({}, no, 0, cas_.operands()));
}

TEST_P(Protection, PointerNeedsRemoteRead)
{
	const Region no = server.region(64, local | remote_write | remote_atomic);
	no.put(0, no.at(32));
	expect_access_error(prism_write({data()}, no).indirect());
	expect_access_error(prism_cas({}, no, 0, cas_.operands()).indirect());
	const Region writable = server.region(64, local | remote_write | remote_read);
	writable.put(0, writable.at(32));
	expect_ok(prism_write({data()}, writable).indirect());
	expect_access_error(prism_cas({}, writable, 0, cas_.operands()).indirect(), "the target needs remote atomic");
}

TEST_P(Protection, IndirectTargetNeedsItsRight)
{
	const Region readable = server.region(64, remote_read);
	readable.put(0, readable.at(32));
	expect_ok(prism_read({data()}, readable).indirect());
	expect_access_error(prism_write({data()}, readable).indirect());
}

TEST_P(Protection, RedirectNeedsRemoteWriteOfAux)
{
	const Region yes = server.region(64, local | remote_write),
		     no = server.region(64, local | remote_read | remote_atomic);
	FreeList list(server, 4);
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	expect_access_error(prism_read({}, server.memory).redirect(no.at(), no.key(), 8));
	expect_access_error(prism_allocate({}, list.get()).redirect(no.at(), no.key()));
	EXPECT_EQ(list.query().available, 1u) << "nothing is popped";
	expect_ok(prism_read({}, server.memory).redirect(yes.at(), yes.key(), 8));
	expect_ok(prism_allocate({}, list.get()).redirect(yes.at(), yes.key()));
}

TEST_P(Protection, IndirectDataNeedsRemoteReadOfAux)
{
	const Region yes = server.region(64, remote_read), no = server.region(64, local | remote_write | remote_atomic);
	expect_access_error(prism_write({}, server.memory).data_from(no.at(), no.key(), 8));
	expect_access_error(prism_cas({}, server.memory, 0, cas_.operands()).data_from(no.at(), no.key()));
	expect_ok(prism_write({}, server.memory).data_from(yes.at(), yes.key(), 8));
	expect_ok(prism_cas({}, server.memory, 0, cas_.operands()).data_from(yes.at(), yes.key()));
}

TEST_P(Protection, AuxIsCheckedForItsWholeRange)
{
	const Region aux = server.region(16);
	expect_access_error(prism_read({}, server.memory).redirect(aux.at(9), aux.key(), 8));
	expect_access_error(prism_write({}, server.memory).data_from(aux.at(9), aux.key(), 8));
}

TEST_P(Protection, FaultOfAuxLeavesTheTargetAlone)
{
	expect_access_error(prism_write({}, server.memory).data_from(server.memory.at(8), 0x1234500, 8));
	EXPECT_EQ(server.memory.word(0), 0u);
}

TEST_P(Protection, PointerToUnregisteredMemoryIsAFault)
{
	std::uint64_t outside = 0;
	for (const std::uint64_t wild : {std::uint64_t{reinterpret_cast<std::uintptr_t>(&outside)}, std::uint64_t{1},
		     ~std::uint64_t{0}, server.memory.at(server.memory.length() - 7)}) {
		server.memory.put(0, wild);
		expect_access_error(prism_read({data()}, server.memory).indirect());
		expect_access_error(prism_write({data()}, server.memory).indirect());
	}
}

TEST_P(Protection, PointerIntoAnotherRegionIsAFault)
{
	const Region other = server.region(64);
	server.memory.put(0, other.at());
	expect_access_error(prism_read({data()}, server.memory).indirect());
}

TEST_P(Protection, BoundShortensWhatIsChecked)
{
	const std::size_t end = server.memory.length();
	server.memory.put(0, prismdv_bounded_ptr{server.memory.at(end - 4), 4, 0});
	expect_ok(prism_read({data()}, server.memory).bounded());
}

TEST_P(Protection, CasTargetBehindAPointerMustBeAligned)
{
	server.memory.put(0, server.memory.at(100));
	expect_invalid(prism_cas({}, server.memory, 0, cas_.operands()).indirect(), "rx_bad_alignment");
}

TEST_P(Protection, DeregisteredKeyIsStale)
{
	Region gone = server.region(64);
	const Op op = prism_read({data()}, gone);
	expect_ok(op);
	gone.deregister();
	expect_access_error(op);
}

TEST_P(Protection, LaterRequestsAreFlushed)
{
	Op bad = prism_read({data()}, server.memory).id(1);
	bad.rkey = 0x1234500;
	ASSERT_EQ(post({bad, prism_write({data()}, server.memory, 64).id(2), standard(IBV_WR_SEND, {}).id(3)}), 0);
	const ibv_wc_status expected[] = {IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR};
	for (std::uint64_t i = 0; i < 3; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i + 1);
		EXPECT_EQ(wc->status, expected[i]);
	}
}

/** The answers of both arrive in one train, the NAK last. */
TEST_P(Protection, EarlierRequestsKeepTheirAnswers)
{
	Op bad = prism_cas({}, server.memory, 64, cas_.operands()).id(2);
	bad.rkey = 0x1234500;
	cas_.compare = 0;
	cas_.swap = 7;
	ASSERT_EQ(post({prism_cas({}, server.memory, 0, cas_.operands()).id(1), bad}), 0);
	const ibv_wc_status expected[] = {IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR};
	for (std::uint64_t i = 0; i < 2; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i + 1);
		EXPECT_EQ(wc->status, expected[i]);
	}
	EXPECT_EQ(server.memory.word(0), 7u) << "it was executed";
}

/** Nothing was lost, so nothing is repeated. */
TEST_P(Protection, AnAcknowledgeBehindAnAnswerIsNoLoss)
{
	if (devices.kernel)
		GTEST_SKIP() << "the module's counters are those of all queue pairs";
	post_recv(peer.get(), server.memory.sge(512, 64));
	const std::uint64_t before = client.counter("retransmits");
	ASSERT_EQ(post({prism_cas({}, server.memory, 0, cas_.operands()).id(1),
			  standard(IBV_WR_SEND, {client.memory.sge(0, 8)}).id(2)}),
		0);
	for (int i = 0; i < 2; i++)
		ASSERT_TRUE(next(client.cq.get()));
	EXPECT_EQ(client.counter("retransmits"), before);
}

TEST_P(Protection, LocalKeyWithoutWriteIsALocalError)
{
	const Region read_only = client.region(64, 0);
	EXPECT_EQ(run(prism_read({read_only.sge(0, 8)}, server.memory)).status, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_ERR);
}

TEST_P(Protection, UnknownLocalKeyIsALocalError)
{
	for (Op op : {prism_write({{client.memory.at(), 8, 0x1234500}}, server.memory),
		     standard(IBV_WR_RDMA_WRITE, {{client.memory.at(), 8, 0x1234500}}, &server.memory),
		     prism_cas({{client.memory.at(), 8, 0x1234500}}, server.memory, 0, cas_.operands())}) {
		EXPECT_EQ(run(op).status, IBV_WC_LOC_PROT_ERR) << op.opcode;
		reconnect();
	}
}

INSTANTIATE_TEST_SUITE_P(Each, Protection, testing::ValuesIn(all_variants()), variant_name);

/* The access flags of the queue pair itself. */
class QpAccess : public EachVariant
{
protected:
	void expect_refused(const Op &op, unsigned needed)
	{
		SCOPED_TRACE(op.opcode);
		constexpr unsigned all = remote_read | remote_write | remote_atomic;
		PathOptions options;
		options.access = all & ~needed;
		connect(options);
		expect_fault(op, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, "rx_bad_flags");
		disconnect();
		options.access = needed;
		connect(options);
		EXPECT_EQ(run(op).status, IBV_WC_SUCCESS);
		disconnect();
	}
};

TEST_P(QpAccess, EachOperationNeedsItsFlag)
{
	const ibv_sge data = client.memory.sge(0, 8);
	const Cas8 cas{};
	const FreeList list(server, 4);
	expect_refused(standard(IBV_WR_RDMA_READ, {data}, &server.memory), remote_read);
	expect_refused(standard(IBV_WR_RDMA_WRITE, {data}, &server.memory), remote_write);
	expect_refused(standard(IBV_WR_ATOMIC_CMP_AND_SWP, {data}, &server.memory), remote_atomic);
	expect_refused(prism_read({data}, server.memory), remote_read);
	expect_refused(prism_write({data}, server.memory), remote_write);
	expect_refused(prism_cas({}, server.memory, 0, cas.operands()), remote_atomic);
	expect_refused(prism_allocate({}, list.get()), remote_write);
}

TEST_P(QpAccess, ModifiersNeedTheirFlagToo)
{
	const Cas8 cas{};
	const auto refused = [&](const Op &op, unsigned access) {
		PathOptions options;
		options.access = access;
		connect(options);
		expect_fault(op, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, "rx_bad_flags");
		disconnect();
	};
	const std::uint64_t at = server.memory.at(64);
	const std::uint32_t key = server.memory.key();
	refused(prism_write({client.memory.sge(0, 8)}, server.memory).indirect(), remote_write | remote_atomic);
	refused(prism_write({}, server.memory).data_from(at, key, 8), remote_write | remote_atomic);
	refused(prism_read({}, server.memory).redirect(at, key, 8), remote_read | remote_atomic);
	refused(prism_cas({}, server.memory, 0, cas.operands()).indirect(), remote_atomic | remote_write);
}

TEST_P(QpAccess, SkippedRequestIsRefusedAllTheSame)
{
	PathOptions options;
	options.access = remote_atomic;
	connect(options);
	const Cas8 missing{1, 0};
	ASSERT_EQ(status(prism_cas({}, server.memory, 0, missing.operands())), std::uint32_t{PRISMDV_STATUS_CAS_MISS});
	expect_fault(prism_write({client.memory.sge(0, 8)}, server.memory).conditional(), IBV_WC_REM_INV_REQ_ERR,
		IBV_EVENT_QP_REQ_ERR, "rx_bad_flags");
}

TEST_P(QpAccess, RequestsBeyondTheServersDepthAreInvalid)
{
	PathOptions options;
	options.rd_atomic = 64;
	options.dest_rd_atomic = 1;
	options.mtu = IBV_MTU_256;
	connect(options);
	const Region big = server.region(1 << 20), to = client.region(1 << 20);
	std::vector<Op> ops(8, prism_read({to.sge(0, 1 << 20)}, big));
	ASSERT_EQ(post(ops), 0);
	ibv_wc_status status = IBV_WC_SUCCESS;
	for (int i = 0; i < 8 && status == IBV_WC_SUCCESS; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		status = wc->status;
	}
	if (status == IBV_WC_SUCCESS)
		EXPECT_EQ(server.counter("rx_excess_request"), 0u) << "they happened to arrive one after another";
	else
		EXPECT_EQ(status, IBV_WC_REM_INV_REQ_ERR);
}

INSTANTIATE_TEST_SUITE_P(Each, QpAccess, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test

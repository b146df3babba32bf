/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "harness.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "ticks.hpp"

namespace verbs_test
{

Devices devices;
std::map<std::string, int> missing_counters;

/* In a function of its own, so that constructors can skip too. */
void skip(const std::string &reason)
{
	GTEST_SKIP() << reason;
}

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::size_t default_memory = 64 << 10;

/** Waits until the kernel reads counters anew: it caches them for a tick, or up to 10 ms if we may not change that. */
void await_fresh_counters()
{
	if (devices.kernel) {
		std::this_thread::sleep_for(devices.counters_lifespan);
		prism::test::ticks::await_another(prism::test::ticks::now());
	}
}

[[noreturn]] void die(const char *what)
{
	throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

template <typename T>
T *checked(T *object, const char *what)
{
	if (!object)
		die(what);
	return object;
}

} // namespace

/* Memory and hosts ---------------------------------------------------------------------------------------------- */

Region::Region(ibv_pd *pd, std::size_t length, unsigned access)
	: length_(length), memory_(static_cast<std::uint8_t *>(std::aligned_alloc(4096, (length + 4095) / 4096 * 4096)))
{
	std::memset(memory_.get(), 0, length);
	mr_.reset(checked(ibv_reg_mr_iova2(pd, memory_.get(), length, base(), access), "ibv_reg_mr"));
}

std::uint64_t Region::word(std::size_t offset) const
{
	std::uint64_t value;
	std::memcpy(&value, bytes(offset), sizeof(value));
	return value;
}

std::string Region::text(std::size_t offset, std::size_t length) const
{
	return {reinterpret_cast<const char *>(bytes(offset)), length};
}

void Region::fill(std::size_t offset, std::size_t length, unsigned seed) const
{
	std::uint32_t state = seed * 2654435761u + 1;
	for (std::size_t i = 0; i < length; i++) {
		state = state * 1664525 + 1013904223;
		*bytes(offset + i) = static_cast<std::uint8_t>(state >> 24);
	}
}

std::shared_ptr<ibv_context> open_device(const std::string &name, prismdv_progress_mode progress)
{
	await_fresh_counters(); /* they count from here */
	ibv_device **list = checked(prismdv_get_device_list(nullptr), "prismdv_get_device_list");
	const prismdv_context_attr attr{0, progress, 0};
	ibv_context *context = nullptr;
	errno = ENODEV;
	for (ibv_device **device = list; *device && !context; device++)
		if (name == ibv_get_device_name(*device))
			context = prismdv_open_device(*device, &attr);
	prismdv_free_device_list(list);
	return {checked(context, "prismdv_open_device"), [](ibv_context *c) { EXPECT_EQ(ibv_close_device(c), 0); }};
}

Host::Host(std::shared_ptr<ibv_context> shared)
	: context(std::move(shared)), pd(checked(ibv_alloc_pd(context.get()), "ibv_alloc_pd")),
	  cq(checked(ibv_create_cq(context.get(), 1024, nullptr, nullptr, 0), "ibv_create_cq")),
	  memory(pd.get(), default_memory)
{
}

std::map<std::string, std::uint64_t> Host::counters() const
{
	await_fresh_counters();
	std::vector<prismdv_counter> all(static_cast<std::size_t>(prismdv_query_counters(context.get(), nullptr, 0)));
	prismdv_query_counters(context.get(), all.data(), all.size());
	std::map<std::string, std::uint64_t> values;
	for (const prismdv_counter &counter : all)
		values[counter.name] = counter.value;
	return values;
}

std::uint64_t Host::counter(const std::string &name) const
{
	const auto all = counters();
	const auto found = all.find(name);
	EXPECT_NE(found, all.end()) << "no counter " << name;
	return found != all.end() ? found->second : 0;
}

bool Host::counts(const std::string &name) const
{
	if (!devices.kernel || counters().contains(name))
		return true;
	missing_counters[name]++;
	return false;
}

namespace
{

/** Returns how well an address serves as one of the family: 0 not at all, otherwise more is better. */
int suitability(const union ibv_gid &gid, bool ipv6)
{
	static constexpr std::uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	const bool mapped = !std::memcmp(gid.raw, mapped_prefix, sizeof(mapped_prefix));
	if (mapped == ipv6)
		return 0;
	const bool link_local = gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
	return link_local ? 1 : 2;
}

} // namespace

union ibv_gid Host::gid(bool ipv6, int &index) const
{
	ibv_port_attr port{};
	EXPECT_EQ(ibv_query_port(context.get(), 1, &port), 0);
	union ibv_gid best {
	};
	int best_suitability = 0;
	for (int i = 0; i < port.gid_tbl_len; i++) {
		union ibv_gid gid;
		if (prismdv_query_gid(context.get(), 1, i, &gid) || suitability(gid, ipv6) <= best_suitability)
			continue;
		best = gid;
		best_suitability = suitability(gid, ipv6);
		index = i;
	}
	if (best_suitability)
		return best;
	if (!devices.kernel)
		throw std::runtime_error("no such GID");
	skip(ipv6 ? "the device has no IPv6 address" : "the device has no IPv4 address");
	prismdv_query_gid(context.get(), 1, index = 0, &best);
	return best;
}

/* Queue pairs --------------------------------------------------------------------------------------------------- */

Owned<ibv_qp> create_qp(const Host &host, const QpOptions &options)
{
	ibv_qp_init_attr_ex attr{};
	attr.send_cq = options.send_cq ? options.send_cq : host.cq.get();
	attr.recv_cq = options.recv_cq ? options.recv_cq : host.cq.get();
	attr.srq = options.srq;
	attr.cap = {options.send_wr, options.recv_wr, options.sge, options.sge, options.inline_data};
	attr.qp_type = IBV_QPT_RC;
	attr.sq_sig_all = options.signal_all;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.pd = options.pd ? options.pd : host.pd.get();
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
			      IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |
			      IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
			      IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
	ibv_qp *qp = options.prism ? prismdv_create_qp(host.context.get(), &attr, nullptr)
				   : ibv_create_qp_ex(host.context.get(), &attr);
	return Owned<ibv_qp>(checked(qp, "create_qp"));
}

ibv_qp_attr init_attr(unsigned access)
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = access;
	return attr;
}

ibv_qp_state state_of(ibv_qp *qp)
{
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

int move_to(ibv_qp *qp, ibv_qp_state state)
{
	ibv_qp_attr attr{};
	attr.qp_state = state;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

void ready_for_datagrams(ibv_qp *qp, std::uint32_t qkey)
{
	ibv_qp_attr attr = init_attr(0);
	attr.qkey = qkey;
	EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	EXPECT_EQ(move_to(qp, IBV_QPS_RTR), 0);
	attr.qp_state = IBV_QPS_RTS;
	EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

namespace
{

constexpr std::uint32_t first_psn = 0xfffff0; /* so that every test wraps soon */

void to_rts(ibv_qp *qp, const Host &host, ibv_qp *other, const Host &at, bool ipv6, const PathOptions &options)
{
	int source = 0, target = 0;
	ibv_qp_attr attr = init_attr(options.access);
	ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	host.gid(ipv6, source);
	attr = {};
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = options.mtu;
	attr.dest_qp_num = other->qp_num;
	attr.rq_psn = first_psn;
	attr.max_dest_rd_atomic = options.dest_rd_atomic;
	attr.min_rnr_timer = options.min_rnr_timer;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = at.gid(ipv6, target);
	attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(source);
	attr.ah_attr.grh.hop_limit = 64;
	ASSERT_EQ(ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		0);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = options.timeout;
	attr.retry_cnt = options.retry;
	attr.rnr_retry = options.rnr_retry;
	attr.sq_psn = first_psn;
	attr.max_rd_atomic = options.rd_atomic;
	ASSERT_EQ(ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC),
		0);
}

void declare(ibv_qp *qp, const Host &peer)
{
	prismdv_capability capability;
	ASSERT_EQ(prismdv_query_capability(peer.context.get(), &capability), 0);
	prismdv_set_peer_capability(qp, &capability); /* fails on a queue pair of plain verbs, as it should */
}

} // namespace

/* Requests ------------------------------------------------------------------------------------------------------ */

Op standard(ibv_wr_opcode opcode, std::vector<ibv_sge> sges, const Region *target, std::size_t offset)
{
	Op op;
	op.opcode = opcode;
	op.sges = std::move(sges);
	if (target) {
		op.rkey = target->key();
		op.remote = target->at(offset);
	}
	return op;
}

namespace
{

Op prism(prismdv_wr_opcode opcode, std::vector<ibv_sge> sges, const Region *target, std::size_t offset)
{
	Op op = standard(IBV_WR_SEND, std::move(sges), target, offset);
	op.opcode = opcode;
	return op;
}

} // namespace

Op prism_read(std::vector<ibv_sge> sges, const Region &target, std::size_t offset)
{
	return prism(PRISMDV_WR_READ, std::move(sges), &target, offset);
}

Op prism_write(std::vector<ibv_sge> sges, const Region &target, std::size_t offset)
{
	return prism(PRISMDV_WR_WRITE, std::move(sges), &target, offset);
}

Op prism_cas(std::vector<ibv_sge> sges, const Region &target, std::size_t offset, const prismdv_cas &cas)
{
	Op op = prism(PRISMDV_WR_CAS, std::move(sges), &target, offset);
	op.cas = cas;
	return op;
}

Op prism_allocate(std::vector<ibv_sge> sges, ibv_srq *list, std::uint32_t tag)
{
	Op op = prism(PRISMDV_WR_ALLOCATE, std::move(sges), nullptr, 0);
	EXPECT_EQ(ibv_get_srq_num(list, &op.allocation.free_list), 0);
	op.allocation.tag = tag;
	return op;
}

namespace
{

/** Sets a field to a value that need not be in its enumeration. */
void set_opcode(ibv_send_wr &wr, unsigned opcode)
{
	static_assert(sizeof(wr.opcode) == sizeof(opcode));
	std::memcpy(&wr.opcode, &opcode, sizeof(opcode));
}

prismdv_send_wr to_wr(Op &op)
{
	prismdv_send_wr ext{};
	ibv_send_wr &wr = ext.wr;
	wr.wr_id = op.wr_id;
	wr.sg_list = op.sges.data();
	wr.num_sge = static_cast<int>(op.sges.size());
	wr.send_flags = op.send_flags;
	wr.imm_data = op.value;
	set_opcode(wr, op.opcode);
	if (op.opcode == IBV_WR_BIND_MW) {
		wr.bind_mw = {op.window, op.value, op.bind};
	} else if (op.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || op.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic = {op.remote, op.compare_add, op.swap, op.rkey};
	} else {
		wr.wr.rdma.remote_addr = op.remote;
		wr.wr.rdma.rkey = op.rkey;
	}
	ext.flags = op.flags;
	ext.aux = op.aux;
	if (op.opcode == PRISMDV_WR_CAS)
		ext.cas = op.cas;
	if (op.opcode == PRISMDV_WR_ALLOCATE)
		ext.allocate = op.allocation;
	return ext;
}

int post_list(ibv_qp *qp, std::vector<Op> &ops, std::size_t *posted)
{
	std::vector<prismdv_send_wr> list;
	for (Op &op : ops)
		list.push_back(to_wr(op));
	for (std::size_t i = 0; i + 1 < list.size(); i++)
		list[i].wr.next = &list[i + 1].wr;
	ibv_send_wr *bad = nullptr;
	const int error = ibv_post_send(qp, &list[0].wr, &bad);
	std::size_t n = 0;
	while (n < list.size() && &list[n].wr != bad)
		n++;
	if (posted)
		*posted = error ? n : list.size();
	return error;
}

void build_standard(ibv_qp_ex *ex, Op &op)
{
	switch (op.opcode) {
	case IBV_WR_SEND:
		return ibv_wr_send(ex);
	case IBV_WR_SEND_WITH_IMM:
		return ibv_wr_send_imm(ex, op.value);
	case IBV_WR_SEND_WITH_INV:
		return ibv_wr_send_inv(ex, op.value);
	case IBV_WR_RDMA_WRITE:
		return ibv_wr_rdma_write(ex, op.rkey, op.remote);
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return ibv_wr_rdma_write_imm(ex, op.rkey, op.remote, op.value);
	case IBV_WR_RDMA_READ:
		return ibv_wr_rdma_read(ex, op.rkey, op.remote);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return ibv_wr_atomic_cmp_swp(ex, op.rkey, op.remote, op.compare_add, op.swap);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return ibv_wr_atomic_fetch_add(ex, op.rkey, op.remote, op.compare_add);
	case IBV_WR_LOCAL_INV:
		return ibv_wr_local_inv(ex, op.value);
	case IBV_WR_BIND_MW:
		return ibv_wr_bind_mw(ex, op.window, op.value, &op.bind);
	default:
		FAIL() << "no builder for opcode " << op.opcode;
	}
}

/** Uses the setters for legal combinations; sets illegal ones directly in the members. */
void set_modifiers(prismdv_qp_ex *dv, const Op &op)
{
	const bool allocate = op.opcode == PRISMDV_WR_ALLOCATE;
	std::uint32_t left = op.flags;
	const auto has = [&left](std::uint32_t bits) {
		const bool all = (left & bits) == bits;
		if (all)
			left &= ~bits;
		return all;
	};
	if (has(PRISMDV_WR_CONDITIONAL))
		prismdv_wr_set_conditional(dv);
	if (!allocate && has(PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED))
		prismdv_wr_set_indirect_bounded(dv);
	else if (has(PRISMDV_WR_INDIRECT))
		prismdv_wr_set_indirect(dv);
	if (allocate && !op.aux.length && has(PRISMDV_WR_REDIRECT | PRISMDV_WR_BOUNDED))
		prismdv_wr_set_redirect_bounded(dv, op.aux.rkey, op.aux.addr);
	else if (has(PRISMDV_WR_REDIRECT))
		prismdv_wr_set_redirect(dv, op.aux.rkey, op.aux.addr, op.aux.length);
	if (has(PRISMDV_WR_DATA_INDIRECT))
		prismdv_wr_set_data_indirect(dv, op.aux.rkey, op.aux.addr, op.aux.length);
	if (left)
		dv->wr_set_flags(dv, left);
}

void build_prism(ibv_qp_ex *ex, const Op &op)
{
	prismdv_qp_ex *dv = prismdv_qp_ex_from_ibv_qp_ex(ex);
	ASSERT_NE(dv, nullptr);
	switch (op.opcode) {
	case PRISMDV_WR_READ:
		prismdv_wr_read(dv, op.rkey, op.remote);
		break;
	case PRISMDV_WR_WRITE:
		prismdv_wr_write(dv, op.rkey, op.remote);
		break;
	case PRISMDV_WR_CAS:
		prismdv_wr_cas(dv, op.rkey, op.remote, &op.cas);
		break;
	default:
		prismdv_wr_allocate(dv, op.allocation.free_list, op.allocation.tag);
		if (op.allocation.result.length)
			prismdv_wr_set_result(dv, op.allocation.result.lkey, op.allocation.result.addr);
	}
	set_modifiers(dv, op);
}

void set_data(ibv_qp_ex *ex, Op &op)
{
	if (op.send_flags & IBV_SEND_INLINE) {
		std::vector<ibv_data_buf> buffers;
		for (const ibv_sge &sge : op.sges)
			buffers.push_back({reinterpret_cast<void *>(sge.addr), sge.length});
		return ibv_wr_set_inline_data_list(ex, buffers.size(), buffers.data());
	}
	if (op.sges.size() == 1)
		ibv_wr_set_sge(ex, op.sges[0].lkey, op.sges[0].addr, op.sges[0].length);
	else if (!op.sges.empty())
		ibv_wr_set_sge_list(ex, op.sges.size(), op.sges.data());
}

int post_built(ibv_qp *qp, std::vector<Op> &ops, std::size_t *posted)
{
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(ex);
	for (Op &op : ops) {
		ex->wr_id = op.wr_id;
		ex->wr_flags = op.send_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
		op.is_prism() ? build_prism(ex, op) : build_standard(ex, op);
		set_data(ex, op);
	}
	const int error = ibv_wr_complete(ex);
	if (posted)
		*posted = error ? 0 : ops.size();
	return error;
}

} // namespace

/* The fabric ---------------------------------------------------------------------------------------------------- */

void PrintTo(const Variant &variant, std::ostream *out)
{
	*out << variant.name;
}

std::vector<Variant> all_variants()
{
	std::vector<Variant> all;
	constexpr prismdv_progress_mode by_caller = PRISMDV_PROGRESS_INLINE, by_thread = PRISMDV_PROGRESS_THREAD;
	all.push_back({"ipv4_list", false, false, by_caller, Style::list});
	all.push_back({"ipv4_builder", false, false, by_caller, Style::builder});
	all.push_back({"ipv6_list", false, true, by_caller, Style::list});
	all.push_back({"one_context_builder", true, false, by_caller, Style::builder});
	all.push_back({"one_context_ipv6_list", true, true, by_caller, Style::list});
	all.push_back({"thread_builder", false, false, by_thread, Style::builder, true});
	all.push_back({"thread_ipv6_list", false, true, by_thread, Style::list, true});
	return all;
}

std::string variant_name(const testing::TestParamInfo<Variant> &info)
{
	return info.param.name;
}

Fabric::Fabric(const Variant &variant)
	: variant_(variant), client_(std::make_unique<Host>(open_device(devices.client, variant.progress))),
	  server_(std::make_unique<Host>(
		  variant.one_context ? client_->context : open_device(devices.server, variant.progress))),
	  client(*client_), server(*server_)
{
	if (devices.kernel && variant.about_progress)
		skip("who makes progress is a matter of the userspace device");
	if (variant.one_context && devices.client != devices.server)
		skip("one context cannot be of two devices");
}

Fabric::~Fabric() = default;

void Fabric::connect(const PathOptions &near, const PathOptions &far)
{
	if (!qp)
		qp = create_qp(client);
	if (!peer)
		peer = create_qp(server);
	connect(qp.get(), client, peer.get(), server, near, far);
}

void Fabric::connect(
	ibv_qp *a, const Host &at_a, ibv_qp *b, const Host &at_b, const PathOptions &near, const PathOptions &far)
{
	to_rts(a, at_a, b, at_b, variant_.ipv6, near);
	to_rts(b, at_b, a, at_a, variant_.ipv6, far);
	if (!near.declare || !far.declare)
		return;
	declare(a, at_b);
	declare(b, at_a);
}

void Fabric::disconnect()
{
	EXPECT_EQ(move_to(qp.get(), IBV_QPS_RESET), 0);
	EXPECT_EQ(move_to(peer.get(), IBV_QPS_RESET), 0);
}

void Fabric::pump() const
{
	if (devices.kernel || variant_.progress == PRISMDV_PROGRESS_THREAD) {
		std::this_thread::sleep_for(std::chrono::microseconds(50));
		return;
	}
	prismdv_progress(client.context.get());
	prismdv_progress(server.context.get());
}

bool Fabric::pump_until(const std::function<bool()> &done, int milliseconds) const
{
	const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
	while (!done()) {
		if (Clock::now() > end)
			return false;
		pump();
	}
	return true;
}

int Fabric::post_to(ibv_qp *to, std::vector<Op> ops, std::size_t *posted)
{
	server.sync();
	client.sync();
	return variant_.style == Style::list ? post_list(to, ops, posted) : post_built(to, ops, posted);
}

std::optional<ibv_wc> Fabric::next(ibv_cq *cq, int milliseconds)
{
	ibv_wc wc{};
	const bool came = pump_until([&] { return ibv_poll_cq(cq, 1, &wc) == 1; }, milliseconds);
	server.sync();
	client.sync();
	return came ? std::optional(wc) : std::nullopt;
}

ibv_wc Fabric::run(const Op &op)
{
	ibv_wc none{};
	none.status = IBV_WC_GENERAL_ERR;
	const int error = post({op});
	EXPECT_EQ(error, 0);
	if (error)
		return none;
	const auto wc = next(client.cq.get());
	EXPECT_TRUE(wc.has_value()) << "no completion";
	if (wc) {
		EXPECT_EQ(wc->wr_id, op.wr_id);
		EXPECT_EQ(wc->qp_num, qp->qp_num);
	}
	return wc.value_or(none);
}

std::uint32_t Fabric::status(const Op &op, std::uint32_t *byte_len)
{
	const ibv_wc wc = run(op);
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
	if (byte_len)
		*byte_len = wc.byte_len;
	return wc.status == IBV_WC_SUCCESS ? wc.vendor_err : ~0u;
}

void Fabric::expect_fault(const Op &op, ibv_wc_status client_status, ibv_event_type event, const std::string &counter)
{
	/* All at once: each query of a module's counters waits for ticks. */
	auto expected = server.counters();
	ASSERT_TRUE(expected.contains(counter)) << "no counter " << counter;
	expected[counter]++;
	const bool naks_counted = expected.contains("tx_nak");
	if (naks_counted)
		expected["tx_nak"]++;
	else if (devices.kernel)
		missing_counters["tx_nak"]++;
	const ibv_wc wc = run(op);
	EXPECT_EQ(wc.status, client_status) << ibv_wc_status_str(wc.status);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_ERR);
	/* A module sends the NAK first. */
	EXPECT_TRUE(pump_until([this] { return state_of(peer.get()) == IBV_QPS_ERR; }, devices.kernel ? 10'000 : 0));
	auto now = server.counters();
	const auto counted = [&] { return now[counter] >= expected[counter] && now["tx_nak"] >= expected["tx_nak"]; };
	pump_until([&] { return counted() || (now = server.counters(), counted()); }, devices.kernel ? 2'000 : 0);
	EXPECT_EQ(now[counter], expected[counter]) << counter;
	if (naks_counted) {
		EXPECT_EQ(now["tx_nak"], expected["tx_nak"]);
	}
	EXPECT_EQ(async_event(server), event);
	EXPECT_EQ(async_event(server, 0), std::nullopt) << "its owner is told once";
}

std::optional<ibv_event_type> Fabric::async_event(const Host &host, int milliseconds) const
{
	const auto pending = [&host] {
		pollfd fd{host.context->async_fd, POLLIN, 0};
		return ::poll(&fd, 1, 0) == 1;
	};
	ibv_async_event event;
	if (!pump_until(pending, milliseconds) || ibv_get_async_event(host.context.get(), &event))
		return std::nullopt;
	ibv_ack_async_event(&event);
	return event.event_type;
}

void Fabric::post_recv(ibv_qp *at, const ibv_sge &sge, std::uint64_t id)
{
	ibv_sge copy = sge;
	ibv_recv_wr wr{id, nullptr, &copy, sge.length ? 1 : 0}, *bad;
	ASSERT_EQ(ibv_post_recv(at, &wr, &bad), 0);
}

/* Free lists ---------------------------------------------------------------------------------------------------- */

FreeList::FreeList(const Host &host, std::uint32_t max_wr, ibv_pd *pd)
{
	ibv_srq_init_attr_ex attr{};
	attr.attr = {max_wr, 1, 0};
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attr.srq_type = IBV_SRQT_BASIC;
	attr.pd = pd ? pd : host.pd.get();
	prismdv_srq_init_attr prism_attr{};
	prism_attr.flags = PRISMDV_SRQ_FREE_LIST;
	srq_.reset(checked(prismdv_create_srq(host.context.get(), &attr, &prism_attr), "prismdv_create_srq"));
}

int FreeList::post(const ibv_sge &sge, std::uint64_t id) const
{
	ibv_sge copy = sge;
	ibv_recv_wr wr{id, nullptr, &copy, 1}, *bad;
	return ibv_post_srq_recv(srq_.get(), &wr, &bad);
}

prismdv_free_list_attr FreeList::query() const
{
	prismdv_free_list_attr attr{};
	EXPECT_EQ(prismdv_query_free_list(srq_.get(), &attr), 0);
	return attr;
}

std::vector<prismdv_rejected_entry> FreeList::rejected() const
{
	std::vector<prismdv_rejected_entry> entries(64);
	const ssize_t n = prismdv_poll_rejected(srq_.get(), entries.data(), entries.size());
	EXPECT_GE(n, 0);
	entries.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
	return entries;
}

} // namespace verbs_test

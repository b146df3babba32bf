/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posts every PRISM operation with every legal combination of modifiers, and some that fail, one at a time, so that
 * none is bundled; prints each request and its result, a JSON object a line, for netns_capture.py to compare with the
 * packets on the wire.
 *
 *     wire_probe DEVICE GID-INDEX PORT [HOST]        server; with HOST the client
 */
#include <infiniband/prismdv.h>

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace
{

constexpr std::uint32_t mtu = 1024;
constexpr std::uint32_t psn_mask = 0xffffff;
constexpr int seconds = 20;

/* The last two each take one request that ends the connection. */
enum Connection {
	conn_main,
	conn_access,
	conn_alignment,
	connections
};

/* Close to the wrap, so that the wrap is on the wire too. */
constexpr std::array<std::uint32_t, connections> first_psn{0xfffff0, 0x000100, 0x000200};

/* The server's memory. */
constexpr std::uint64_t at_pointer = 0x00;
constexpr std::uint64_t at_null = 0x08;
constexpr std::uint64_t at_bounded = 0x10;
constexpr std::uint64_t at_bound_zero = 0x20;
constexpr std::uint64_t at_bounded_long = 0x30;
constexpr std::uint64_t at_cas_pointer = 0x40;
constexpr std::uint64_t at_misaligned = 0x48;
constexpr std::uint64_t at_data = 0x1000;
constexpr std::uint64_t at_cas = 0x8000;
constexpr std::uint64_t at_scratch = 0x9000;
constexpr std::uint64_t at_buffers = 0x10000;
constexpr std::size_t buffer_size = 4096;
constexpr unsigned buffer_count = 32;
constexpr std::size_t memory_size = at_buffers + buffer_size * buffer_count;

constexpr std::uint32_t bound = 24;
constexpr std::uint32_t long_bound = 1500;

constexpr int all_access =
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

[[noreturn]] void fail(const std::string &what, int error = errno)
{
	throw std::system_error(error, std::generic_category(), what);
}

void check_errno(int error, const char *what)
{
	if (error)
		fail(what, error);
}

template <auto destroy>
struct Destroy {
	template <typename T>
	void operator()(T *object) const
	{
		destroy(object);
	}
};
template <typename T, auto destroy>
using Owned = std::unique_ptr<T, Destroy<destroy>>;

template <typename T>
T *must(T *object, const char *what)
{
	if (!object)
		fail(what);
	return object;
}

/* Exchanged by both sides: both are this program, so raw bytes do. */
struct Hello {
	prismdv_capability capability;
	ibv_gid gid;
	std::array<std::uint32_t, connections> qpn;
	std::uint64_t base;
	std::uint32_t rkey;
	std::uint32_t free_list;
	std::uint32_t empty_list;
};

class Socket
{
public:
	explicit Socket(int descriptor) : descriptor_(descriptor)
	{
		const timeval limit{.tv_sec = seconds, .tv_usec = 0};
		if (descriptor_ < 0)
			fail("socket");
		setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	}
	~Socket() { close(descriptor_); }
	Socket(const Socket &) = delete;
	Socket &operator=(const Socket &) = delete;

	[[nodiscard]] int get() const { return descriptor_; }
	void send(const void *data, std::size_t size) const
	{
		if (::send(descriptor_, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
			fail("send");
	}
	void receive(void *data, std::size_t size) const
	{
		if (recv(descriptor_, data, size, MSG_WAITALL) != static_cast<ssize_t>(size))
			fail("recv");
	}
	void wait_closed() const
	{
		char byte;
		if (recv(descriptor_, &byte, 1, 0) != 0)
			fail("the peer did not hang up", EPROTO);
	}

private:
	int descriptor_;
};

std::unique_ptr<Socket> open_socket(const char *host, const char *port)
{
	addrinfo hints{};
	addrinfo *found = nullptr;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_family = host ? AF_UNSPEC : AF_INET6;
	hints.ai_flags = host ? 0 : AI_PASSIVE;
	if (getaddrinfo(host, port, &hints, &found))
		fail("getaddrinfo", EHOSTUNREACH);
	const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, freeaddrinfo);
	auto sock = std::make_unique<Socket>(socket(found->ai_family, SOCK_STREAM, 0));
	if (host) {
		if (connect(sock->get(), found->ai_addr, found->ai_addrlen))
			fail("connect");
		return sock;
	}
	const int on = 1;
	setsockopt(sock->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(sock->get(), found->ai_addr, found->ai_addrlen) || listen(sock->get(), 1))
		fail("listen");
	return std::make_unique<Socket>(accept(sock->get(), nullptr, nullptr));
}

Owned<ibv_context, ibv_close_device> open_device(const std::string &name)
{
	const std::unique_ptr<ibv_device *, decltype(&prismdv_free_device_list)> list(
		must(prismdv_get_device_list(nullptr), "prismdv_get_device_list"), prismdv_free_device_list);
	for (ibv_device **device = list.get(); *device; device++) {
		if (name == ibv_get_device_name(*device))
			return Owned<ibv_context, ibv_close_device>(
				must(prismdv_open_device(*device, nullptr), "prismdv_open_device"));
	}
	fail("no device " + name, ENODEV);
}

struct alignas(4096) Page {
	std::array<std::uint8_t, 4096> bytes;
};

/* Either side: a device, memory, and one queue pair for each connection. */
class Side
{
public:
	Side(const std::string &device, int gid_index)
		: context(open_device(device)), pd(must(ibv_alloc_pd(context.get()), "ibv_alloc_pd")),
		  pages(memory_size / sizeof(Page)), memory(pages.front().bytes.data(), memory_size),
		  mr(must(ibv_reg_mr(pd.get(), memory.data(), memory.size(), all_access), "ibv_reg_mr")),
		  cq(must(ibv_create_cq(context.get(), 64, nullptr, nullptr, 0), "ibv_create_cq"))
	{
		for (auto &qp : qps)
			qp.reset(create_qp());
		check_errno(prismdv_query_capability(context.get(), &mine.capability), "prismdv_query_capability");
		check_errno(prismdv_query_gid(context.get(), 1, gid_index, &mine.gid), "prismdv_query_gid");
		std::ranges::transform(qps, mine.qpn.begin(), [](const auto &qp) { return qp->qp_num; });
		mine.base = reinterpret_cast<std::uintptr_t>(memory.data());
		mine.rkey = mr->rkey;
		gid = static_cast<std::uint8_t>(gid_index);
	}

	void meet(const Socket &sock)
	{
		char ready = 'r';
		sock.send(&mine, sizeof(mine));
		sock.receive(&peer, sizeof(peer));
		for (unsigned i = 0; i < connections; i++)
			connect_qp(i);
		sock.send(&ready, 1);
		sock.receive(&ready, 1);
	}

	Owned<ibv_context, ibv_close_device> context;
	Owned<ibv_pd, ibv_dealloc_pd> pd;
	std::vector<Page> pages; /* a CAS target is aligned to its size */
	std::span<std::uint8_t> memory;
	Owned<ibv_mr, ibv_dereg_mr> mr;
	Owned<ibv_cq, ibv_destroy_cq> cq;
	std::array<Owned<ibv_qp, ibv_destroy_qp>, connections> qps;
	Hello mine{};
	Hello peer{};
	std::uint8_t gid = 0;

private:
	ibv_qp *create_qp()
	{
		ibv_qp_init_attr_ex attr{};
		attr.qp_type = IBV_QPT_RC;
		attr.send_cq = attr.recv_cq = cq.get();
		attr.cap = {
			.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.pd = pd.get();
		return must(prismdv_create_qp(context.get(), &attr, nullptr), "prismdv_create_qp");
	}

	void connect_qp(unsigned i)
	{
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_INIT;
		attr.port_num = 1;
		attr.qp_access_flags = all_access;
		ibv_qp *qp = qps[i].get();
		check_errno(
			ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
			"INIT");
		attr.qp_state = IBV_QPS_RTR;
		attr.path_mtu = IBV_MTU_1024;
		attr.dest_qp_num = peer.qpn[i];
		attr.rq_psn = first_psn[i];
		attr.max_dest_rd_atomic = 16;
		attr.min_rnr_timer = 1;
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = peer.gid;
		attr.ah_attr.grh.sgid_index = gid;
		attr.ah_attr.grh.hop_limit = 64;
		attr.ah_attr.port_num = 1;
		check_errno(ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			"RTR");
		attr.qp_state = IBV_QPS_RTS;
		attr.timeout = 0; /* no timeout: repeats would be on the wire twice */
		attr.retry_cnt = attr.rnr_retry = 7;
		attr.sq_psn = first_psn[i];
		attr.max_rd_atomic = 16;
		check_errno(ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
			"RTS");
		check_errno(prismdv_set_peer_capability(qp, &peer.capability), "prismdv_set_peer_capability");
	}
};

/* The server ------------------------------------------------------------------------------------------------------ */

template <typename T>
void put(Side &side, std::uint64_t at, const T &value)
{
	std::memcpy(&side.memory[at], &value, sizeof(value));
}

void fill_memory(Side &side)
{
	const std::uint64_t base = side.mine.base;
	for (std::size_t i = at_data; i < side.memory.size(); i++)
		side.memory[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
	put(side, at_pointer, base + at_data);
	put(side, at_null, std::uint64_t{0});
	put(side, at_bounded, prismdv_bounded_ptr{base + at_data, bound, 9});
	put(side, at_bound_zero, prismdv_bounded_ptr{base + at_data, 0, 9});
	put(side, at_bounded_long, prismdv_bounded_ptr{base + at_data, long_bound, 9});
	put(side, at_cas_pointer, base + at_cas);
	put(side, at_misaligned, base + at_cas + 4);
}

using FreeList = Owned<ibv_srq, ibv_destroy_srq>;

FreeList create_free_list(Side &side, std::uint32_t &number)
{
	ibv_srq_init_attr_ex attr{};
	attr.attr = {.max_wr = 64, .max_sge = 1, .srq_limit = 0};
	attr.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	attr.pd = side.pd.get();
	prismdv_srq_init_attr prism{};
	prism.flags = PRISMDV_SRQ_FREE_LIST;
	FreeList list(must(prismdv_create_srq(side.context.get(), &attr, &prism), "prismdv_create_srq"));
	check_errno(ibv_get_srq_num(list.get(), &number), "ibv_get_srq_num");
	return list;
}

void post_buffers(Side &side, ibv_srq *list)
{
	for (unsigned i = 0; i < buffer_count; i++) {
		ibv_sge sge{side.mine.base + at_buffers + i * buffer_size, buffer_size, side.mr->lkey};
		ibv_recv_wr wr{};
		ibv_recv_wr *bad = nullptr;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		check_errno(ibv_post_srq_recv(list, &wr, &bad), "ibv_post_srq_recv");
	}
}

void serve(Side &side, const char *port)
{
	const FreeList list = create_free_list(side, side.mine.free_list);
	const FreeList empty = create_free_list(side, side.mine.empty_list);
	fill_memory(side);
	post_buffers(side, list.get());
	const auto sock = open_socket(nullptr, port);
	side.meet(*sock);
	sock->wait_closed();
}

/* The client ------------------------------------------------------------------------------------------------------ */

struct Flag {
	std::uint32_t bit;
	char letter;
};
/* In the order of the bits of the BTH. */
constexpr std::array<Flag, 5> flag_letters{{{PRISMDV_WR_INDIRECT, 'T'}, {PRISMDV_WR_DATA_INDIRECT, 'D'},
	{PRISMDV_WR_BOUNDED, 'B'}, {PRISMDV_WR_CONDITIONAL, 'C'}, {PRISMDV_WR_REDIRECT, 'R'}}};

constexpr std::uint32_t flag_t = PRISMDV_WR_INDIRECT;
constexpr std::uint32_t flag_d = PRISMDV_WR_DATA_INDIRECT;
constexpr std::uint32_t flag_b = PRISMDV_WR_BOUNDED;
constexpr std::uint32_t flag_c = PRISMDV_WR_CONDITIONAL;
constexpr std::uint32_t flag_r = PRISMDV_WR_REDIRECT;

std::string letters(std::uint32_t flags)
{
	std::string text;
	for (const auto &[bit, letter] : flag_letters) {
		if (flags & bit)
			text += letter;
	}
	return text;
}

std::string hex(const std::uint8_t *bytes, std::size_t size)
{
	std::string text;
	char digits[3];
	for (std::size_t i = 0; i < size; i++) {
		std::snprintf(digits, sizeof(digits), "%02x", bytes[i]);
		text += digits;
	}
	return text;
}

struct Operands {
	std::array<std::uint8_t, 32> compare{};
	std::array<std::uint8_t, 32> swap{};
	std::array<std::uint8_t, 32> compare_mask{};
	std::array<std::uint8_t, 32> swap_mask{};
};

/* A request: addresses are offsets in the server's memory. */
struct Job {
	prismdv_wr_opcode operation;
	std::uint32_t flags = 0;
	std::uint64_t target = 0;
	std::uint32_t length = 0; /* of CAS the operand's */
	std::uint64_t aux = at_scratch;
	std::uint8_t mode = PRISMDV_CAS_EQ;
	std::uint8_t cas_flags = 0;
	bool hit = true; /* of CAS: compare nothing, or a value that is not there */
	bool empty_list = false;
	std::uint32_t key_error = 0;
	Connection connection = conn_main;
	const char *expected = "OK";
};

class Client
{
public:
	explicit Client(Side &made) : side_(made) {}
	void run(const Job &job);

private:
	void build(const Job &job);
	void build_cas(const Job &job);
	ibv_wc complete();
	[[nodiscard]] nlohmann::json describe(const Job &job) const;
	[[nodiscard]] nlohmann::json outcome(const Job &job, const ibv_wc &wc) const;
	[[nodiscard]] std::uint32_t psns(const Job &job) const;

	Side &side_;
	std::array<std::uint32_t, connections> psn_ = first_psn;
	prismdv_send_wr wr_{};
	ibv_sge sge_{};
	Operands operands_;
	unsigned serial_ = 0;
};

bool carries_payload(const Job &job)
{
	return (job.operation == PRISMDV_WR_WRITE && !(job.flags & flag_d)) || job.operation == PRISMDV_WR_ALLOCATE;
}

bool has_aux(const Job &job)
{
	return job.flags & (flag_d | flag_r);
}

/* Counts as W.7 says, independent of the device. */
std::uint32_t Client::psns(const Job &job) const
{
	const bool long_one = carries_payload(job) || (job.operation == PRISMDV_WR_READ && !(job.flags & flag_r));
	return long_one ? std::max(1U, (job.length + mtu - 1) / mtu) : 1;
}

void Client::build_cas(const Job &job)
{
	for (unsigned i = 0; i < 32; i++) {
		operands_.compare[i] = static_cast<std::uint8_t>(serial_ + i);
		operands_.swap[i] = static_cast<std::uint8_t>(3 * serial_ + i);
		operands_.swap_mask[i] = static_cast<std::uint8_t>(i % 3 ? 0xff : 0x5a);
		operands_.compare_mask[i] = job.hit && job.mode == PRISMDV_CAS_EQ ? 0 : 0xff;
	}
	if (job.mode != PRISMDV_CAS_EQ)
		operands_.compare.fill(job.hit == (job.mode == PRISMDV_CAS_GT) ? 0xff : 0x00);
	wr_.cas = {.mode = job.mode,
		.flags = job.cas_flags,
		.length = static_cast<std::uint16_t>(job.length),
		.reserved = 0,
		.compare = operands_.compare.data(),
		.swap = operands_.swap.data(),
		.compare_mask = operands_.compare_mask.data(),
		.swap_mask = operands_.swap_mask.data()};
}

void Client::build(const Job &job)
{
	serial_++;
	for (std::size_t i = 0; i < buffer_size * 2; i++)
		side_.memory[i] = static_cast<std::uint8_t>(carries_payload(job) ? i + serial_ : 0);
	wr_ = {};
	wr_.wr.opcode = static_cast<ibv_wr_opcode>(job.operation);
	wr_.wr.send_flags = IBV_SEND_SIGNALED;
	wr_.wr.wr.rdma.remote_addr = side_.peer.base + job.target;
	wr_.wr.wr.rdma.rkey = side_.peer.rkey ^ job.key_error;
	wr_.flags = job.flags;
	sge_ = {side_.mine.base, job.length, side_.mr->lkey};
	const bool no_local = (job.operation == PRISMDV_WR_WRITE && (job.flags & flag_d)) ||
			      (job.operation == PRISMDV_WR_READ && (job.flags & flag_r));
	wr_.wr.sg_list = &sge_;
	wr_.wr.num_sge = no_local || job.length == 0 ? 0 : 1;
	if (has_aux(job))
		wr_.aux = {side_.peer.base + job.aux, side_.peer.rkey, no_local ? job.length : 0};
	if (job.operation == PRISMDV_WR_CAS)
		build_cas(job);
	if (job.operation == PRISMDV_WR_ALLOCATE)
		wr_.allocate = {job.empty_list ? side_.peer.empty_list : side_.peer.free_list,
			(job.flags & flag_b) ? 0xabcd0000 + serial_ : 0,
			{side_.mine.base + memory_size - 64, 8, side_.mr->lkey}};
}

nlohmann::json Client::describe(const Job &job) const
{
	static constexpr std::array names{"READ", "WRITE", "CAS", "ALLOCATE"};
	const unsigned index = job.operation - PRISMDV_WR_READ;
	nlohmann::json out{{"operation", names.at(index)}, {"flags", letters(job.flags)}, {"length", job.length},
		{"psn", psn_[job.connection]}, {"connection", job.connection}, {"mtu", mtu},
		{"responder_qpn", side_.peer.qpn[job.connection]}, {"requester_qpn", side_.mine.qpn[job.connection]}};
	if (job.operation != PRISMDV_WR_ALLOCATE) {
		out["va"] = wr_.wr.wr.rdma.remote_addr;
		out["rkey"] = wr_.wr.wr.rdma.rkey;
	} else {
		out["free_list"] = wr_.allocate.free_list;
		out["tag"] = wr_.allocate.tag;
	}
	if (has_aux(job)) {
		out["aux_va"] = wr_.aux.addr;
		out["aux_rkey"] = wr_.aux.rkey;
	}
	if (job.operation == PRISMDV_WR_CAS) {
		out["mode"] = job.mode;
		out["cas_flags"] = job.cas_flags;
		out["compare"] = hex(operands_.compare.data(), job.length);
		out["swap"] = hex(operands_.swap.data(), job.length);
		out["compare_mask"] = hex(operands_.compare_mask.data(), job.length);
		out["swap_mask"] = hex(operands_.swap_mask.data(), job.length);
	}
	if (carries_payload(job))
		out["payload"] = hex(side_.memory.data(), job.length);
	return out;
}

ibv_wc Client::complete()
{
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
	ibv_wc wc{};
	for (int got = 0; got == 0;) {
		got = ibv_poll_cq(side_.cq.get(), 1, &wc);
		if (got < 0 || std::chrono::steady_clock::now() > deadline)
			fail("ibv_poll_cq", ETIMEDOUT);
	}
	return wc;
}

std::string status_name(const ibv_wc &wc)
{
	return wc.status == IBV_WC_SUCCESS ? prismdv_status_str(wc.vendor_err) : ibv_wc_status_str(wc.status);
}

nlohmann::json Client::outcome(const Job &job, const ibv_wc &wc) const
{
	std::uint64_t address = 0;
	nlohmann::json out{{"status", status_name(wc)}, {"bytes", wc.status == IBV_WC_SUCCESS ? wc.byte_len : 0}};
	if (job.operation == PRISMDV_WR_ALLOCATE) {
		std::memcpy(&address, &side_.memory[memory_size - 64], sizeof(address));
		out["address"] = address;
	} else if (!carries_payload(job) && wc.status == IBV_WC_SUCCESS) {
		out["received"] = hex(side_.memory.data(), job.operation == PRISMDV_WR_CAS ? job.length : wc.byte_len);
	}
	return out;
}

void Client::run(const Job &job)
{
	ibv_send_wr *bad = nullptr;
	build(job);
	nlohmann::json line = describe(job);
	check_errno(ibv_post_send(side_.qps[job.connection].get(), &wr_.wr, &bad), "ibv_post_send");
	const ibv_wc wc = complete();
	line["outcome"] = outcome(job, wc);
	std::cout << line << std::endl;
	if (status_name(wc) != job.expected)
		throw std::runtime_error(
			line["operation"].get<std::string>() + ": " + status_name(wc) + " instead of " + job.expected);
	psn_[job.connection] = (psn_[job.connection] + psns(job)) & psn_mask;
}

/* Returns every subset of @allowed in which B has one of the flags that it needs. */
std::vector<std::uint32_t> combinations(std::uint32_t allowed, std::uint32_t b_needs)
{
	std::vector<std::uint32_t> all;
	for (std::uint32_t flags = 0; flags <= allowed; flags++) {
		if ((flags & ~allowed) == 0 && (!(flags & flag_b) || (flags & b_needs)))
			all.push_back(flags);
	}
	return all;
}

std::uint64_t data_target(std::uint32_t flags)
{
	if (flags & flag_b)
		return at_bounded;
	return flags & flag_t ? at_pointer : at_data;
}

void every_combination(Client &client)
{
	for (const std::uint32_t flags : combinations(flag_t | flag_b | flag_c | flag_r, flag_t))
		client.run({.operation = PRISMDV_WR_READ, .flags = flags, .target = data_target(flags), .length = 61});
	for (const std::uint32_t flags : combinations(flag_t | flag_b | flag_c | flag_d, flag_t))
		client.run({.operation = PRISMDV_WR_WRITE, .flags = flags, .target = data_target(flags), .length = 35});
	for (const std::uint32_t flags : combinations(flag_t | flag_c | flag_d, 0))
		client.run({.operation = PRISMDV_WR_CAS,
			.flags = flags,
			.target = flags & flag_t ? at_cas_pointer : at_cas,
			.length = 16});
	for (const std::uint32_t flags : combinations(flag_b | flag_c | flag_r, flag_r))
		client.run({.operation = PRISMDV_WR_ALLOCATE, .flags = flags, .length = 22});
}

void every_comparison(Client &client)
{
	for (const std::uint32_t n : {8U, 16U, 32U}) {
		for (const std::uint8_t mode : {PRISMDV_CAS_EQ, PRISMDV_CAS_GT, PRISMDV_CAS_LT})
			client.run({.operation = PRISMDV_WR_CAS, .target = at_cas, .length = n, .mode = mode});
		client.run({.operation = PRISMDV_WR_CAS,
			.flags = flag_d,
			.target = at_cas,
			.length = n,
			.cas_flags = PRISMDV_CAS_COMPARE_DATA});
	}
}

void several_packets(Client &client)
{
	for (const std::uint32_t flags : {0U, flag_t, flag_c})
		client.run(
			{.operation = PRISMDV_WR_READ, .flags = flags, .target = data_target(flags), .length = 2500});
	client.run({.operation = PRISMDV_WR_READ, .flags = flag_t | flag_b, .target = at_bounded_long, .length = 4000});
	for (const std::uint32_t length : {1025U, 2048U, 2501U, 8000U}) {
		client.run({.operation = PRISMDV_WR_WRITE, .target = at_data, .length = length});
		client.run({.operation = PRISMDV_WR_WRITE, .flags = flag_c, .target = at_data, .length = length});
	}
	for (const std::uint32_t flags : {0U, flag_c, flag_r, flag_b | flag_r, flag_b | flag_c | flag_r})
		client.run({.operation = PRISMDV_WR_ALLOCATE, .flags = flags, .length = 3001});
	client.run({.operation = PRISMDV_WR_READ, .flags = flag_r, .target = at_data, .length = 5000});
	client.run({.operation = PRISMDV_WR_WRITE, .flags = flag_d, .target = at_data, .length = 5000});
}

void no_bytes(Client &client)
{
	client.run({.operation = PRISMDV_WR_READ, .target = at_data});
	client.run({.operation = PRISMDV_WR_READ, .flags = flag_t | flag_b, .target = at_bound_zero, .length = 3000});
	client.run({.operation = PRISMDV_WR_WRITE, .target = at_data});
	client.run({.operation = PRISMDV_WR_ALLOCATE});
}

void every_status(Client &client)
{
	client.run({.operation = PRISMDV_WR_CAS,
		.target = at_cas,
		.length = 32,
		.mode = PRISMDV_CAS_GT,
		.hit = false,
		.expected = "CAS_MISS"});
	const char *skipped = "SKIPPED";
	client.run({.operation = PRISMDV_WR_READ,
		.flags = flag_c,
		.target = at_data,
		.length = 3000,
		.expected = skipped});
	client.run({.operation = PRISMDV_WR_WRITE,
		.flags = flag_c,
		.target = at_data,
		.length = 3000,
		.expected = skipped});
	client.run({.operation = PRISMDV_WR_CAS, .flags = flag_c, .target = at_cas, .length = 8, .expected = skipped});
	client.run({.operation = PRISMDV_WR_ALLOCATE, .flags = flag_c, .length = 1500, .expected = skipped});
	const char *null = "NULL_POINTER";
	client.run(
		{.operation = PRISMDV_WR_READ, .flags = flag_t, .target = at_null, .length = 3000, .expected = null});
	client.run({.operation = PRISMDV_WR_READ,
		.flags = flag_t | flag_r,
		.target = at_null,
		.length = 8,
		.expected = null});
	client.run({.operation = PRISMDV_WR_WRITE, .flags = flag_t, .target = at_null, .length = 8, .expected = null});
	client.run({.operation = PRISMDV_WR_CAS, .flags = flag_t, .target = at_null, .length = 8, .expected = null});
	client.run({.operation = PRISMDV_WR_ALLOCATE, .length = 9, .empty_list = true, .expected = "NO_BUFFER"});
	client.run({.operation = PRISMDV_WR_ALLOCATE, .length = buffer_size + 1, .expected = "NO_BUFFER"});
}

void every_fault(Client &client)
{
	client.run({.operation = PRISMDV_WR_READ,
		.target = at_data,
		.length = 8,
		.key_error = 0x5500,
		.connection = conn_access,
		.expected = ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR)});
	client.run({.operation = PRISMDV_WR_CAS,
		.flags = flag_t,
		.target = at_misaligned,
		.length = 8,
		.connection = conn_alignment,
		.expected = ibv_wc_status_str(IBV_WC_REM_INV_REQ_ERR)});
}

void ask(Side &side, const char *host, const char *port)
{
	const auto sock = open_socket(host, port);
	side.meet(*sock);
	Client client(side);
	every_combination(client);
	every_comparison(client);
	several_packets(client);
	no_bytes(client);
	every_status(client);
	every_fault(client);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5) {
		std::fprintf(stderr, "usage: %s DEVICE GID-INDEX PORT [HOST]\n", argv[0]);
		return EXIT_FAILURE;
	}
	try {
		Side side(argv[1], std::stoi(argv[2]));
		argc == 5 ? ask(side, argv[4], argv[3]) : serve(side, argv[3]);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "wire_probe: %s\n", error.what());
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

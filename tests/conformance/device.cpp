/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "device.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "ticks.hpp"

namespace prism::conformance
{

namespace
{

constexpr std::size_t page_size = 4096;

void must_be_destroyed(int error, const char *what)
{
	if (!error)
		return;
	std::fprintf(stderr, "FAIL: %s: %s\n", what, std::strerror(error));
	std::abort();
}

std::size_t in_pages(std::size_t bytes)
{
	return (bytes + page_size - 1) / page_size * page_size;
}

} // namespace

void check(int error, const char *what)
{
	if (error)
		throw std::system_error(error > 0 ? error : errno, std::generic_category(), what);
}

void check_made(const void *object, const char *what)
{
	if (!object)
		throw std::system_error(errno, std::generic_category(), what);
}

void Destroy::operator()(ibv_context *context) const
{
	must_be_destroyed(ibv_close_device(context), "ibv_close_device");
}
void Destroy::operator()(ibv_pd *pd) const
{
	must_be_destroyed(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
}
void Destroy::operator()(ibv_mr *mr) const
{
	must_be_destroyed(ibv_dereg_mr(mr), "ibv_dereg_mr");
}
void Destroy::operator()(ibv_mw *mw) const
{
	must_be_destroyed(ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}
void Destroy::operator()(ibv_cq *cq) const
{
	must_be_destroyed(ibv_destroy_cq(cq), "ibv_destroy_cq");
}
void Destroy::operator()(ibv_qp *qp) const
{
	must_be_destroyed(ibv_destroy_qp(qp), "ibv_destroy_qp");
}
void Destroy::operator()(ibv_srq *srq) const
{
	must_be_destroyed(ibv_destroy_srq(srq), "ibv_destroy_srq");
}

/* Memory ------------------------------------------------------------------------------------------------------- */

Pages::Pages(std::size_t size, std::size_t offset) : size_(size), offset_(offset), mapped_(in_pages(offset + size))
{
	void *at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (at == MAP_FAILED)
		throw std::system_error(errno, std::generic_category(), "mmap");
	start_ = static_cast<std::uint8_t *>(at);
}

Pages::Pages(Pages &&other) noexcept
	: start_(std::exchange(other.start_, nullptr)), size_(other.size_), offset_(other.offset_),
	  mapped_(other.mapped_)
{
}

Pages::~Pages()
{
	if (start_)
		munmap(start_, mapped_);
}

void Pages::protect() const
{
	check(mprotect(start_, mapped_, PROT_READ), "mprotect");
}

MemoryRegion::MemoryRegion(ibv_pd *pd, std::size_t size, unsigned access, std::optional<std::uint64_t> va)
	: pages_(size, va.value_or(0) % page_size), va_(va.value_or(pages_.va())),
	  mr_(made(ibv_reg_mr_iova2(pd, pages_.data(), size, va_, access), "ibv_reg_mr"))
{
}

std::uint64_t MemoryRegion::word(std::size_t offset) const
{
	std::uint64_t value;
	std::memcpy(&value, data() + offset, sizeof(value));
	return value;
}

void MemoryRegion::put(std::size_t offset, std::uint64_t value) const
{
	std::memcpy(data() + offset, &value, sizeof(value));
}

/* The device --------------------------------------------------------------------------------------------------- */

namespace
{

Owned<ibv_context> open_device(const std::string &name)
{
	ibv_device **list = made(prismdv_get_device_list(nullptr), "prismdv_get_device_list");
	Owned<ibv_context> context;
	for (ibv_device **at = list; *at && !context; at++)
		if (name == ibv_get_device_name(*at) && prismdv_is_supported(*at))
			context.reset(prismdv_open_device(*at, nullptr));
	prismdv_free_device_list(list);
	if (!context)
		throw std::runtime_error("there is no PRISM device " + name);
	return context;
}

std::string counter_path(const std::string &device, const std::string &name)
{
	return "/sys/class/infiniband/" + device + "/ports/1/hw_counters/" + name;
}

bool is_link_local(const ibv_gid &gid)
{
	return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}

bool is_ipv4(const ibv_gid &gid)
{
	static constexpr std::uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return !std::memcmp(gid.raw, prefix, sizeof(prefix));
}

} // namespace

Device::Device(const std::string &name)
	: name_(name), context_(open_device(name)), pd_(made(ibv_alloc_pd(context_.get()), "ibv_alloc_pd"))
{
	check(prismdv_query_capability(context_.get(), &capability_), "prismdv_query_capability");
	check(fcntl(context_->async_fd, F_SETFL, fcntl(context_->async_fd, F_GETFL) | O_NONBLOCK), "fcntl");
	std::ofstream(counter_path(name_, "lifespan")) << 0;
}

int Device::index_of(const ibv_gid &gid) const
{
	ibv_port_attr port{};
	check(ibv_query_port(context(), 1, &port), "ibv_query_port");
	for (int i = 0; i < port.gid_tbl_len; i++) {
		ibv_gid entry;
		if (!prismdv_query_gid(context(), 1, i, &entry) && !std::memcmp(&entry, &gid, sizeof(gid)))
			return i;
	}
	throw std::runtime_error(name_ + " has no such GID");
}

ibv_gid Device::some_gid(bool ipv6) const
{
	ibv_port_attr port{};
	check(ibv_query_port(context(), 1, &port), "ibv_query_port");
	for (int i = 0; i < port.gid_tbl_len; i++) {
		ibv_gid entry;
		if (!prismdv_query_gid(context(), 1, i, &entry) && is_ipv4(entry) != ipv6 && !is_link_local(entry))
			return entry;
	}
	throw std::runtime_error(name_ + " has no address of this family");
}

bool Device::has_counter(const std::string &counter) const
{
	return std::ifstream(counter_path(name_, counter)).good();
}

std::vector<std::uint64_t> Device::counters(const std::vector<std::string> &names) const
{
	/* With a lifespan of 0 the kernel still returns values that it read in the same tick. */
	test::ticks::await_another(counters_read_);
	std::vector<std::uint64_t> values;
	for (const std::string &counter : names) {
		std::uint64_t value = 0;
		if (!(std::ifstream(counter_path(name_, counter)) >> value))
			throw std::runtime_error(name_ + " has no counter " + counter);
		values.push_back(value);
	}
	counters_read_ = test::ticks::now();
	return values;
}

constexpr std::size_t max_events = 1000;

std::vector<ibv_event_type> Device::take_events() const
{
	std::vector<ibv_event_type> types;
	ibv_async_event event;
	/* Limited: events may arrive faster than a slow kernel hands them out. */
	while (types.size() < max_events && !ibv_get_async_event(context(), &event)) {
		types.push_back(event.event_type);
		ibv_ack_async_event(&event);
	}
	return types;
}

/* Queues ------------------------------------------------------------------------------------------------------- */

Owned<ibv_cq> create_cq(const Device &device, int entries)
{
	return Owned<ibv_cq>(made(ibv_create_cq(device.context(), entries, nullptr, nullptr, 0), "ibv_create_cq"));
}

Owned<ibv_qp> create_qp(const Device &device, ibv_pd *pd, ibv_cq *cq, const QpLimits &limits)
{
	ibv_qp_init_attr_ex attr{};
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.srq = limits.srq;
	attr.cap = {limits.send_wr, limits.recv_wr, limits.sge, limits.sge, limits.inline_data};
	attr.qp_type = limits.type;
	attr.sq_sig_all = 0;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = pd;
	return Owned<ibv_qp>(made(limits.prism ? prismdv_create_qp(device.context(), &attr, nullptr)
					       : ibv_create_qp_ex(device.context(), &attr),
		"create_qp"));
}

Owned<ibv_srq> create_srq(
	const Device &device, ibv_pd *pd, std::uint32_t entries, bool free_list, std::uint32_t *capacity)
{
	ibv_srq_init_attr_ex attr{};
	attr.attr.max_wr = entries;
	attr.attr.max_sge = 1;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attr.srq_type = IBV_SRQT_BASIC;
	attr.pd = pd;
	const prismdv_srq_init_attr prism{0, free_list ? std::uint32_t{PRISMDV_SRQ_FREE_LIST} : 0u, {}};
	Owned<ibv_srq> srq(made(prismdv_create_srq(device.context(), &attr, &prism), "prismdv_create_srq"));
	ibv_srq_attr made_attr{};
	check(ibv_query_srq(srq.get(), &made_attr), "ibv_query_srq");
	if (capacity)
		*capacity = made_attr.max_wr;
	return srq;
}

std::uint32_t number_of(ibv_srq *srq)
{
	std::uint32_t number;
	check(ibv_get_srq_num(srq, &number), "ibv_get_srq_num");
	return number;
}

int post_buffer(ibv_srq *list, std::uint64_t id, const ibv_sge &sge)
{
	ibv_sge copy = sge;
	ibv_recv_wr wr{id, nullptr, &copy, 1};
	ibv_recv_wr *bad;
	return ibv_post_srq_recv(list, &wr, &bad);
}

/* Connections -------------------------------------------------------------------------------------------------- */

ibv_mtu mtu_code(std::uint32_t bytes)
{
	ibv_mtu code = IBV_MTU_256;
	for (std::uint32_t size = 256; size < bytes; size *= 2)
		code = static_cast<ibv_mtu>(code + 1);
	return code;
}

int set_state(ibv_qp *qp, ibv_qp_state state)
{
	ibv_qp_attr attr{};
	attr.qp_state = state;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

ibv_qp_state state_of(ibv_qp *qp)
{
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};
	check(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	return attr.qp_state;
}

void connect(const Device &device, ibv_qp *qp, const Path &path)
{
	check(set_state(qp, IBV_QPS_RESET), "to RESET");
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = path.access;
	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		"to INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = mtu_code(path.mtu);
	attr.dest_qp_num = path.qpn;
	attr.rq_psn = path.recv_psn;
	attr.max_dest_rd_atomic = path.dest_rd_atomic;
	attr.min_rnr_timer = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = path.destination;
	attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(device.index_of(path.source));
	attr.ah_attr.grh.hop_limit = 64;
	check(ibv_modify_qp(qp, &attr,
		      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		"to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = path.timeout;
	attr.retry_cnt = path.retry;
	attr.rnr_retry = 7;
	attr.sq_psn = path.send_psn;
	attr.max_rd_atomic = path.rd_atomic;
	check(ibv_modify_qp(qp, &attr,
		      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			      IBV_QP_MAX_QP_RD_ATOMIC),
		"to RTS");
	const int declared = prismdv_set_peer_capability(qp, &device.capability());
	if (declared != EOPNOTSUPP) /* a queue pair of plain verbs */
		check(declared, "prismdv_set_peer_capability");
}

void connect_both(const Device &device, ibv_qp *a, ibv_qp *b, Path path)
{
	path.qpn = b->qp_num;
	connect(device, a, path);
	std::swap(path.source, path.destination);
	std::swap(path.send_psn, path.recv_psn);
	path.qpn = a->qp_num;
	connect(device, b, path);
}

bool wait_until(const std::function<bool()> &done, Clock::duration limit)
{
	const auto deadline = Clock::now() + limit;
	while (!done()) {
		if (Clock::now() > deadline)
			return false;
		std::this_thread::yield();
	}
	return true;
}

std::optional<ibv_wc> next_completion(ibv_cq *cq, Clock::duration limit)
{
	ibv_wc wc{};
	if (wait_until([&] { return ibv_poll_cq(cq, 1, &wc) != 0; }, limit))
		return wc;
	return {};
}

} // namespace prism::conformance

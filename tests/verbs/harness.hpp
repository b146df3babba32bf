/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two hosts on one device or two, queue pairs between them, and one description of a request for both styles of
 * posting. */
#pragma once

#include <infiniband/prismdv.h>
#include <infiniband/verbs.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace verbs_test
{

/** The devices of both sides, from the command line (main.cpp). */
struct Devices {
	std::string client = "prism_lo";
	std::string server = client;
	bool kernel = false;                            /* they are the module's */
	std::chrono::milliseconds counters_lifespan{0}; /* how long the kernel keeps their counters */
};
extern Devices devices;

/** Returns the expected value for a standard request for which rxe, and so the module, differs from our device. */
template <typename Value>
Value rxe_says(Value of_rxe, Value ours)
{
	return devices.kernel ? of_rxe : ours;
}

/** Counters that the device does not have, and how often a test would have compared them. */
extern std::map<std::string, int> missing_counters;

/** Ends the running test, for a reason that main.cpp counts. */
void skip(const std::string &reason);

/* Objects: destroyed in reverse order, and each destroy call must succeed. */
struct Destroy {
	void operator()(ibv_pd *pd) const { EXPECT_EQ(ibv_dealloc_pd(pd), 0); }
	void operator()(ibv_mr *mr) const { EXPECT_EQ(ibv_dereg_mr(mr), 0); }
	void operator()(ibv_cq *cq) const { EXPECT_EQ(ibv_destroy_cq(cq), 0); }
	void operator()(ibv_qp *qp) const { EXPECT_EQ(ibv_destroy_qp(qp), 0); }
	void operator()(ibv_srq *srq) const { EXPECT_EQ(ibv_destroy_srq(srq), 0); }
	void operator()(ibv_mw *mw) const { EXPECT_EQ(ibv_dealloc_mw(mw), 0); }
	void operator()(ibv_dm *dm) const { EXPECT_EQ(ibv_free_dm(dm), 0); }
	void operator()(ibv_comp_channel *channel) const { EXPECT_EQ(ibv_destroy_comp_channel(channel), 0); }
	void operator()(std::uint8_t *memory) const { std::free(memory); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

constexpr unsigned all_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
constexpr std::uint64_t all_features = (1 << 7) - 1;
constexpr std::uint32_t no_buffer = PRISMDV_STATUS_NO_BUFFER;

/** Registered memory, page-aligned and zeroed. */
class Region
{
public:
	Region(ibv_pd *pd, std::size_t length, unsigned access = all_access);

	[[nodiscard]] std::uint64_t at(std::size_t offset = 0) const { return base() + offset; }
	[[nodiscard]] std::uint8_t *bytes(std::size_t offset = 0) const { return memory_.get() + offset; }
	[[nodiscard]] std::uint32_t key() const { return mr_->rkey; }
	[[nodiscard]] std::size_t length() const { return length_; }
	[[nodiscard]] ibv_sge sge(std::size_t offset, std::uint32_t length) const
	{
		return {at(offset), length, mr_->lkey};
	}
	[[nodiscard]] std::uint64_t word(std::size_t offset) const;
	void put(std::size_t offset, std::uint64_t value) const { std::memcpy(bytes(offset), &value, sizeof(value)); }
	void put(std::size_t offset, const prismdv_bounded_ptr &value) const
	{
		std::memcpy(bytes(offset), &value, sizeof(value));
	}
	void put(std::size_t offset, const std::string &text) const
	{
		std::memcpy(bytes(offset), text.data(), text.size());
	}
	[[nodiscard]] std::string text(std::size_t offset, std::size_t length) const;
	/** Fills with bytes that differ from place to place, and between seeds. */
	void fill(std::size_t offset, std::size_t length, unsigned seed) const;
	[[nodiscard]] ibv_mr *mr() const { return mr_.get(); }
	void deregister() { mr_.reset(); }

private:
	[[nodiscard]] std::uint64_t base() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }

	std::size_t length_;
	std::unique_ptr<std::uint8_t, Destroy> memory_;
	Owned<ibv_mr> mr_;
};

std::shared_ptr<ibv_context> open_device(const std::string &name, prismdv_progress_mode progress);

/** One side: a context, which two of them may share, with a protection domain, a completion queue and memory. */
struct Host {
	explicit Host(std::shared_ptr<ibv_context> shared);

	/** Returns all counters, as they are now. */
	[[nodiscard]] std::map<std::string, std::uint64_t> counters() const;
	[[nodiscard]] std::uint64_t counter(const std::string &name) const;
	/** Returns false for counters that the module does not have; main.cpp lists these. */
	[[nodiscard]] bool counts(const std::string &name) const;
	/** Makes everything that the engine thread did before visible, and vice versa. */
	void sync() const
	{
		if (!devices.kernel)
			prismdv_query_counters(context.get(), nullptr, 0);
	}
	union ibv_gid gid(bool ipv6, int &index) const;
	Region region(std::size_t length, unsigned access = all_access) const { return {pd.get(), length, access}; }

	std::shared_ptr<ibv_context> context;
	Owned<ibv_pd> pd;
	Owned<ibv_cq> cq;
	Region memory;
};

struct QpOptions {
	bool prism = true;
	std::uint32_t send_wr = 64;
	std::uint32_t recv_wr = 64;
	std::uint32_t sge = 4;
	std::uint32_t inline_data = 256;
	bool signal_all = false;
	ibv_cq *send_cq = nullptr; /* the host's, if none is named */
	ibv_cq *recv_cq = nullptr;
	ibv_srq *srq = nullptr;
	ibv_pd *pd = nullptr;
};

struct PathOptions {
	ibv_mtu mtu = IBV_MTU_1024;
	unsigned access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	std::uint8_t rd_atomic = 16;
	std::uint8_t dest_rd_atomic = 16;
	std::uint8_t timeout = 14;
	std::uint8_t retry = 7;
	std::uint8_t rnr_retry = 7;
	std::uint8_t min_rnr_timer = 1;
	bool declare = true;
};

Owned<ibv_qp> create_qp(const Host &host, const QpOptions &options = {});

/** A request, standard or PRISM; the members after @c sges are those of its kind. */
struct Op {
	unsigned opcode = IBV_WR_SEND;
	std::vector<ibv_sge> sges;
	std::uint32_t rkey = 0;
	std::uint64_t remote = 0;
	std::uint64_t wr_id = 1;
	unsigned send_flags = IBV_SEND_SIGNALED;
	std::uint64_t compare_add = 0;
	std::uint64_t swap = 0;
	std::uint32_t value = 0; /* immediate, or key to invalidate */
	ibv_mw *window = nullptr;
	ibv_mw_bind_info bind{};
	std::uint32_t flags = 0;
	prismdv_aux aux{};
	prismdv_cas cas{};
	prismdv_allocate allocation{};

	Op &id(std::uint64_t id_) { return wr_id = id_, *this; }
	Op &unsignaled() { return send_flags &= ~IBV_SEND_SIGNALED, *this; }
	Op &with(unsigned more) { return send_flags |= more, *this; }
	Op &indirect() { return flags |= PRISMDV_WR_INDIRECT, *this; }
	Op &bounded() { return flags |= PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED, *this; }
	Op &conditional() { return flags |= PRISMDV_WR_CONDITIONAL, *this; }
	Op &redirect(std::uint64_t addr, std::uint32_t key, std::uint32_t length = 0)
	{
		return flags |= PRISMDV_WR_REDIRECT, aux = {addr, key, length}, *this;
	}
	Op &redirect_bounded(std::uint64_t addr, std::uint32_t key)
	{
		return flags |= PRISMDV_WR_BOUNDED, redirect(addr, key);
	}
	Op &data_from(std::uint64_t addr, std::uint32_t key, std::uint32_t length = 0)
	{
		return flags |= PRISMDV_WR_DATA_INDIRECT, aux = {addr, key, length}, *this;
	}
	Op &result(const ibv_sge &sge) { return allocation.result = sge, *this; }
	[[nodiscard]] bool is_prism() const { return opcode >= PRISMDV_WR_READ && opcode <= PRISMDV_WR_ALLOCATE; }
};

Op standard(ibv_wr_opcode opcode, std::vector<ibv_sge> sges, const Region *target = nullptr, std::size_t offset = 0);
Op prism_read(std::vector<ibv_sge> sges, const Region &target, std::size_t offset = 0);
Op prism_write(std::vector<ibv_sge> sges, const Region &target, std::size_t offset = 0);
Op prism_allocate(std::vector<ibv_sge> sges, ibv_srq *list, std::uint32_t tag = 0);

/** The operands of a CAS of 8 bytes; the work request points at them. */
struct Cas8 {
	std::uint64_t compare = 0;
	std::uint64_t swap = 0;
	prismdv_cas_mode mode = PRISMDV_CAS_EQ;
	[[nodiscard]] prismdv_cas operands() const
	{
		return {static_cast<std::uint8_t>(mode), 0, 8, 0, &compare, &swap, nullptr, nullptr};
	}
};
Op prism_cas(std::vector<ibv_sge> sges, const Region &target, std::size_t offset, const prismdv_cas &cas);

enum class Style {
	list,
	builder
};

/** Differences between two runs of a test. */
struct Variant {
	const char *name;
	bool one_context = false;
	bool ipv6 = false;
	prismdv_progress_mode progress = PRISMDV_PROGRESS_INLINE;
	Style style = Style::list;
	bool about_progress = false; /* differs from another variant only in its progress mode */
};

void PrintTo(const Variant &variant, std::ostream *out);

/** A client and a server with a connected pair of queue pairs. */
class Fabric : public testing::Test
{
protected:
	explicit Fabric(const Variant &variant = {"default"});
	~Fabric() override;

	void connect(const PathOptions &options = {}) { connect(options, options); }
	/** Connects with options of the client's end, and of the server's. */
	void connect(const PathOptions &near, const PathOptions &far);
	void connect(ibv_qp *a, const Host &at_a, ibv_qp *b, const Host &at_b, const PathOptions &near = {},
		const PathOptions &far = {});
	void disconnect();
	void pump() const;
	bool pump_until(const std::function<bool()> &done, int milliseconds = 10000) const;

	int post(std::vector<Op> ops, std::size_t *posted = nullptr)
	{
		return post_to(qp.get(), std::move(ops), posted);
	}
	int post_to(ibv_qp *to, std::vector<Op> ops, std::size_t *posted = nullptr);
	std::optional<ibv_wc> next(ibv_cq *cq, int milliseconds = 10000);
	/** Posts one request and waits for its completion. */
	ibv_wc run(const Op &op);
	/** As run(), for a PRISM request that ends without an error; returns its status. */
	std::uint32_t status(const Op &op, std::uint32_t *byte_len = nullptr);
	/** True if the request is never seen: the queue stays empty after another, later request. */
	void expect_fault(const Op &op, ibv_wc_status client_status, ibv_event_type event, const std::string &counter);
	std::optional<ibv_event_type> async_event(const Host &host, int milliseconds = 2000) const;
	void post_recv(ibv_qp *at, const ibv_sge &sge, std::uint64_t id = 1);

	Variant variant_;
	std::unique_ptr<Host> client_, server_;
	Host &client, &server;
	Owned<ibv_qp> qp, peer;
};

class EachVariant : public Fabric, public testing::WithParamInterface<Variant>
{
protected:
	EachVariant() : Fabric(GetParam()) {}
};

std::vector<Variant> all_variants();
std::string variant_name(const testing::TestParamInfo<Variant> &info);

ibv_qp_attr init_attr(unsigned access);
ibv_qp_state state_of(ibv_qp *qp);
int move_to(ibv_qp *qp, ibv_qp_state state);
/** Moves a UD queue pair from RESET to RTS. */
void ready_for_datagrams(ibv_qp *qp, std::uint32_t qkey = 0);

/** A free list of @p count buffers of @p size bytes, which lie in @p storage. */
class FreeList
{
public:
	FreeList(const Host &host, std::uint32_t max_wr, ibv_pd *pd = nullptr);

	int post(const ibv_sge &sge, std::uint64_t id = 0) const;
	[[nodiscard]] prismdv_free_list_attr query() const;
	[[nodiscard]] std::vector<prismdv_rejected_entry> rejected() const;
	[[nodiscard]] ibv_srq *get() const { return srq_.get(); }
	void destroy() { srq_.reset(); }

private:
	Owned<ibv_srq> srq_;
};

} // namespace verbs_test

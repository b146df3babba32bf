/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two queue pairs of a kernel device, connected to each other: requests go through verbs alone. */
#include <algorithm>
#include <cerrno>
#include <utility>

#include "device_world.hpp"
#include "random.hpp"

namespace prism::conformance
{

using reference::Op;
using reference::Outcome;
using reference::Request;
using reference::Rights;
using reference::Status;
using reference::Verdict;

namespace
{

/* Local memory of the requester: a piece for each request of a batch. A READ may ask for more than it can get. */
constexpr std::size_t piece_size = 64 << 10;
constexpr std::size_t local_size = 4 << 20;
constexpr std::size_t watched = 12 << 10; /* bytes of a piece that must not change unless they are answered */
constexpr std::uint8_t untouched = 0xa5;

/** A work request and the data that it points at. */
struct Posted {
	prismdv_send_wr wr{};
	std::vector<ibv_sge> sges;
};

class DeviceBackend final : public Backend
{
public:
	explicit DeviceBackend(const std::string &name)
		: device_(name), world_(device_), local_(device_.pd(), local_size, IBV_ACCESS_LOCAL_WRITE),
		  cq_(create_cq(device_)), responder_cq_(create_cq(device_)),
		  requester_(create_qp(device_, device_.pd(), cq_.get())),
		  responder_(create_qp(device_, device_.pd(), responder_cq_.get())), faults_(device_)
	{
	}

	[[nodiscard]] const char *name() const override { return "device"; }
	[[nodiscard]] bool checks_qp_access() const override { return true; }
	[[nodiscard]] bool raw() const override { return false; }
	void build(reference::World &world) override;
	void reset(const Rights &access) override;
	void poke(std::uint64_t va, const Bytes &bytes) override { world_.poke(va, bytes); }
	void set_live(int region, bool live) override { world_.set_live(region, live); }
	bool post(int list, const reference::Entry &entry) override { return world_.post(list, entry); }
	bool refuses(const Request &request) override;
	std::vector<Outcome> run(std::span<const Request> requests) override;
	[[nodiscard]] std::span<const std::uint8_t> memory(std::size_t arena) const override
	{
		return world_.memory(arena);
	}
	[[nodiscard]] ListState list_state(int list) override { return world_.list_state(list); }
	[[nodiscard]] std::vector<reference::Rejected> take_rejected(int list) override
	{
		return world_.take_rejected(list);
	}
	[[nodiscard]] std::string complaint() override { return complaint_; }

private:
	void complain(std::string what)
	{
		if (complaint_.empty())
			complaint_ = std::move(what);
	}
	std::vector<ibv_sge> pieces(std::size_t offset, std::uint32_t length);
	void fill(Posted &posted, const Request &request, std::size_t index);
	void fill_sges(Posted &posted, const Request &request, std::size_t index);
	[[nodiscard]] Outcome outcome_of(const Request &request, std::size_t index, const ibv_wc &wc);
	void check_untouched(std::size_t index, std::size_t from);

	Device device_;
	DeviceWorld world_;
	MemoryRegion local_;
	Owned<ibv_cq> cq_, responder_cq_;
	Owned<ibv_qp> requester_, responder_;
	FaultCounters faults_;
	std::uint32_t mtu_ = 0;
	test::Random random_{1};
	std::string complaint_;
};

void DeviceBackend::build(reference::World &world)
{
	mtu_ = world.mtu;
	world_.build(world);
}

/** Sequence numbers start anywhere, often just before they wrap. */
void DeviceBackend::reset(const Rights &access)
{
	const auto psn = [this] {
		return static_cast<std::uint32_t>(
			       random_.chance(25) ? PRISM_PSN_MASK - random_.below(20) : random_.bits()) &
		       PRISM_PSN_MASK;
	};
	Path path;
	path.source = path.destination = device_.some_gid(random_.chance(50));
	path.mtu = mtu_;
	path.access = access_of(access);
	path.send_psn = psn();
	path.recv_psn = psn();
	connect_both(device_, requester_.get(), responder_.get(), path);
	ibv_wc wc;
	if (ibv_poll_cq(cq_.get(), 1, &wc) > 0)
		complain("a completion too many");
	device_.take_events();
}

/* Posting ------------------------------------------------------------------------------------------------------ */

/** Splits the range into one to three sges. */
std::vector<ibv_sge> DeviceBackend::pieces(std::size_t offset, std::uint32_t length)
{
	std::vector<ibv_sge> sges;
	while (sges.size() < 2 && length > 1 && random_.chance(40)) {
		const auto n = static_cast<std::uint32_t>(random_.between(0, length - 1));
		sges.push_back(local_.sge(offset, n));
		offset += n;
		length -= n;
	}
	sges.push_back(local_.sge(offset, length));
	return sges;
}

void DeviceBackend::fill_sges(Posted &posted, const Request &request, std::size_t index)
{
	const std::size_t offset = index * piece_size;
	if (request.carries_payload()) {
		std::copy(request.payload.begin(), request.payload.end(), local_.data() + offset);
		posted.sges = pieces(offset, static_cast<std::uint32_t>(request.payload.size()));
		if (request.payload.size() <= QpLimits{}.inline_data && random_.chance(50))
			posted.wr.wr.send_flags |= IBV_SEND_INLINE;
	} else if (request.op == Op::cas) {
		posted.sges = pieces(offset, request.size);
	} else if (request.op == Op::plain_swap || request.op == Op::plain_add) {
		posted.sges = pieces(offset, 8);
	} else if (request.op == Op::plain_read || (request.op == Op::read && !request.has(reference::redirect))) {
		posted.sges = pieces(offset, request.length);
	}
	posted.wr.wr.sg_list = posted.sges.data();
	posted.wr.wr.num_sge = static_cast<int>(posted.sges.size());
}

void DeviceBackend::fill(Posted &posted, const Request &request, std::size_t index)
{
	std::fill_n(local_.data() + index * piece_size, watched, untouched);
	posted.wr.wr.wr_id = index;
	posted.wr.wr.send_flags = IBV_SEND_SIGNALED;
	to_work_request(posted.wr, request,
		{world_.key(request.region), world_.key(request.aux_region), world_.number(request.list)},
		local_.sge(index * piece_size + piece_size / 2, 8));
	fill_sges(posted, request, index);
}

bool DeviceBackend::refuses(const Request &request)
{
	Posted posted;
	fill(posted, request, 0);
	ibv_send_wr *bad = nullptr;
	return ibv_post_send(requester_.get(), &posted.wr.wr, &bad) == EINVAL && bad == &posted.wr.wr;
}

/* Outcomes ----------------------------------------------------------------------------------------------------- */

void DeviceBackend::check_untouched(std::size_t index, std::size_t from)
{
	const std::uint8_t *piece = local_.data() + index * piece_size;
	if (from < watched && std::any_of(piece + from, piece + watched, [](std::uint8_t b) { return b != untouched; }))
		complain("local memory changed where nothing was answered");
}

Outcome DeviceBackend::outcome_of(const Request &request, std::size_t index, const ibv_wc &wc)
{
	Outcome outcome;
	if (wc.wr_id != index)
		complain("completions out of order");
	const std::uint8_t *piece = local_.data() + index * piece_size;
	if (wc.status == IBV_WC_SUCCESS) {
		const bool has_data = request.op == Op::cas || request.op == Op::plain_read ||
				      request.op == Op::plain_add || request.op == Op::plain_swap ||
				      (request.op == Op::read && !request.has(reference::redirect));
		outcome.status = static_cast<Status>(wc.vendor_err);
		outcome.byte_len = wc.byte_len;
		if (has_data)
			outcome.local.assign(piece, piece + std::min<std::size_t>(wc.byte_len, watched));
		if (request.op == Op::allocate)
			outcome.local.assign(piece + piece_size / 2, piece + piece_size / 2 + 8);
	} else if (wc.status == IBV_WC_WR_FLUSH_ERR) {
		outcome.verdict = Verdict::flushed;
	} else if (wc.status == IBV_WC_REM_INV_REQ_ERR) {
		outcome.verdict = Verdict::invalid_request;
	} else if (wc.status == IBV_WC_REM_ACCESS_ERR) {
		outcome.verdict = Verdict::access_error;
	} else {
		complain("a completion with status " + std::to_string(wc.status));
	}
	if (!request.carries_payload())
		check_untouched(index, outcome.local.size());
	return outcome;
}

std::vector<Outcome> DeviceBackend::run(std::span<const Request> requests)
{
	std::vector<Posted> posted(requests.size());
	for (std::size_t i = 0; i < requests.size(); i++) {
		fill(posted[i], requests[i], i);
		if (i)
			posted[i - 1].wr.wr.next = &posted[i].wr.wr;
	}
	ibv_send_wr *bad;
	if (const int error = ibv_post_send(requester_.get(), &posted[0].wr.wr, &bad))
		complain("ibv_post_send refuses request " + std::to_string(bad->wr_id) + " with errno " +
			 std::to_string(error));
	std::vector<Outcome> outcomes;
	for (std::size_t i = 0; i < requests.size() && complaint_.empty(); i++) {
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		if (!wc) {
			complain("requests do not complete");
			break;
		}
		outcomes.push_back(outcome_of(requests[i], i, *wc));
		const Verdict verdict = outcomes.back().verdict;
		if (verdict == Verdict::invalid_request || verdict == Verdict::access_error)
			outcomes.back().reason = faults_.since(complaint_);
	}
	return outcomes;
}

} // namespace

std::unique_ptr<Backend> make_device_backend(const std::string &device)
{
	return std::make_unique<DeviceBackend>(device);
}

} // namespace prism::conformance

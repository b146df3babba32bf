/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/completion.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sched.h>

namespace prism
{

Completion to_completion(const ibv_wc &wc) noexcept
{
	Completion completion;
	completion.wr_id = wc.wr_id;
	completion.error = wc.status;
	completion.qp_num = wc.qp_num;
	if (wc.status != IBV_WC_SUCCESS)
		return completion;
	completion.opcode = wc.opcode;
	completion.byte_len = wc.byte_len;
	/* vendor_err has no meaning on receives. */
	if (!(wc.opcode & IBV_WC_RECV) && wc.vendor_err <= PRISMDV_STATUS_SKIPPED)
		completion.status = static_cast<Status>(wc.vendor_err);
	return completion;
}

Result<CompletionQueue> CompletionQueue::create(const Context &context, int entries)
{
	ibv_cq *raw = ibv_create_cq(context.raw(), entries, nullptr, nullptr, 0);
	if (!raw)
		return make_error(errno, "cannot create a completion queue of " + std::to_string(entries) + " entries",
			"ask for at least 1 and at most max_cqe of ibv_devinfo -v");
	return CompletionQueue(std::shared_ptr<ibv_cq>(raw, [context](ibv_cq *cq) { ibv_destroy_cq(cq); }));
}

int CompletionQueue::poll(std::span<Completion> completions) const noexcept
{
	constexpr std::size_t chunk = 16;
	std::array<ibv_wc, chunk> wcs;
	std::size_t done = 0;
	while (done < completions.size()) {
		const int wanted = static_cast<int>(std::min(chunk, completions.size() - done));
		const int got = ibv_poll_cq(handle_.get(), wanted, wcs.data());
		if (got < 0)
			return done ? static_cast<int>(done) : -EIO;
		for (int i = 0; i < got; i++)
			completions[done++] = to_completion(wcs[static_cast<std::size_t>(i)]);
		if (got < wanted)
			break;
	}
	return static_cast<int>(done);
}

int CompletionQueue::wait(Completion &completion, std::chrono::nanoseconds timeout) const noexcept
{
	/* Reading the clock costs as much as an empty poll, so read it only once in a while. */
	constexpr int polls_between_looks = 64;
	const auto start = std::chrono::steady_clock::now();
	const auto patience = start + std::chrono::microseconds(200);
	for (;;) {
		for (int i = 0; i < polls_between_looks; i++) {
			const int got = poll({&completion, 1});
			if (got)
				return got < 0 ? -got : 0;
		}
		const auto now = std::chrono::steady_clock::now();
		if (now - start >= timeout)
			return ETIMEDOUT;
		if (now >= patience)
			sched_yield();
	}
}

} // namespace prism

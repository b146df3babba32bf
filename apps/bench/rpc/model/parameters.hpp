/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The parameters of the model: the hardware, the way of the calls, the load; and its results. */
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/rpc/model/events.hpp"

namespace prism::rpc::model
{

/** A ConnectX-3 as the RFP paper measured it. */
struct Hardware {
	double in_bound = 11.26; /**< operations that a NIC serves, millions a second */
	double out_bound = 2.11; /**< operations that it issues, or takes part in by SEND and RECV */
	double gigabits = 40;    /**< of a link, each way */
	Time one_way = 0.5;      /**< between NICs, PCI Express included: our number, so that four threads suffice */
	/**
	 * Threads of a node that issue without contention, and the increase of an operation's share of the NIC for
	 * each further one. The paper shows that there is a loss, the numbers are ours.
	 */
	unsigned uncontended = 6;
	double contention = 0.04;
};

enum class Way : std::uint8_t {
	in_bound,  /**< no calls: the clients READ */
	out_bound, /**< no calls: the server's threads WRITE */
	two_sided, /**< SEND, SEND */
	reply,     /**< WRITE, WRITE */
	fetch,     /**< RFP: WRITE, READs, and reply mode after too many failures */
	fetch_only,
	fetch_paced, /**< as apps/stores/rpc has it: the first READ waits for the server's time */
	bypass,      /**< READs alone */
	slots,       /**< PRISM: ALLOCATE, READ through a bounded pointer */
	window,      /**< PRISM: the same, but one READ takes all answers that are ready */
	window_send, /**< as apps/stores/rpc has it: requests are SENDs */
};

struct WayName {
	std::string_view name;
	Way way;
};

inline constexpr std::array way_names = {
	WayName{"in_bound", Way::in_bound},
	WayName{"out_bound", Way::out_bound},
	WayName{"two_sided", Way::two_sided},
	WayName{"reply", Way::reply},
	WayName{"fetch", Way::fetch},
	WayName{"fetch_only", Way::fetch_only},
	WayName{"fetch_paced", Way::fetch_paced},
	WayName{"bypass", Way::bypass},
	WayName{"slots", Way::slots},
	WayName{"window", Way::window},
	WayName{"window_send", Way::window_send},
};

struct Parameters {
	Hardware hardware;
	Way way = Way::fetch;
	unsigned nodes = 7;           /**< of clients */
	unsigned threads = 5;         /**< of each node */
	unsigned under_way = 1;       /**< calls under way of each thread */
	unsigned server_threads = 16; /**< threads that take calls from one queue */
	Time process_time = 0.2;      /**< time of one of them for a call */
	double jitter = 0.1;          /**< a call's time is up to this share shorter or longer */
	double slow_share = 0;        /**< share of calls that take slow_factor times as long */
	double slow_factor = 20;
	std::vector<unsigned> sizes = {32}; /**< payload of an answer: any of these */
	unsigned request_size = 32;         /**< payload of a request */
	unsigned fetch_size = 256;          /**< F, header included */
	unsigned retries = 5;               /**< R */
	double reads = 3.2;                 /**< bypass: READs of a GET */
	unsigned read_pairs = 1;            /**< bypass: pairs that the last READ of a GET returns, as with FaRM */
	Time warm_up = 1000;
	Time duration = 5000;
	std::uint64_t seed = 1;
};

/** Results of a run; all but the first are of a call. */
struct Results {
	double rate = 0; /**< millions a second */
	std::uint64_t calls = 0;
	Time median = 0;
	Time percentile_99 = 0;
	double reads = 0;
	double failed_fetches = 0;
	double in_bound = 0;    /**< operations that the server's NIC serves */
	double out_bound = 0;   /**< operations that the server's NIC issues */
	double bytes = 0;       /**< over the server's link, both ways, headers included */
	double reply_share = 0; /**< share of calls that began in reply mode */
};

[[nodiscard]] Results simulate(const Parameters &parameters);

} // namespace prism::rpc::model

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/gam.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "boundary.hpp"
#include "gam/api/errors.hpp"
#include "gam/api/joined_node.hpp"

/* The types by their C names. */

struct prism_gam {
	prism_gam(prism::Context opened, std::unique_ptr<prism::gam::JoinedNode> node)
		: context(std::move(opened)), joined(std::move(node))
	{
	}

	const prism::Context context;
	const std::unique_ptr<prism::gam::JoinedNode> joined;
	std::atomic<std::size_t> sessions{0}; /* sessions that have not ended */
};

struct prism_gam_session {
	explicit prism_gam_session(prism_gam &owner) : node(owner), session(owner.joined->node()) { node.sessions++; }
	~prism_gam_session() { node.sessions--; }
	prism_gam_session(const prism_gam_session &) = delete;
	prism_gam_session &operator=(const prism_gam_session &) = delete;

	prism_gam &node;
	prism::gam::Session session;
};

namespace prism::capi
{

namespace
{

using gam::Address;
using gam::Placement;

constexpr std::size_t first_options_size = sizeof(prism_gam_options);
constexpr std::uint32_t usual_alignment = 16;

/* Joining and leaving ---------------------------------------------------------------------------------------------- */

/** Returns the error of the options, or null. */
const char *wrong(const prism_gam_options &options)
{
	if (options.protocol > PRISM_GAM_LATCH)
		return "the protocol is none of enum prism_gam_protocol";
	if (options.consistency > PRISM_GAM_SC)
		return "the consistency is none of enum prism_gam_consistency";
	return options.port > std::numeric_limits<std::uint16_t>::max() ? "the port is beyond 65535" : nullptr;
}

gam::JoinOptions join_options(const char *master, const prism_gam_options &options)
{
	gam::JoinOptions wanted;
	wanted.master = master;
	if (options.address)
		wanted.address = options.address;
	wanted.port = static_cast<std::uint16_t>(options.port);
	wanted.protocol = options.protocol == PRISM_GAM_LATCH ? gam::Protocol::latch : gam::Protocol::directory;
	wanted.cache_bytes = options.cache;
	if (options.memory)
		wanted.node.bytes = options.memory;
	wanted.node.consistency = options.consistency == PRISM_GAM_SC    ? gam::Consistency::sc
				  : options.consistency == PRISM_GAM_TSO ? gam::Consistency::tso
									 : gam::Consistency::pso;
	if (options.timeout_ms)
		wanted.timeout = Milliseconds(options.timeout_ms);
	return wanted;
}

int join(prism_gam *&node, const char *master, const prism_gam_options &options)
{
	if (const char *const what = wrong(options))
		return fail(EINVAL, what);
	Result<Context> context = Context::open(options.device ? options.device : "");
	if (!context)
		return fail(context.error());
	auto joined = gam::JoinedNode::join(*context, join_options(master, options));
	if (!joined)
		return fail(joined.error());
	node = std::make_unique<prism_gam>(*std::move(context), *std::move(joined)).release();
	return 0;
}

int leave(prism_gam *node)
{
	if (node->joined->is_inherited())
		return fail(node->joined->check().error());
	if (node->sessions)
		return fail(EBUSY, "a session of the node has not ended: end it first");
	const std::unique_ptr<prism_gam> owned(node);
	Result<void> left = node->joined->check();
	if (left)
		left = node->joined->leave();
	return left ? 0 : fail(left.error());
}

/* Names ------------------------------------------------------------------------------------------------------------ */

const char *wrong(const prism_gam *node, const char *key)
{
	if (!node)
		return "the node is NULL";
	return key ? nullptr : "the key is NULL";
}

int put(prism_gam &node, const char *key, std::string_view value)
{
	const Result<void> done = node.joined->put(key, std::string(value));
	return done ? 0 : fail(done.error());
}

int get(prism_gam &node, const char *key, void *value, std::size_t &value_size, Milliseconds timeout)
{
	const Result<std::string> found = node.joined->get(key, timeout);
	if (!found)
		return fail(found.error());
	const std::size_t room = std::exchange(value_size, found->size());
	if (const std::size_t size = std::min(room, found->size()))
		std::memcpy(value, found->data(), size);
	return found->size() > room ? fail(EMSGSIZE, "the value is longer than the room for it") : 0;
}

/* Sessions --------------------------------------------------------------------------------------------------------- */

/** Converts @p error of a session to the result of the functions. */
int result_of(int error)
{
	return error ? fail(error, gam::describe(error)) : 0;
}

/** Returns the result of @p call(session). */
template <typename Call>
int with_session(prism_gam_session *session, const Call &call) noexcept
{
	return checked(session ? nullptr : "the session is NULL", [&] {
		const gam::JoinedNode &joined = *session->node.joined;
		return joined.is_inherited() ? fail(joined.check().error()) : result_of(call(session->session));
	});
}

/** Does the same if @p data and @p size are bytes. */
template <typename Call>
int with_bytes(prism_gam_session *session, const void *data, std::size_t size, const Call &call) noexcept
{
	if (const char *const what = wrong_bytes(data, size))
		return fail(EINVAL, what);
	return with_session(session, call);
}

/** Reads a placement. Returns false if it is invalid. */
bool read_placement(const prism_gam_placement &given, Placement &where)
{
	switch (given.place) {
	case PRISM_GAM_LOCAL:
		where = Placement::local();
		return true;
	case PRISM_GAM_REMOTE:
		where = Placement::remote();
		return true;
	case PRISM_GAM_RANDOM:
		where = Placement::random();
		return true;
	case PRISM_GAM_NEAR:
		where = Placement::near(Address(given.near));
		return true;
	default:
		return false;
	}
}

/** Reads a function. Returns false if it is invalid. */
bool read_function(std::uint32_t given, gam::Function &function)
{
	switch (given) {
	case PRISM_GAM_ADD:
		function = gam::Function::add;
		return true;
	case PRISM_GAM_SWAP:
		function = gam::Function::swap;
		return true;
	case PRISM_GAM_COMPARE_SWAP:
		function = gam::Function::compare_swap;
		return true;
	case PRISM_GAM_AND:
		function = gam::Function::bit_and;
		return true;
	case PRISM_GAM_OR:
		function = gam::Function::bit_or;
		return true;
	default:
		return false;
	}
}

} // namespace

} // namespace prism::capi

/* C ---------------------------------------------------------------------------------------------------------------- */

using namespace prism::capi;

int prism_gam_join(struct prism_gam **node, const char *master, const struct prism_gam_options *given)
{
	return open_store(node, master ? nullptr : "the master is NULL", given, first_options_size,
		[&](const prism_gam_options &options) { return join(*node, master, options); });
}

int prism_gam_leave(struct prism_gam *node)
{
	return node ? guarded([node] { return leave(node); }) : 0;
}

int prism_gam_number(const struct prism_gam *node)
{
	return node ? node->joined->node().self() : fail(EINVAL, "the node is NULL");
}

int prism_gam_put(struct prism_gam *node, const char *key, const void *value, size_t value_size)
{
	const char *const what = wrong_bytes(value, value_size);
	return checked(what ? what : wrong(node, key), [&] {
		return put(*node, key, {static_cast<const char *>(value), value_size});
	});
}

int prism_gam_get(struct prism_gam *node, const char *key, void *value, size_t *value_size, uint32_t timeout_ms)
{
	const char *const what =
		value_size ? wrong_bytes(value, *value_size) : "the place for the value's size is NULL";
	return checked(what ? what : wrong(node, key),
		[&] { return get(*node, key, value, *value_size, Milliseconds(timeout_ms)); });
}

int prism_gam_session_begin(struct prism_gam *node, struct prism_gam_session **session)
{
	if (!session)
		return fail(EINVAL, "the place for the session is NULL");
	*session = nullptr;
	return checked(node ? nullptr : "the node is NULL", [&] {
		if (node->joined->is_inherited())
			return fail(node->joined->check().error());
		*session = std::make_unique<prism_gam_session>(*node).release();
		return 0;
	});
}

void prism_gam_session_end(struct prism_gam_session *session)
{
	close_store(session);
}

int prism_gam_malloc(
	struct prism_gam_session *session, size_t bytes, const struct prism_gam_placement *where, uint64_t *address)
{
	if (!address)
		return fail(EINVAL, "the place for the address is NULL");
	*address = 0;
	const prism_gam_placement given = where ? *where : prism_gam_placement{};
	Placement placement;
	if (!read_placement(given, placement))
		return fail(EINVAL, "the place is none of enum prism_gam_place");
	return with_session(session, [&](prism::gam::Session &mine) {
		Address allocated;
		const int error =
			mine.malloc(bytes, allocated, placement, given.alignment ? given.alignment : usual_alignment);
		*address = allocated.value;
		return error;
	});
}

int prism_gam_free(struct prism_gam_session *session, uint64_t address)
{
	return with_session(session, [&](prism::gam::Session &mine) { return mine.free(Address(address)); });
}

int prism_gam_read(struct prism_gam_session *session, uint64_t from, void *into, size_t size)
{
	return with_bytes(session, into, size, [&](prism::gam::Session &mine) {
		return mine.read(Address(from), {static_cast<std::byte *>(into), size});
	});
}

int prism_gam_write(struct prism_gam_session *session, uint64_t to, const void *data, size_t size)
{
	return with_bytes(session, data, size,
		[&](prism::gam::Session &mine) { return mine.write(Address(to), bytes(data, size)); });
}

int prism_gam_mfence(struct prism_gam_session *session)
{
	return with_session(session, [](prism::gam::Session &mine) { return mine.mfence(); });
}

int prism_gam_atomic(struct prism_gam_session *session, uint64_t at, size_t size, uint32_t function, uint64_t operand,
	uint64_t compare, uint64_t *old)
{
	prism::gam::Function wanted{};
	if (!read_function(function, wanted))
		return fail(EINVAL, "the function is none of enum prism_gam_function");
	return with_session(session, [&](prism::gam::Session &mine) {
		std::uint64_t before = 0;
		const int error = mine.atomic(Address(at), size, wanted, operand, before, compare);
		if (old && !error)
			*old = before;
		return error;
	});
}

int prism_gam_rlock(struct prism_gam_session *session, uint64_t at, size_t size)
{
	return with_session(session, [&](prism::gam::Session &mine) { return mine.rlock(Address(at), size); });
}

int prism_gam_wlock(struct prism_gam_session *session, uint64_t at, size_t size)
{
	return with_session(session, [&](prism::gam::Session &mine) { return mine.wlock(Address(at), size); });
}

int prism_gam_try_rlock(struct prism_gam_session *session, uint64_t at, size_t size)
{
	return with_session(session, [&](prism::gam::Session &mine) { return mine.try_rlock(Address(at), size); });
}

int prism_gam_try_wlock(struct prism_gam_session *session, uint64_t at, size_t size)
{
	return with_session(session, [&](prism::gam::Session &mine) { return mine.try_wlock(Address(at), size); });
}

int prism_gam_unlock(struct prism_gam_session *session, uint64_t at, size_t size)
{
	return with_session(session, [&](prism::gam::Session &mine) { return mine.unlock(Address(at), size); });
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// libibverbs's own functions, also where an LD_PRELOAD library has taken their names.
//
// The lookup goes through a handle of libibverbs.so.1, which searches that library and its dependencies alone.
// RTLD_NEXT would not do: with the preload library first and the program's dependencies after it, libibverbs usually
// stands before libprism in the search order, and "next" then misses it.
#ifndef PRISM_REAL_VERBS_HPP
#define PRISM_REAL_VERBS_HPP

#include <atomic>
#include <infiniband/verbs.h>

namespace prism::real_verbs
{

// Returns the address of a function of libibverbs, of any version if that is null. Null if there is none. Thread-safe.
void *find(const char *name, const char *version = nullptr);

// Does the same, but ends the process with a message if libibverbs lacks it: callers ask only for functions that the
// library is known to have, so there is nothing to go on with. Thread-safe.
void *lookup(const char *name, const char *version);

// Binds a name to the type of its function and looks it up at the first call. Takes no lock, which a child would find
// held for ever if its parent forked now: several threads find the same.
template <typename Signature>
class Function;

template <typename Result, typename... Arguments>
class Function<Result(Arguments...)>
{
public:
	// version: null if it differs between releases
	constexpr explicit Function(const char *name, const char *version = nullptr) : name_(name), version_(version) {}

	Result operator()(Arguments... arguments)
	{
		if (!address_)
			address_ = reinterpret_cast<Result (*)(Arguments...)>(lookup(name_, version_));
		return address_.load()(arguments...);
	}

private:
	const char *name_, *version_;
	std::atomic<Result (*)(Arguments...)> address_ = nullptr;
};

// ibv_get_device_list() and ibv_free_device_list() as libibverbs defines them. Freeing also works for a list with
// devices of a provider's own: it drops one reference of each device and calls free() on the list.
struct ibv_device **get_device_list(int *num);
void free_device_list(struct ibv_device **list);

} // namespace prism::real_verbs

#endif

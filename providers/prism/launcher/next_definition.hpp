// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Functions that come after this library in the search order, for names that this library takes.
#ifndef PRISM_LAUNCHER_NEXT_DEFINITION_HPP
#define PRISM_LAUNCHER_NEXT_DEFINITION_HPP

#include <atomic>
#include <dlfcn.h>

namespace prism::launcher
{

// Looks a function up at the first call, without a lock, and so without a static variable that is initialized then: the
// runtime of a sanitizer calls such functions before its own stand-ins for locks work. Several threads find the same.
template <typename Signature>
class NextDefinition
{
public:
	constexpr explicit NextDefinition(const char *name) : name_(name) {}

	// Returns null if there is none.
	Signature *get()
	{
		if (!found_)
			found_ = reinterpret_cast<Signature *>(dlsym(RTLD_NEXT, name_));
		return found_;
	}

private:
	const char *name_;
	std::atomic<Signature *> found_ = nullptr;
};

} // namespace prism::launcher

#endif

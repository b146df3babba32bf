// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Functions as they are behind this library, which takes their names.
#ifndef PRISM_LAUNCHER_NEXT_DEFINITION_HPP
#define PRISM_LAUNCHER_NEXT_DEFINITION_HPP

#include <atomic>
#include <dlfcn.h>

namespace prism::launcher
{

// Looked up at the first call, without a lock, and so without a static variable that is initialized then: the runtime
// of a sanitizer calls such functions before its own stand-ins for locks work. Several threads find the same.
template <typename Signature>
class NextDefinition
{
public:
	constexpr explicit NextDefinition(const char *name) : name_(name) {}

	// Null if there is none.
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

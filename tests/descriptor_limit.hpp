/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace prism::test
{

/** Limits the descriptors that the process may have, while it lives. */
class DescriptorLimit
{
public:
	explicit DescriptorLimit(rlim_t limit)
	{
		::getrlimit(RLIMIT_NOFILE, &before_);
		const rlimit lower{limit, before_.rlim_max};
		::setrlimit(RLIMIT_NOFILE, &lower);
	}
	/** Lets the process open no more. */
	DescriptorLimit() : DescriptorLimit(static_cast<rlim_t>(Descriptor(::dup(STDIN_FILENO)).get())) {}
	~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
	DescriptorLimit(const DescriptorLimit &) = delete;
	DescriptorLimit &operator=(const DescriptorLimit &) = delete;

private:
	rlimit before_{};
};

} // namespace prism::test

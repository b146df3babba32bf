/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Findings of the checkers. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prism::serializability
{

struct Finding {
	std::string check; /**< "replay", "cycles" or "bank" */
	std::string name;  /**< "lost update", "G-single", ... */
	std::string text;  /**< the transactions that show it; may have several lines */
};

/** Counts all findings, and keeps the first few of each name. */
class Findings
{
public:
	/** @param limit findings of a name to keep */
	explicit Findings(std::size_t limit = 10) : limit_(limit) {}

	/** @param text is called only if it is kept */
	void add(std::string_view check, std::string_view name, const std::function<std::string()> &text)
	{
		std::size_t &of_name = counts_[std::string(name)];
		total_++;
		if (of_name++ < limit_)
			kept_.push_back({std::string(check), std::string(name), text()});
	}

	[[nodiscard]] std::uint64_t total() const noexcept { return total_; }
	[[nodiscard]] const std::vector<Finding> &kept() const noexcept { return kept_; }
	/** Returns the number of findings of each name. */
	[[nodiscard]] const std::map<std::string, std::size_t> &counts() const noexcept { return counts_; }
	[[nodiscard]] bool has(const std::string &name) const { return counts_.contains(name); }

private:
	std::size_t limit_;
	std::uint64_t total_ = 0;
	std::vector<Finding> kept_;
	std::map<std::string, std::size_t> counts_;
};

} // namespace prism::serializability

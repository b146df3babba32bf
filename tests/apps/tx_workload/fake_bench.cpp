/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-tx-bench over stores in memory under the names of the real ones, so that tx_figures runs without servers. A
 * store ends with the process, so even --no-load loads.
 */
#include <string_view>
#include <vector>

#include "bench/tx/bench.hpp"
#include "support/fake_systems.hpp"

namespace
{

using namespace tx_test;

void add(Systems &systems, const char *name)
{
	systems.add({name, "in memory", [](const SystemOptions &options) -> Result<ClientFactory> {
			     const auto store = std::make_shared<FakeStore>();
			     return ClientFactory([store, depth = options.depth](unsigned number) {
				     return fake_clients(*store, depth)(number);
			     });
		     }});
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<const char *> arguments;
	for (int i = 0; i < argc; i++) {
		if (std::string_view(argv[i]) != "--no-load")
			arguments.push_back(argv[i]);
	}
	Systems systems;
	for (const char *name : {"prism", "farm", "locking", "locking-exclusive"})
		add(systems, name);
	return tx::bench(systems, static_cast<int>(arguments.size()), arguments.data());
}

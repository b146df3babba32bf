# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The object layout of pyverbs 44 (python3-pyverbs of Debian 12), which is installed without declarations of its own.
# Members and methods stand in their order in memory; that makes them reachable from C. When pyprism is imported, the
# size of each type is compared with the installed one's.

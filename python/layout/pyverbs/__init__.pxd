# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The object layout of pyverbs, which is installed without declarations of its own: of rdma-core 44 to 65. Members and
# methods stand in their order in memory; that makes them reachable from C. Those of later releases alone say so at the end
# of their lines, and CMake leaves them out before. When pyprism is imported, the size of each type is compared with the
# installed one's.

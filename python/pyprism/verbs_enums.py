# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The constants of <infiniband/verbs.h>, by their names: pyverbs.enums of any pyverbs.

Up to rdma-core 58 that module has them. From 59 on it is gone, and pyverbs.libibverbs_enums has a class for each enum.
"""
try:
    from pyverbs.enums import *
except ModuleNotFoundError:
    import enum
    import pyverbs.libibverbs_enums as _groups
    for _group in list(vars(_groups).values()):
        if isinstance(_group, enum.EnumMeta):
            globals().update(_group.__members__)
    globals().update({_name: _value for _name, _value in vars(_groups).items() if _name.startswith('IBV_')})

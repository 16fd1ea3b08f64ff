"""Faults of GPUs' schedules and their code: groups that fold, scan, turn and sort in local memory."""

from __future__ import annotations

from tests.mutation.fault import Fault

_GPU_FOLDS = "tests/opencl/test_gpu_folds.py"
_GPU_MAPS = "tests/opencl/test_gpu_maps.py"
_GPU = "tests/opencl/test_gpu_states.py"
_SHARES = "tests/opencl/test_tallied_shares.py::test_bits_are_the_references"
_PRODUCTS = "tests/opencl/test_gpu_products.py"
_PACKED_PRODUCTS = "tests/opencl/test_gpu_packed_products.py"
_LOOK_BACK = "tests/opencl/test_look_back.py"
_GPU_CARRIES = "tests/opencl/test_gpu_carries.py"
_PACKED = "tests/opencl/test_packed.py"
_ORDERS = "tests/opencl/test_orders.py::test_any_order_of_work_items_gives_the_bits"
_SERIES = "tests/opencl/test_gpu_series.py"
_POSITIONS = "tests/opencl/test_positions.py"
_SORTING = "tests/opencl/test_sorting.py"
_SEGMENTS = "tests/opencl/test_gpu_segments.py"

FAULTS = (
    Fault(
        "launches of too many work-items count in 32 bits",
        "backends/opencl/machine/positions.py",
        "if limit is None or max(others, default=0) > limit:",
        "if limit is None:",
        (f"{_POSITIONS}::test_what_is_narrow",),
    ),
    Fault(
        "what a program computes with indices is as wide as positions",
        "backends/opencl/machine/positions.py",
        '"typedef long number_t;"',
        '"typedef position_t number_t;"',
        (f"{_POSITIONS}::test_numbers_of_the_program_have_64_bits",),
    ),
    Fault(
        "places in an array may be more than positions count",
        "backends/opencl/machine/positions.py",
        "for array in mentions.arrays(nest))",
        "for array in ())",
        (f"{_POSITIONS}::test_the_wide_program_is_built_where_sizes_demand_it",),
    ),
    Fault(
        "iterations of loops that are one may be more than positions count",
        "backends/opencl/loops/schedule.py",
        "    scaffold.counts(axis for way in ways for schedule in way.schedules for axis in products(schedule))\n",
        "",
        (f"{_POSITIONS}::test_the_wide_program_is_built_where_sizes_demand_it",),
    ),
    Fault(
        "an index is checked by its lower half",
        "backends/opencl/code/functions.py",
        'f"(ulong){text} < (ulong){extent_text(extent)}"',
        'f"(ulong)(position_t){text} < (ulong){extent_text(extent)}"',
        (f"{_POSITIONS}::test_an_index_is_not_cut_off_before_it_is_checked",),
    ),
    Fault(
        "copies of a scatter's targets are used before they are there",
        "backends/opencl/loops/gpu/copies.py",
        'writer.line("barrier(CLK_LOCAL_MEM_FENCE);")\n    run_once',
        "run_once",
        (_ORDERS,),
    ),
    Fault(
        "totals that a group scans take more local memory than devices have",
        "backends/opencl/loops/gpu/chains/carries.py",
        "SCANNED_BYTES = 24 * 1024",
        "SCANNED_BYTES = 48 * 1024",
        ("tests/opencl/test_orders.py::test_work_items_that_have_what_lies_together",),
    ),
    Fault(
        "the totals that are brought next are those that are there",
        "backends/opencl/loops/gpu/chains/gpu_carries.py",
        'f"base + {staged} + {place}"',
        'f"base + {place}"',
        (_GPU_CARRIES,),
    ),
    Fault(
        "work-items that carry begin with what stands before the first of all",
        "backends/opencl/loops/gpu/chains/gpu_carries.py",
        "if (lane > 0) earlier = ",
        "if (lane > 1) earlier = ",
        (_GPU_CARRIES,),
    ),
    Fault(
        "a group that carries leaves out what blocks before its own come to",
        "backends/opencl/loops/gpu/chains/gpu_carries.py",
        'lane", "begin")',
        'lane", "1")',
        (_GPU_CARRIES,),
    ),
    Fault(
        "what asks where it goes is packed, too",
        "backends/opencl/loops/gpu/chains/packed.py",
        " and asked.isdisjoint(step.before)",
        "",
        (_PACKED,),
    ),
    Fault(
        "what is packed goes where no block stands before its own",
        "backends/opencl/loops/gpu/chains/packed.py",
        "[(position_t){tally.before}.f0 + at]",
        "[at]",
        (_PACKED,),
    ),
    Fault(
        "work-items copy what others have not packed yet",
        "backends/opencl/loops/gpu/chains/packed.py",
        "        writer.line(WAIT)\n",
        "",
        ("tests/opencl/test_orders.py::test_filters_that_look_back", _ORDERS),
    ),
    Fault(
        "blocks of other rows join",
        "backends/opencl/loops/gpu/block_groups.py",
        'shared.copy(writer, "l", ends, f"first + from + l * {stride}")',
        'shared.copy(writer, "l", ends, f"from + l * {stride}")',
        (f"{_GPU_FOLDS}::test_folds_of_rows",),
    ),
    Fault(
        "blocks of a column are those of the next one",
        "backends/opencl/loops/gpu/column_groups.py",
        "(from + l * stride) * {rows.count} + row",
        "(from + l * stride) * {rows.count} + row + 1",
        (f"{_GPU_FOLDS}::test_folds_of_columns",),
    ),
    Fault(
        "lanes join before blocks of runs do",
        "backends/opencl/loops/gpu/block_groups.py",
        "if not kind.commutes:",
        "if kind.width < 2:",
        (f"{_GPU_FOLDS}::test_folds_that_do_not_commute",),
    ),
    Fault(
        "of the last elements, which fill no vector, one is left out",
        "backends/opencl/loops/gpu/few_items.py",
        "for (position_t at = item; at <",
        "for (position_t at = item; at + 1 <",
        (f"{_GPU_MAPS}::test_neighbouring_elements",),
    ),
    Fault(
        "a block is not turned",
        "backends/opencl/loops/gpu/turned_blocks.py",
        "block{number}[along * {EDGE + 1} + k]",
        "block{number}[k * {EDGE + 1} + along]",
        (f"{_GPU_MAPS}::test_transposes",),
    ),
    Fault(
        "loops are written out for some elements of a work-item",
        "schedule/templates/gpu/maps.py",
        "any(isinstance(each, While)",
        "all(isinstance(each, While)",
        (f"{_GPU_MAPS}::test_loops_are_not_written_out",),
    ),
    Fault(
        "what a filter leaves out is stored where the first one that it keeps belongs",
        "backends/opencl/loops/gpu/chains/tallied_shares.py",
        "[flag{of}[j] ? place{of} + 1 : 0] =",
        "[flag{of}[j] ? place{of} + 1 : 1] =",
        (_SHARES,),
    ),
    Fault(
        "shares of a block forget those before",
        "backends/opencl/loops/gpu/chains/tallied_shares.py",
        "starts{number}[l + 1] += starts{number}[l];",
        "starts{number}[l + 1] += starts{number}[0];",
        (_SHARES,),
    ),
    Fault(
        "copies begin with what the targets hold",
        "backends/opencl/loops/gpu/copies.py",
        'writer.line(f"{copy}[at] = {neutral};")',
        'writer.line(f"{copy}[at] = 1;")',
        (f"{_GPU}::test_copies_are_taken_where_they_fit",),
    ),
    Fault(
        "copies are taken that do not fit",
        "backends/opencl/loops/gpu/copies.py",
        "Choice(arrays[0].shape, limit, below=below)",
        "Choice(arrays[0].shape, limit + 1, below=below)",
        (f"{_GPU}::test_targets_that_do_not_fit_have_no_copies",),
    ),
    Fault(
        "scatters of one loop have the kernels of the first",
        "backends/opencl/loops/schedule.py",
        "combine_runs(scaffold.part(scaffold.nest, number), part)",
        "combine_runs(scaffold, part)",
        ("tests/opencl/test_scatters.py::test_scatters_of_one_loop_have_runs_of_their_own",),
    ),
    Fault(
        "a sort has a pass too few",
        "backends/opencl/loops/gpu/runs.py",
        "Choice(targets, VALUES**number, below=False)",
        "Choice(targets, VALUES ** (number + 1), below=False)",
        (f"{_GPU}::test_sorts_have_a_pass_for_each_eight_bits",),
    ),
    Fault(
        "zeros of both signs are sorted apart",
        "backends/opencl/sorting/text.py",
        "size == 0 ? {sign} : ",
        "",
        (f"{_SORTING}::test_tuples_are_compared_from_the_first_item_to_the_last",),
    ),
    Fault(
        "a key is read where elements stood, not where those that are sorted by later keys stand",
        "backends/opencl/sorting/sorter.py",
        "AS_THEY_STAND if done == 0 else BY_PLACES",
        "AS_THEY_STAND",
        (f"{_SORTING}::test_tuples_are_compared_from_the_first_item_to_the_last",),
    ),
    Fault(
        "elements of a chunk are put in order of four bits alone",
        "backends/opencl/loops/gpu/radix.py",
        "bits < {PASS_BITS}; bits",
        "bits < {BITS}; bits",
        (f"{_SORTING}::test_tuples_are_compared_from_the_first_item_to_the_last",),
    ),
    Fault(
        "a run of equal targets ends with the piece in which it begins",
        "backends/opencl/loops/gpu/runs.py",
        "(item == begin || keys[item - 1] != key)",
        "(item == 0 || keys[item - 1] != key)",
        ("tests/opencl/test_pieces.py::test_scatters_are_launched_in_pieces",),
    ),
    Fault(
        "elements of a segment are written down where others have been",
        "schedule/templates/gpu/ordered_scatters.py",
        "at_most(place, (run, inner.index), room)",
        "at_most(place, (inner.index,), room)",
        ("tests/opencl/test_scatters_of_segments.py",),
    ),
    Fault(
        "any element owns its target",
        "schedule/templates/gpu/ordered_scatters.py",
        "OneToMaybe(mine, EQUAL, (found, number), scatter.when)",
        "OneToMaybe(mine, EQUAL, (found, found), scatter.when)",
        ("tests/schedule/test_split.py",),
    ),
    Fault(
        "blocks of a product that are left begin with the first",
        "backends/opencl/loops/gpu/products/product_tiles.py",
        "while (!(blocks >> first & 1)) ++first;",
        "while (blocks >> first & 1) ++first;",
        (f"{_PRODUCTS}::test_sums_of_several_blocks",),
    ),
    Fault(
        "lanes join with what is further on than the row has elements",
        "backends/opencl/loops/gpu/eights.py",
        "if (l{further} < some) {lane}",
        "{lane}",
        (f"{_GPU_FOLDS}::test_rows_that_are_scattered_on_the_way",),
    ),
    Fault(
        "lanes of a row go on into the next one",
        "backends/opencl/loops/gpu/short_rows.py",
        'f"if (item < {flat.total})"',
        '""',
        (f"{_GPU_FOLDS}::test_rows_that_are_written_on_the_way",),
    ),
    Fault(
        "elements of short rows are written once more by lanes without any",
        "backends/opencl/loops/gpu/short_rows.py",
        "return all(id(statement) in around for statement in wanted)",
        "return True",
        (f"{_GPU_FOLDS}::test_rows_that_are_scattered_on_the_way",),
    ),
    Fault(
        "rows of a group overlap in local memory",
        "backends/opencl/loops/gpu/row_series.py",
        "base = line * ((int)width | (items < {BANKS} ? items : 0));",
        "base = line * ((int)width / 2);",
        (f"{_SERIES}::test_series_in_a_loop",),
    ),
    Fault(
        "lanes of a row join with those of the next one",
        "backends/opencl/loops/gpu/row_series.py",
        "reach >= items; reach /= 2",
        "reach > 0; reach /= 2",
        (f"{_SERIES}::test_series_in_a_loop",),
    ),
    Fault(
        "what is passed takes the place of what is read later",
        "backends/opencl/loops/gpu/row_series.py",
        "or last > first:",
        "or first < 0:",
        (f"{_SERIES}::test_what_is_read_later_keeps_its_place",),
    ),
    Fault(
        "nests of one kernel do not wait for each other",
        "backends/opencl/loops/gpu/row_series.py",
        "        self._writer.line(BOTH)\n",
        "",
        (f"{_SERIES}::test_nests_wait_for_each_other",),
    ),
    Fault(
        "lanes of a tile join in the wrong order",
        "backends/opencl/loops/gpu/products/product_tiles.py",
        'f"half{bit} * {1 << bit}"',
        'f"half{bit} * {self.found.order_lanes >> bit + 1}"',
        (f"{_PRODUCTS}::test_more_than_products",),
    ),
    Fault(
        "what is packed lies in the order of its lanes' numbers",
        "backends/opencl/loops/gpu/products/packed_tiles.py",
        "<< ({bits} - 1 - bit);\n  return",
        "<< bit;\n  return",
        (f"{_PACKED_PRODUCTS}::test_products",),
    ),
    Fault(
        "the last element of a packed lane is always there",
        "backends/opencl/loops/gpu/products/packed_tiles.py",
        "there = (int)((all - reversed + {lanes - 1}) / {lanes});",
        "there = left;",
        (f"{_PACKED_PRODUCTS}::test_any_order_of_work_items_gives_the_bits",),
    ),
    Fault(
        "a tile's last elements of a lane are left out",
        "backends/opencl/loops/gpu/products/product_tiles.py",
        "(end - from + {lanes - 1}) / {lanes});",
        "(end - from) / {lanes});",
        (f"{_PRODUCTS}::test_more_than_products",),
    ),
    Fault(
        "a block that is not waited for is forgotten",
        "backends/opencl/loops/gpu/chains/look_back.py",
        'writer.line("carry += counted;")',
        'writer.line("carry += 0;")',
        (_LOOK_BACK,),
    ),
    Fault(
        "a group looks back no further than it asks at once",
        "backends/opencl/loops/gpu/chains/look_back.py",
        "near < gap ? -1 : last - {items}",
        "near < gap ? -1 : -1",
        (_LOOK_BACK,),
    ),
    Fault(
        "blocks of a long segment all take the place of the first",
        "backends/opencl/code/states.py",
        "_fold_push({levels}, {number}, ",
        "_fold_push({levels}, 0, ",
        (_SEGMENTS,),
    ),
    Fault(
        "segments of nine elements are joined as those of eight",
        "backends/opencl/loops/gpu/segments.py",
        'f"if (own > {1 << EIGHT}) some_middle = 1;"',
        'f"if (own > {9 << EIGHT}) some_middle = 1;"',
        (_SEGMENTS,),
    ),
    Fault(
        "where segments begin is found apart also where no groups fold them",
        "schedule/templates/gpu/around_segments.py",
        "if not any(segments(rest, machine)):",
        "if not rest:",
        (_SEGMENTS,),
    ),
)

"""Which tests hold each line of what compile promises: they must be there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

LINES = {
    "keys: structures, kwargs order, empty containers, numbers that look alike": """
        semantics/test_semantics_kinds.py::test_keys_structures
        semantics/test_semantics_kinds.py::test_keys_numbers_that_look_alike
        semantics/test_semantics_kinds.py::test_keys_nans_by_their_bits
        semantics/test_semantics_kinds.py::test_keys_keyword_order""",
    "keys: an address used again, also from another thread": """
        semantics/test_semantics_kinds.py::test_keys_an_address_used_again_also_from_another_thread
        tracing/test_compile.py::test_an_address_used_again_is_no_hit""",
    "keys: equal operations, other outputs, dtypes or constants": """
        semantics/test_semantics_kinds.py::test_keys_equal_operations_with_other_constants
        engine/test_graph_rewriting.py::test_same_operations_other_constants
        engine/test_graph_rewriting.py::test_constants_that_differ_late
        engine/test_graph_rewriting.py::test_complex_infinity_is_a_constant_of_its_own""",
    "keys: a kernel on disk of another version or CPU": """
        runtime/test_jit.py::test_the_key_depends_on_everything
        runtime/test_diskcache.py::test_an_entry_of_another_format_is_a_miss""",
    "keys: 5,000 integers, 1,000 shapes": """
        semantics/test_semantics_kinds.py::test_keys_five_thousand_integers
        semantics/test_semantics_kinds.py::test_keys_a_thousand_shapes""",
    "state: exception, rebound, grown, last batch, added later": """
        semantics/test_semantics_kinds.py::test_state_an_exception_in_mid_trace
        semantics/test_semantics_kinds.py::test_state_rebound_and_parameters_added_later
        semantics/test_semantics_promises.py::test_08_state_may_grow
        semantics/test_semantics_kinds.py::test_state_the_last_smaller_batch""",
    "state: the same array twice, outputs that are inputs, unused inputs": """
        semantics/test_semantics_arguments.py::test_one_array_given_twice
        semantics/test_semantics_kinds.py::test_state_outputs_that_are_inputs_and_unused_inputs
        semantics/test_semantics_kinds.py::test_state_a_result_that_is_an_input_is_another_object""",
    "randomness: draws, reseeding, threads, merging": """
        semantics/test_semantics_kinds.py::test_randomness_draws_differ_reseeding_works
        tracing/test_compile.py::test_draws_on_threads_differ
        graph/test_simplify.py::test_two_draws_stay_two
        tracing/test_drawn.py::test_what_is_drawn_once_is_said_once""",
    "graph rewriting": """
        engine/test_graph_rewriting.py::test_shared_broadcasts_among_many_consumers
        engine/test_graph_rewriting.py::test_siblings_partly_used
        engine/test_graph_rewriting.py::test_log_and_log2_of_one_input
        engine/test_graph_rewriting.py::test_isclose_with_equal_nan
        engine/test_graph_rewriting.py::test_forty_thousand_additions_of_a_scalar
        engine/test_graph_rewriting.py::test_a_tree_of_64_inputs
        engine/test_graph_rewriting.py::test_a_graph_of_150_nodes_called_twice""",
    "layouts": """
        engine/test_layouts.py::test_layouts
        engine/test_layouts.py::test_no_elements
        engine/test_layouts.py::test_no_axes
        engine/test_layouts.py::test_many_axes
        engine/test_layouts.py::test_odd_lengths_and_unaligned_starts
        engine/test_layouts.py::test_update_in_place_of_a_reversed_view
        engine/test_layouts.py::test_overlapping_as_strided""",
    "shapeless": """
        semantics/test_semantics_promises.py::test_10_shapeless
        tracing/test_shapeless.py::test_another_shape_does_not_run_python
        tracing/test_shapeless.py::test_shapes_that_do_not_fit_raise_and_poison_nothing
        tracing/test_shapeless.py::test_state_and_draws""",
    "numbers": """
        engine/test_numbers.py::test_chains_of_halves_round_after_each_operation
        engine/test_numbers.py::test_integers_wrap
        engine/test_numbers.py::test_division_by_zero_and_of_the_least_integer
        engine/test_numbers.py::test_shifts_by_the_width_and_more
        engine/test_numbers.py::test_uint32_abs
        engine/test_numbers.py::test_nan_wins_extremes_and_positions
        engine/test_numbers.py::test_sum_of_1e8_ones
        engine/test_numbers.py::test_softmax_of_rows_of_minus_infinity
        engine/test_numbers.py::test_log1p_and_expm1_near_zero
        engine/test_numbers.py::test_sine_and_cosine_of_large_arguments
        engine/test_numbers.py::test_powers
        engine/test_numbers.py::test_int64_beyond_two_to_the_53
        engine/test_numbers.py::test_complex_numbers""",
    "transforms": """
        semantics/test_semantics_promises.py::test_09_transformations_compose_in_every_order
        transforms/test_gradient.py::test_second_order
        transforms/test_gradient.py::test_trees_argnums_names_and_the_rest_of_the_result
        transforms/test_gradient.py::test_unused_arguments_and_integers_have_zero_gradient
        transforms/test_gradient.py::test_gradient_of_compiled_stays_compiled
        transforms/test_custom.py::test_checkpoint
        transforms/test_custom.py::test_own_vjp_with_several_results""",
    "threads": """
        semantics/test_semantics_kinds.py::test_threads_eight_through_one_function
        semantics/test_semantics_kinds.py::test_threads_that_change_captured_state_lose_nothing""",
    "process: fork, exit, disk cache of two processes, no place to write": """
        semantics/test_semantics_kinds.py::test_process_fork_after_use_and_exit_with_work_pending
        runtime/test_diskcache.py::test_two_processes_fill_it_at_once
        runtime/test_diskcache.py::test_no_place_to_write_is_no_error
        runtime/test_diskcache.py::test_a_full_disk_is_no_error""",
    "overhead: small work, a list of 100 arrays, 1,000 parameters": """
        semantics/test_semantics_overhead.py::test_hits_are_served_by_the_native_record
        semantics/test_semantics_overhead.py::test_a_hit_runs_no_python_but_the_call_and_its_buffers
        semantics/test_semantics_overhead.py::test_hits_leave_nothing_behind
        semantics/test_semantics_overhead.py::test_a_compiled_call_is_one_kernel""",
}


@pytest.mark.parametrize("line", LINES)
def test_the_tests_of_a_line_are_there(line):
    for name in LINES[line].split():
        file, _, test = name.partition("::")
        body = ast.parse((TESTS / file).read_text()).body
        assert any(isinstance(x, ast.FunctionDef) and x.name == test for x in body), name

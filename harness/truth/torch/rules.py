"""Which operations of PyTorch round once per element, which only move, make or decide. By name, without overload.

What stands nowhere here and has no rule is decomposed; what cannot be decomposed is refused, so that nothing
escapes the noise.
"""

#: Elementwise, rounded once.
ROUNDS = frozenset(
    """
    add sub rsub mul div true_divide exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square pow
    sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc erfinv lgamma digamma hypot i0 i0e i1
    i1e special_erfcx special_i0e special_i1 special_i1e special_ndtri special_log_ndtr igamma igammac polygamma
    deg2rad rad2deg angle sinc special_entr special_airy_ai special_bessel_y0 special_bessel_y1 bessel_j0 bessel_j1
    spherical_bessel_j0 special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
    special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
    special_shifted_chebyshev_polynomial_w
    """.split()
)

#: What saturates: where it is flat, the derivative by another formula has a roundoff of what it is elsewhere.
SATURATES = frozenset("exp exp2 expm1 tanh erf erfc".split())

#: Movement and selection by positions and conditions, and what is exact by itself.
MOVES = frozenset(
    """
    view _unsafe_view reshape _reshape_alias permute transpose t expand slice select index gather cat stack split
    split_with_sizes unbind flip roll constant_pad_nd clone _to_copy alias detach squeeze unsqueeze as_strided diagonal
    tril triu where masked_fill index_select embedding repeat unfold pixel_shuffle pixel_unshuffle scatter
    masked_scatter masked_select fill lift_fresh lift lift_fresh_copy neg conj _conj _conj_physical resolve_conj
    resolve_neg _neg_view real imag view_as_real view_as_complex complex slice_scatter select_scatter
    diagonal_scatter as_strided_scatter slice_backward select_backward diagonal_backward index_fill movedim
    im2col channel_shuffle rot90 contiguous positive copysign broadcast_in_dim convert_element_type view_of
    as_strided_copy collapse_view split_dim unsafe_split unsafe_split_with_sizes view_copy expand_copy permute_copy
    transpose_copy t_copy squeeze_copy unsqueeze_copy slice_copy select_copy _reshape_copy copy narrow_copy unfold_copy
    reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
    repeat_interleave zero diag_embed block_diag upsample_nearest1d upsample_nearest2d upsample_nearest3d
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d diagonal_copy alias_copy
    masked_scatter_backward lu_unpack _pack_padded_sequence
    nan_to_num _sparse_mask take chunk glu_jvp unflatten flatten narrow _nested_view view_element_type clone_preserve
    """.split()
)

#: New tensors.
CREATES = frozenset(
    """
    empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full
    full_like new_full arange eye linspace logspace scalar_tensor tril_indices triu_indices _efficientzerotensor iota
    empty_permuted hann_window hamming_window kaiser_window blackman_window
    """.split()
)

#: Piecewise constant: the numbers of the exact evaluation, in every one.
STEPS = frozenset("sign sgn floor ceil round trunc fix floor_divide heaviside special_zeta ".split())

#: Comparisons, predicates, positions: those of the exact evaluation.
DECIDES = frozenset(
    """
    eq ne lt le gt ge isnan isinf isfinite isneginf isposinf signbit logical_and logical_or logical_xor logical_not
    argmax argmin argsort any all nonzero searchsorted bucketize equal is_nonzero isclose isreal multinomial isin
    count_nonzero histc bincount unique_consecutive
    """.split()
)

#: In place, and nothing but movement.
MOVES_IN_PLACE = frozenset(
    "zero_ resize_ set_ t_ transpose_ squeeze_ unsqueeze_ swapdims_ swapaxes_ detach_ as_strided_ resize_as_".split()
)

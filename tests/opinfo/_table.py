"""Which entry of OpInfo is which operator of ours: one table, by families.

`TABLE[entry]` holds the readers of an entry, one for each operator that its samples are calls of. To add an entry, put
its name into a line of `BY_NAME` where its arguments are called as ours are; else add a line to a family below, with a
function of `_calls.py` that has PyTorch's signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import _calls as c
import _composed as fused
import _gradients as d
from _oracle import Reader
from _readers import by_name, called_as, with_result

#: Entries whose arguments are called as ours are: after `=` the operator, where it has another name.
BY_NAME = {
    "functions of one number": """
        abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfinv exp exp2 expm1 floor i0 isfinite isinf
        isnan lgamma log log1p log2 logical_not neg reciprocal round round/decimals_0 rsqrt sigmoid sign sgn=sign sin
        sinh sqrt square tan tanh trunc positive=contiguous special.modified_bessel_i0=i0""",
    "activations": """
        nn.functional.relu nn.functional.relu6 nn.functional.elu nn.functional.celu nn.functional.selu
         nn.functional.mish nn.functional.gelu nn.functional.softplus nn.functional.softsign
        nn.functional.softshrink nn.functional.hardshrink nn.functional.tanhshrink nn.functional.hardtanh
        nn.functional.hardsigmoid nn.functional.hardswish nn.functional.leaky_relu nn.functional.prelu
        nn.functional.logsigmoid nn.functional.threshold""",
    "functions of two numbers": """
        add sub mul div/no_rounding_mode=div true_divide=div __radd__=add __rmul__=mul __rsub__=sub rsub=sub
        atan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
        __rand__=bitwise_and __ror__=bitwise_or __rxor__=bitwise_xor eq ne lt le gt ge fmod remainder floor_divide
        hypot logaddexp logical_and logical_or maximum minimum max/binary=maximum min/binary=minimum pow
        xlogy addcmul addcdiv""",
    "reductions": """
        sum mean prod amax amin all any argmax argmin   logsumexp cumsum cumprod logcumsumexp  
          softmax softmax/with_dtype=softmax log_softmax log_softmax/with_dtype=log_softmax
        torch.ops.aten._safe_softmax.default=softmax """,
    "products": """
        addmm addmm/decomposed=addmm  baddbmm bmm bmm/triton_optimized=bmm dot vdot=dot matmul mm=matmul mv=matmul
        __rmatmul__=matmul outer=outer_product nn.functional.linear cdist  
        linalg.det=det linalg.inv=inverse linalg.solve_triangular=solve_triangular """,
    "convolutions and windows": """
          nn.functional.pixel_shuffle
        """,
    "normalisations": "nn.functional.group_norm nn.functional.local_response_norm",
    "losses": """
        nn.functional.cross_entropy nn.functional.nll_loss nn.functional.kl_div nn.functional.mse_loss
        nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.huber_loss
        nn.functional.binary_cross_entropy_with_logits=bce_with_logits 
        
        """,
    "order": "sort argsort topk",
    "moves": """
          transpose transpose_copy=transpose  triu diag
           stack 
        index_select index_add scatter scatter_add take_along_dim  clone=contiguous alias_copy=contiguous
        nn.functional.pad/constant=pad nn.functional.pad/reflect=pad nn.functional.pad/replicate=pad
        nn.functional.pad/replicate_negative=pad nn.functional.pad/circular=pad constant_pad_nd=pad""",
}

#: Entries that take a function of _calls.py, by its name there.
BY_FUNCTION: Mapping[str, Mapping[str, Sequence[Reader]]] = {
    "functions of one number": {
        "bitwise_not": [called_as(c.bitwise_not)],
        "rad2deg": [called_as(c.rad2deg)],
        "deg2rad": [called_as(c.deg2rad)],
        "polygamma/polygamma_n_0": [called_as(c.polygamma)],
        "special.polygamma/special_polygamma_n_0": [called_as(c.polygamma)],
        "clamp": [called_as(c.clamp)],
        "clamp_min": [called_as(c.clamp_min)],
        "clamp_max": [called_as(c.clamp_max)],
        "fill": [called_as(c.fill)],
        "full_like": [called_as(c.fill)],
        "zeros_like": [called_as(c.zeros_like)],
        "ones_like": [called_as(c.ones_like)],
        "new_zeros": [called_as(c.new_zeros)],
        "new_ones": [called_as(c.new_ones)],
        "new_full": [called_as(c.new_full)],
        "arange": [called_as(c.arange)],
        "to": [called_as(c.to)],
        "half": [called_as(c.cast("f16"))],
        "bfloat16": [called_as(c.cast("bf16"))],
        "float": [called_as(c.cast("f32"))],
        "double": [called_as(c.copied)],
        "conj": [called_as(c.copied)],
        "conj_physical": [called_as(c.copied)],
        "resolve_conj": [called_as(c.copied)],
        "resolve_neg": [called_as(c.copied)],
        "contiguous": [called_as(c.copied)],
        "real": [called_as(c.copied)],
    },
    "functions of two numbers": {
        "add": [called_as(c.add1)],
        "mul": [called_as(c.scale)],
        "eq": [called_as(c.count_equal)],
        "div/floor_rounding": [called_as(c.floor_divide)],
        "__rdiv__": [called_as(c.rdiv)],
        "__rmod__": [called_as(c.rmod)],
        "__rpow__": [called_as(c.rpow)],
        "float_power": [called_as(c.float_power)],
        "heaviside": [called_as(c.heaviside)],
        "lerp": [called_as(c.lerp)],
        "ldexp": [called_as(c.ldexp)],
    },
    "reductions": {
        "max/reduction_no_dim": [called_as(c.amax_of_all)],
        "min/reduction_no_dim": [called_as(c.amin_of_all)],
        "max/reduction_with_dim": [called_as(c.amax_along), called_as(c.argmax_along)],
        "min/reduction_with_dim": [called_as(c.amin_along), called_as(c.argmin_along)],
        "aminmax": [called_as(c.amin_of_both), called_as(c.amax_of_both)],
        "std": [called_as(c.unbiased("std"))],
        "var": [called_as(c.unbiased("var"))],
        "std/unbiased": [called_as(c.unbiased("std"))],
        "var/unbiased": [called_as(c.unbiased("var"))],
        "std_mean": [called_as(c.of_two("std", 0)), called_as(c.of_two("mean", 1))],
        "var_mean": [called_as(c.of_two("var", 0)), called_as(c.of_two("mean", 1))],
        "std_mean/unbiased": [called_as(c.unbiased("std", 0))],
        "var_mean/unbiased": [called_as(c.unbiased("var", 0))],
        "linalg.vector_norm": [called_as(c.vector_norm)],
        "linalg.norm": [called_as(c.linalg_norm)],
        "linalg.norm/subgradients_at_zero": [called_as(c.linalg_norm)],
        "linalg.matrix_norm": [called_as(c.matrix_norm)],
        "norm": [called_as(c.norm)],
        "norm/fro": [called_as(c.norm)],
        "norm/inf": [called_as(c.norm)],
        "norm/nuc": [called_as(c.norm)],
        "nn.functional.normalize": [called_as(c.normalize)],
        "dist": [called_as(c.dist)],
        "nn.functional.pairwise_distance": [called_as(c.pairwise_distance)],
        "nn.functional.softmin": [called_as(c.softmin)],
        "nn.functional.softmin/with_dtype": [called_as(c.softmin)],
        "softmax": [called_as(c.softmax_ext)],
        "sum_to_size": [called_as(c.sum_to_size)],
        "masked.softmax": [called_as(c.masked_softmax)],
        "_softmax_backward_data": [called_as(c.softmax_backward)],
    },
    "products": {
        "addmv": [called_as(c.addmv)],
        "inner": [called_as(c.inner)],
        "einsum": [called_as(c.einsum)],
        "tensordot": [called_as(c.tensordot)],
        "linalg.vecdot": [called_as(c.vecdot)],
        "linalg.multi_dot": [called_as(c.multi_dot)],
        "linalg.matrix_power": [called_as(c.matrix_power)],
        "linalg.inv_ex": [called_as(c.inv_ex)],
        "linalg.cholesky_ex": [called_as(c.cholesky_ex)],
        "cholesky": [called_as(c.cholesky)],
        "linalg.cholesky": [called_as(c.cholesky)],
        "triangular_solve": [called_as(c.triangular_solve)],
        "addr": [called_as(c.addr)],
        "bmm": [called_as(c.mul_mat_id)],
        "nn.functional.linear": [called_as(fused.linear_swiglu), called_as(fused.linear_geglu)],
        "nn.functional.scaled_dot_product_attention": [
            called_as(c.attention),
            called_as(c.sliding_window_attention),
            called_as(c.varlen_attention),
            called_as(fused.paged_attention),
        ],
    },
    "convolutions and windows": {
        "nn.functional.conv1d": [called_as(c.conv1d), called_as(c.ssm_conv)],
        "nn.functional.conv2d": [called_as(c.conv2d), called_as(c.depthwise)],
        "nn.functional.conv3d": [called_as(c.conv3d)],
        "nn.functional.conv_transpose1d": [called_as(c.conv_transpose1d)],
        "nn.functional.conv_transpose2d": [called_as(c.conv_transpose2d)],
        "nn.functional.avg_pool1d": [called_as(c.avg_pool1d)],
        "nn.functional.avg_pool2d": [called_as(c.avg_pool2d), d.of_avg_pool2d],
        "nn.functional.avg_pool3d": [called_as(c.avg_pool3d)],
        "nn.functional.adaptive_avg_pool1d": [called_as(c.adaptive_avg_pool1d)],
        "nn.functional.adaptive_avg_pool2d": [called_as(c.adaptive_avg_pool2d)],
        "nn.functional.max_pool1d": [called_as(c.max_pool1d)],
        "nn.functional.max_pool2d": [called_as(c.max_pool2d), d.of_max_pool2d],
        "nn.functional.max_pool3d": [called_as(c.max_pool3d)],
        "nn.functional.unfold": [called_as(c.im2col), d.of_unfold_as("im2col_back"), d.of_unfold_as("col2im")],
        "nn.functional.interpolate/nearest": [called_as(c.interpolate)],
        "nn.functional.interpolate/bilinear": [called_as(c.interpolate)],
        "nn.functional.interpolate/bicubic": [called_as(c.interpolate)],
        "nn.functional.interpolate/linear": [called_as(c.interpolate)],
        "nn.functional.interpolate/area": [called_as(c.interpolate)],
        "nn.functional.upsample_nearest": [called_as(c.upsample_nearest)],
        "nn.functional.upsample_bilinear": [called_as(c.upsample_bilinear)],
        "nn.functional.grid_sample": [called_as(c.grid_sample)],
        "grid_sampler_2d": [called_as(c.grid_sampler_2d)],
        "stft": [called_as(c.stft)],
        "fft.fft": [called_as(c.fft(inverse=False))],
        "fft.ifft": [called_as(c.fft(inverse=True))],
        "fft.rfft": [called_as(c.rfft)],
        "fft.ihfft": [called_as(c.ihfft)],
        "fft.fft2": [called_as(c.fftn(inverse=False))],
        "fft.fftn": [called_as(c.fftn(inverse=False))],
        "fft.ifft2": [called_as(c.fftn(inverse=True))],
        "fft.ifftn": [called_as(c.fftn(inverse=True))],
        "fft.rfft2": [called_as(c.rfftn)],
        "fft.rfftn": [called_as(c.rfftn)],
        "fft.fftshift": [called_as(c.fftshift)],
        "fft.ifftshift": [called_as(c.ifftshift)],
    },
    "normalisations": {
        "nn.functional.layer_norm": [called_as(c.layer_norm)],
        "native_layer_norm": [called_as(c.native_layer_norm)],
        "nn.functional.rms_norm": [
            called_as(c.rms_norm),
            d.of_rms_norm,
            called_as(fused.add_rms_norm),
            called_as(fused.rms_norm_mul_add),
        ],
        "native_group_norm": [called_as(c.native_group_norm)],
        "nn.functional.instance_norm": [called_as(c.instance_norm)],
        "nn.functional.batch_norm": [called_as(c.batch_norm), called_as(c.batch_norm_training)],
        "native_batch_norm": [called_as(c.native_batch_norm)],
        "_native_batch_norm_legit": [called_as(c.native_batch_norm)],
    },
    "drawn": {
        "nn.functional.dropout": [with_result(c.dropout)],
        "nn.functional.dropout2d": [with_result(c.feature_dropout)],
        "nn.functional.dropout3d": [with_result(c.feature_dropout)],
        "native_dropout_backward": [called_as(c.native_dropout_backward)],
    },
    "losses": {
        "nn.functional.linear_cross_entropy": [called_as(c.linear_cross_entropy)],
        "nn.functional.linear_cross_entropy/chunked": [called_as(c.linear_cross_entropy)],
        "nn.functional.linear_cross_entropy/chunked_none": [called_as(c.linear_cross_entropy)],
        "nn.functional.cross_entropy": [d.of_cross_entropy],
    },
    "indices": {
        "nn.functional.embedding": [called_as(c.embedding), d.of_embedding, called_as(fused.add_id)],
        "nn.functional.embedding_bag": [called_as(c.embedding_bag)],
        "nn.functional.one_hot": [called_as(c.one_hot)],
        "gather": [called_as(c.gather)],
        "take": [called_as(c.take)],
        "index_add": [called_as(c.acc)],
        "index_copy": [called_as(c.index_copy)],
        "index_put": [called_as(c.index_put)],
        "scatter": [called_as(c.scatter_number)],
        "scatter_reduce/sum": [called_as(c.scatter_reduce_sum)],
        "repeat_interleave": [called_as(c.repeat_interleave)],
        "unfold": [called_as(c.unfold)],
        "unfold_copy": [called_as(c.unfold)],
        "as_strided_scatter": [called_as(c.as_strided_scatter)],
    },
    "moves": {
        "expand": [called_as(c.expand), d.of_expand],
        "expand_copy": [called_as(c.expand)],
        "expand_as": [called_as(c.expand_as)],
        "broadcast_to": [called_as(c.expand)],
        "broadcast_tensors": [called_as(c.broadcast_tensors)],
        "meshgrid/variadic_tensors": [called_as(c.meshgrid)],
        "meshgrid/list_of_tensors": [called_as(c.meshgrid_of_a_list)],
        "reshape": [called_as(c.reshape)],
        "view": [called_as(c.reshape)],
        "view_copy": [called_as(c.reshape)],
        "reshape_as": [called_as(c.reshape_as)],
        "view_as": [called_as(c.reshape_as)],
        "ravel": [with_result(c.reshaped)],
        "flatten": [with_result(c.reshaped)],
        "unflatten": [with_result(c.reshaped)],
        "squeeze": [with_result(c.reshaped)],
        "squeeze/multiple": [with_result(c.reshaped)],
        "squeeze_copy": [with_result(c.reshaped)],
        "unsqueeze": [with_result(c.reshaped)],
        "unsqueeze_copy": [with_result(c.reshaped)],
        "atleast_1d": [with_result(c.reshaped)],
        "atleast_2d": [with_result(c.reshaped)],
        "atleast_3d": [with_result(c.reshaped)],
        "nn.functional.pixel_unshuffle": [with_result(c.pixel_unshuffle)],
        "nn.functional.channel_shuffle": [called_as(c.channel_shuffle)],
        "permute": [called_as(c.permute)],
        "permute_copy": [called_as(c.permute)],
        "flip": [called_as(c.flip)],
        "as_strided": [called_as(c.as_strided)],
        "as_strided_copy": [called_as(c.as_strided)],
        "as_strided/partial_views": [called_as(c.as_strided)],
        "movedim": [called_as(c.movedim)],
        "t": [called_as(c.turned)],
        "t_copy": [called_as(c.turned)],
        "T": [called_as(c.turned)],
        "H": [called_as(c.turned)],
        "mT": [called_as(c.turned)],
        "mH": [called_as(c.turned)],
        "rot90": [called_as(c.rot90)],
        "fliplr": [called_as(c.fliplr)],
        "flipud": [called_as(c.flipud)],
        "roll": [called_as(c.roll)],
        "tile": [called_as(c.tile)],
        "repeat": [called_as(c.repeat), d.of_repeat],
        "tril": [by_name("tril"), called_as(c.diag_mask_zero), called_as(fused.diag_mask_inf)],
        "diag_embed": [called_as(c.diag_embed)],
        "diagflat": [called_as(c.diagflat)],
        "diagonal": [called_as(c.diagonal)],
        "diagonal_copy": [called_as(c.diagonal)],
        "linalg.diagonal": [called_as(c.linalg_diagonal)],
        "cat": [called_as(c.cat)],
        "hstack": [called_as(c.hstack)],
        "vstack": [called_as(c.vstack)],
        "dstack": [called_as(c.dstack)],
        "column_stack": [called_as(c.column_stack)],
        "split": [with_result(c.split_along)],
        "split/list_args": [with_result(c.split_along)],
        "split_with_sizes": [with_result(c.split_along)],
        "split_with_sizes_copy": [with_result(c.split_along)],
        "unsafe_split": [with_result(c.split_along)],
        "chunk": [with_result(c.split_along)],
        "unsafe_chunk": [with_result(c.split_along)],
        "tensor_split": [with_result(c.split_along)],
        "hsplit": [with_result(c.hsplit)],
        "vsplit": [with_result(c.vsplit)],
        "dsplit": [with_result(c.dsplit)],
        "unbind": [called_as(c.unbind)],
        "unbind_copy": [called_as(c.unbind)],
        "narrow": [called_as(c.narrow)],
        "narrow_copy": [called_as(c.narrow)],
        "select": [called_as(c.select)],
        "slice": [called_as(c.slice_of)],
        "__getitem__": [called_as(c.getitem)],
        "slice_scatter": [called_as(c.slice_scatter)],
        "select_scatter": [called_as(c.select_scatter)],
        "diagonal_scatter": [called_as(c.diagonal_scatter)],
        "masked_fill": [called_as(c.masked_fill)],
        "where": [called_as(c.where)],
        "msort": [called_as(c.msort)],
    },
    "activations": {
        "nn.functional.silu": [
            by_name("silu"),
            d.of_silu,
            called_as(fused.gelu_quick),
            called_as(fused.gated("swiglu")),
            called_as(fused.geglu_quick),
        ],
        "nn.functional.relu": [called_as(fused.relu2), called_as(fused.gated("reglu"))],
        "nn.functional.gelu": [called_as(fused.gated("geglu", "tanh")), called_as(fused.gated("geglu_erf", "none"))],
    },
}


def _made() -> dict[str, list[Reader]]:
    table: dict[str, list[Reader]] = {}
    for names in BY_NAME.values():
        for word in names.split():
            entry, _, operator = word.partition("=")
            name = operator or entry.partition("/")[0].removeprefix("nn.functional.")
            table.setdefault(entry, []).append(by_name(name))
    for family in BY_FUNCTION.values():
        for entry, readers in family.items():
            table.setdefault(entry, []).extend(readers)
    return table


TABLE: Mapping[str, Sequence[Reader]] = _made()

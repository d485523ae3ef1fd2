"""Which entry of OpInfo is which operator of ours: one table, by families.

`TABLE[entry]` holds the readers of an entry, one for each operator that its samples are calls of. To add an entry, put
its name into a line of `BY_NAME` where its arguments are called as ours are; else add a line to a family below, with a
function of a file beside this one: it has PyTorch's signature and
gives the operator, tensors in its order, and its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import _composed as fused
import _gradients as gradients
import _moves as moves
import _numbers as numbers
import _products as products
import _windows as windows
from _oracle import Reader
from _readers import by_name, called_as, with_result

#: Entries whose arguments are called as ours are: after `=` the operator, where it has another name.
BY_NAME = {
    "functions of one number": """
        abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfinv exp exp2 expm1 floor i0 isfinite isinf
        isnan lgamma log log1p log2 logical_not neg reciprocal round round/decimals_0 rsqrt sigmoid sign sgn=sign
        sin sinh sqrt square tan tanh trunc positive=contiguous special.modified_bessel_i0=i0""",
    "activations": """
        nn.functional.relu nn.functional.relu6 nn.functional.elu nn.functional.celu nn.functional.selu
        nn.functional.mish nn.functional.gelu nn.functional.softplus nn.functional.softsign nn.functional.softshrink
        nn.functional.hardshrink nn.functional.tanhshrink nn.functional.hardtanh nn.functional.hardsigmoid
        nn.functional.hardswish nn.functional.leaky_relu nn.functional.prelu nn.functional.logsigmoid
        nn.functional.threshold""",
    "functions of two numbers": """
        add sub mul div/no_rounding_mode=div true_divide=div __radd__=add __rmul__=mul __rsub__=sub rsub=sub atan2
        bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift __rand__=bitwise_and
        __ror__=bitwise_or __rxor__=bitwise_xor eq ne lt le gt ge fmod remainder floor_divide hypot logaddexp
        logical_and logical_or maximum minimum max/binary=maximum min/binary=minimum pow xlogy addcmul addcdiv""",
    "reductions": """
        sum mean prod amax amin all any argmax argmin logsumexp cumsum cumprod logcumsumexp softmax
        softmax/with_dtype=softmax log_softmax log_softmax/with_dtype=log_softmax""",
    "products": """
        addmm addmm/decomposed=addmm baddbmm bmm bmm/triton_optimized=bmm dot vdot=dot matmul mm=matmul mv=matmul
        __rmatmul__=matmul outer=outer_product nn.functional.linear cdist linalg.det=det linalg.inv=inverse
        linalg.solve_triangular=solve_triangular""",
    "convolutions and windows": "nn.functional.pixel_shuffle",
    "normalisations": "nn.functional.group_norm nn.functional.local_response_norm",
    "losses": """
        nn.functional.cross_entropy nn.functional.nll_loss nn.functional.kl_div nn.functional.mse_loss
        nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.huber_loss
        nn.functional.binary_cross_entropy_with_logits=bce_with_logits""",
    "order": "sort argsort topk",
    "moves": """
        transpose transpose_copy=transpose triu diag stack index_select index_add scatter scatter_add take_along_dim
        clone=contiguous alias_copy=contiguous nn.functional.pad/constant=pad nn.functional.pad/reflect=pad
        nn.functional.pad/replicate=pad nn.functional.pad/replicate_negative=pad nn.functional.pad/circular=pad
        constant_pad_nd=pad""",
}

#: Entries that take functions of the files beside this one: _composed.py has fused operators, _gradients.py those
#: that are the gradient of another one.
BY_FUNCTION: Mapping[str, Mapping[str, Sequence[Reader]]] = {
    "functions of one number": {
        "bitwise_not": [called_as(numbers.bitwise_not)],
        "rad2deg": [called_as(numbers.rad2deg)],
        "deg2rad": [called_as(numbers.deg2rad)],
        "polygamma/polygamma_n_0": [called_as(numbers.polygamma)],
        "special.polygamma/special_polygamma_n_0": [called_as(numbers.polygamma)],
        "clamp": [called_as(numbers.clamp)],
        "clamp_min": [called_as(numbers.clamp_min)],
        "clamp_max": [called_as(numbers.clamp_max)],
        "fill": [called_as(numbers.fill)],
        "full_like": [called_as(numbers.fill)],
        "zeros_like": [called_as(numbers.zeros_like)],
        "ones_like": [called_as(numbers.ones_like)],
        "new_zeros": [called_as(numbers.new_zeros)],
        "new_ones": [called_as(numbers.new_ones)],
        "new_full": [called_as(numbers.new_full)],
        "arange": [called_as(numbers.arange)],
        "to": [called_as(numbers.to)],
        "half": [called_as(numbers.cast("f16"))],
        "bfloat16": [called_as(numbers.cast("bf16"))],
        "float": [called_as(numbers.cast("f32"))],
        "double": [called_as(numbers.copied)],
        "conj": [called_as(numbers.copied)],
        "conj_physical": [called_as(numbers.copied)],
        "resolve_conj": [called_as(numbers.copied)],
        "resolve_neg": [called_as(numbers.copied)],
        "contiguous": [called_as(numbers.copied)],
        "real": [called_as(numbers.copied)],
    },
    "functions of two numbers": {
        "add": [called_as(numbers.add1)],
        "mul": [called_as(numbers.scale)],
        "eq": [called_as(numbers.count_equal)],
        "div/floor_rounding": [called_as(numbers.floor_divide)],
        "__rdiv__": [called_as(numbers.rdiv)],
        "__rmod__": [called_as(numbers.rmod)],
        "__rpow__": [called_as(numbers.rpow)],
        "float_power": [called_as(numbers.float_power)],
        "heaviside": [called_as(numbers.heaviside)],
        "lerp": [called_as(numbers.lerp)],
        "ldexp": [called_as(numbers.ldexp)],
    },
    "reductions": {
        "max/reduction_no_dim": [called_as(numbers.amax_of_all)],
        "min/reduction_no_dim": [called_as(numbers.amin_of_all)],
        "max/reduction_with_dim": [called_as(numbers.amax_along), called_as(numbers.argmax_along)],
        "min/reduction_with_dim": [called_as(numbers.amin_along), called_as(numbers.argmin_along)],
        "aminmax": [called_as(numbers.amin_of_both), called_as(numbers.amax_of_both)],
        "std": [called_as(numbers.unbiased("std"))],
        "var": [called_as(numbers.unbiased("var"))],
        "std/unbiased": [called_as(numbers.unbiased("std"))],
        "var/unbiased": [called_as(numbers.unbiased("var"))],
        "std_mean": [called_as(numbers.of_two("std", 0)), called_as(numbers.of_two("mean", 1))],
        "var_mean": [called_as(numbers.of_two("var", 0)), called_as(numbers.of_two("mean", 1))],
        "std_mean/unbiased": [called_as(numbers.unbiased("std", 0))],
        "var_mean/unbiased": [called_as(numbers.unbiased("var", 0))],
        "linalg.vector_norm": [called_as(numbers.vector_norm)],
        "linalg.norm": [called_as(numbers.linalg_norm)],
        "linalg.norm/subgradients_at_zero": [called_as(numbers.linalg_norm)],
        "linalg.matrix_norm": [called_as(numbers.matrix_norm)],
        "norm": [called_as(numbers.norm)],
        "norm/fro": [called_as(numbers.norm)],
        "norm/inf": [called_as(numbers.norm)],
        "nn.functional.normalize": [called_as(numbers.normalize)],
        "dist": [called_as(numbers.dist)],
        "nn.functional.pairwise_distance": [called_as(numbers.pairwise_distance)],
        "nn.functional.softmin": [called_as(numbers.softmin)],
        "nn.functional.softmin/with_dtype": [called_as(numbers.softmin)],
        "torch.ops.aten._safe_softmax.default": [called_as(numbers.safe_softmax)],
        "softmax": [called_as(numbers.softmax_ext)],
        "sum_to_size": [called_as(numbers.sum_to_size)],
        "masked.softmax": [called_as(numbers.masked_softmax)],
        "_softmax_backward_data": [called_as(numbers.softmax_backward)],
    },
    "products": {
        "addmv": [called_as(products.addmv)],
        "inner": [called_as(products.inner)],
        "einsum": [called_as(products.einsum)],
        "tensordot": [called_as(products.tensordot)],
        "linalg.vecdot": [called_as(products.vecdot)],
        "linalg.multi_dot": [called_as(products.multi_dot)],
        "linalg.matrix_power": [called_as(products.matrix_power)],
        "linalg.inv_ex": [called_as(products.inv_ex)],
        "linalg.cholesky_ex": [called_as(products.cholesky_ex)],
        "cholesky": [called_as(products.cholesky)],
        "linalg.cholesky": [called_as(products.cholesky)],
        "triangular_solve": [called_as(products.triangular_solve)],
        "addr": [called_as(products.addr)],
        "bmm": [called_as(products.mul_mat_id)],
        "nn.functional.linear": [called_as(fused.linear_swiglu), called_as(fused.linear_geglu)],
        "nn.functional.scaled_dot_product_attention": [
            called_as(products.attention),
            called_as(products.sliding_window_attention),
            called_as(products.varlen_attention),
            called_as(fused.paged_attention),
        ],
    },
    "convolutions and windows": {
        "nn.functional.conv1d": [called_as(windows.conv1d), called_as(windows.ssm_conv)],
        "nn.functional.conv2d": [called_as(windows.conv2d), called_as(windows.depthwise)],
        "nn.functional.conv3d": [called_as(windows.conv3d)],
        "nn.functional.conv_transpose1d": [called_as(windows.conv_transpose1d)],
        "nn.functional.conv_transpose2d": [called_as(windows.conv_transpose2d)],
        "nn.functional.avg_pool1d": [called_as(windows.avg_pool1d)],
        "nn.functional.avg_pool2d": [called_as(windows.avg_pool2d), gradients.of_avg_pool2d],
        "nn.functional.avg_pool3d": [called_as(windows.avg_pool3d)],
        "nn.functional.adaptive_avg_pool1d": [called_as(windows.adaptive_avg_pool1d)],
        "nn.functional.adaptive_avg_pool2d": [called_as(windows.adaptive_avg_pool2d)],
        "nn.functional.max_pool1d": [called_as(windows.max_pool1d)],
        "nn.functional.max_pool2d": [called_as(windows.max_pool2d), gradients.of_max_pool2d],
        "nn.functional.max_pool3d": [called_as(windows.max_pool3d)],
        "nn.functional.unfold": [
            called_as(windows.im2col),
            gradients.of_unfold_as("im2col_back"),
            gradients.of_unfold_as("col2im"),
        ],
        "nn.functional.interpolate/nearest": [called_as(windows.interpolate)],
        "nn.functional.interpolate/bilinear": [called_as(windows.interpolate)],
        "nn.functional.interpolate/bicubic": [called_as(windows.interpolate)],
        "nn.functional.interpolate/linear": [called_as(windows.interpolate)],
        "nn.functional.interpolate/area": [called_as(windows.interpolate)],
        "nn.functional.upsample_nearest": [called_as(windows.upsample_nearest)],
        "nn.functional.upsample_bilinear": [called_as(windows.upsample_bilinear)],
        "grid_sampler_2d": [called_as(windows.grid_sampler_2d)],
        "stft": [called_as(windows.stft)],
        "fft.fft": [called_as(windows.fft(inverse=False))],
        "fft.ifft": [called_as(windows.fft(inverse=True))],
        "fft.rfft": [called_as(windows.rfft)],
        "fft.ihfft": [called_as(windows.ihfft)],
        "fft.fft2": [called_as(windows.fftn(inverse=False))],
        "fft.fftn": [called_as(windows.fftn(inverse=False))],
        "fft.ifft2": [called_as(windows.fftn(inverse=True))],
        "fft.ifftn": [called_as(windows.fftn(inverse=True))],
        "fft.rfft2": [called_as(windows.rfftn)],
        "fft.rfftn": [called_as(windows.rfftn)],
        "fft.fftshift": [called_as(windows.fftshift)],
        "fft.ifftshift": [called_as(windows.ifftshift)],
    },
    "normalisations": {
        "nn.functional.layer_norm": [called_as(products.layer_norm)],
        "native_layer_norm": [called_as(products.native_layer_norm)],
        "nn.functional.rms_norm": [
            called_as(products.rms_norm),
            gradients.of_rms_norm,
            called_as(fused.add_rms_norm),
            called_as(fused.rms_norm_mul_add),
        ],
        "native_group_norm": [called_as(products.native_group_norm)],
        "nn.functional.instance_norm": [called_as(products.instance_norm)],
        "nn.functional.batch_norm": [called_as(products.batch_norm), called_as(products.batch_norm_training)],
        "native_batch_norm": [called_as(products.native_batch_norm)],
        "_native_batch_norm_legit": [called_as(products.native_batch_norm)],
    },
    "drawn": {
        "nn.functional.dropout": [with_result(products.dropout)],
        "nn.functional.dropout2d": [with_result(products.feature_dropout)],
        "nn.functional.dropout3d": [with_result(products.feature_dropout)],
        "native_dropout_backward": [called_as(products.native_dropout_backward)],
    },
    "losses": {
        "nn.functional.linear_cross_entropy": [called_as(products.linear_cross_entropy)],
        "nn.functional.linear_cross_entropy/chunked": [called_as(products.linear_cross_entropy)],
        "nn.functional.linear_cross_entropy/chunked_none": [called_as(products.linear_cross_entropy)],
        "nn.functional.cross_entropy": [gradients.of_cross_entropy],
    },
    "indices": {
        "nn.functional.embedding": [called_as(moves.embedding), gradients.of_embedding, called_as(fused.add_id)],
        "nn.functional.embedding_bag": [called_as(moves.embedding_bag)],
        "nn.functional.one_hot": [called_as(moves.one_hot)],
        "gather": [called_as(moves.gather)],
        "take": [called_as(moves.take)],
        "index_add": [called_as(moves.acc)],
        "index_put": [called_as(moves.index_put)],
        "scatter": [called_as(moves.scatter_number)],
        "scatter_reduce/sum": [called_as(moves.scatter_reduce_sum)],
        "repeat_interleave": [called_as(moves.repeat_interleave)],
        "unfold": [called_as(moves.unfold)],
        "unfold_copy": [called_as(moves.unfold)],
        "as_strided_scatter": [called_as(moves.as_strided_scatter)],
    },
    "moves": {
        "expand": [called_as(moves.expand), gradients.of_expand],
        "expand_copy": [called_as(moves.expand)],
        "expand_as": [called_as(moves.expand_as)],
        "broadcast_to": [called_as(moves.expand)],
        "broadcast_tensors": [called_as(moves.broadcast_tensors)],
        "meshgrid/variadic_tensors": [called_as(moves.meshgrid)],
        "meshgrid/list_of_tensors": [called_as(moves.meshgrid_of_a_list)],
        "reshape": [called_as(moves.reshape)],
        "view": [called_as(moves.reshape)],
        "view_copy": [called_as(moves.reshape)],
        "reshape_as": [called_as(moves.reshape_as)],
        "view_as": [called_as(moves.reshape_as)],
        "ravel": [with_result(moves.reshaped)],
        "flatten": [with_result(moves.reshaped)],
        "unflatten": [with_result(moves.reshaped)],
        "squeeze": [with_result(moves.reshaped)],
        "squeeze/multiple": [with_result(moves.reshaped)],
        "squeeze_copy": [with_result(moves.reshaped)],
        "unsqueeze": [with_result(moves.reshaped)],
        "unsqueeze_copy": [with_result(moves.reshaped)],
        "atleast_1d": [with_result(moves.reshaped)],
        "atleast_2d": [with_result(moves.reshaped)],
        "atleast_3d": [with_result(moves.reshaped)],
        "nn.functional.pixel_unshuffle": [with_result(moves.pixel_unshuffle)],
        "nn.functional.channel_shuffle": [called_as(moves.channel_shuffle)],
        "permute": [called_as(moves.permute)],
        "permute_copy": [called_as(moves.permute)],
        "flip": [called_as(moves.flip)],
        "as_strided": [called_as(moves.as_strided)],
        "as_strided_copy": [called_as(moves.as_strided)],
        "movedim": [called_as(moves.movedim)],
        "t": [called_as(moves.turned)],
        "t_copy": [called_as(moves.turned)],
        "T": [called_as(moves.turned)],
        "H": [called_as(moves.turned)],
        "mT": [called_as(moves.turned)],
        "mH": [called_as(moves.turned)],
        "rot90": [called_as(moves.rot90)],
        "fliplr": [called_as(moves.fliplr)],
        "flipud": [called_as(moves.flipud)],
        "roll": [called_as(moves.roll)],
        "tile": [called_as(moves.tile)],
        "repeat": [called_as(moves.repeat), gradients.of_repeat],
        "tril": [by_name("tril"), called_as(moves.diag_mask_zero), called_as(fused.diag_mask_inf)],
        "diagflat": [called_as(moves.diagflat)],
        "diagonal": [called_as(moves.diagonal)],
        "diagonal_copy": [called_as(moves.diagonal)],
        "linalg.diagonal": [called_as(moves.linalg_diagonal)],
        "cat": [called_as(moves.cat)],
        "hstack": [called_as(moves.hstack)],
        "vstack": [called_as(moves.vstack)],
        "dstack": [called_as(moves.dstack)],
        "column_stack": [called_as(moves.column_stack)],
        "split": [with_result(moves.split_along)],
        "split/list_args": [with_result(moves.split_along)],
        "split_with_sizes": [with_result(moves.split_along)],
        "split_with_sizes_copy": [with_result(moves.split_along)],
        "unsafe_split": [with_result(moves.split_along)],
        "chunk": [with_result(moves.split_along)],
        "unsafe_chunk": [with_result(moves.split_along)],
        "tensor_split": [with_result(moves.split_along)],
        "hsplit": [with_result(moves.hsplit)],
        "vsplit": [with_result(moves.vsplit)],
        "dsplit": [with_result(moves.dsplit)],
        "unbind": [called_as(moves.unbind)],
        "unbind_copy": [called_as(moves.unbind)],
        "narrow": [called_as(moves.narrow)],
        "narrow_copy": [called_as(moves.narrow)],
        "select": [called_as(moves.select)],
        "slice": [called_as(moves.slice_of)],
        "__getitem__": [called_as(moves.getitem)],
        "slice_scatter": [called_as(moves.slice_scatter)],
        "select_scatter": [called_as(moves.select_scatter)],
        "diagonal_scatter": [called_as(moves.diagonal_scatter)],
        "masked_fill": [called_as(moves.masked_fill)],
        "where": [called_as(moves.where)],
        "msort": [called_as(moves.msort)],
    },
    "activations": {
        "nn.functional.silu": [
            by_name("silu"),
            gradients.of_silu,
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

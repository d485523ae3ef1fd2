// Convolutions, pooling, norms over channels, resizing. TensorFlow.js has channels last, opproof channels first.
'use strict';
const tf = require('@tensorflow/tfjs');
const { require: need, each } = require('./support');

const last = (x) => tf.transpose(x, [0, ...x.shape.map((_, i) => i).slice(2), 1]);
const first = (y) => tf.transpose(y, [0, y.rank - 1, ...y.shape.map((_, i) => i).slice(1, -1)]);

/** `f` over a batch of tensors with `spatial` axes, channels last; a single one is a batch of one. */
function channelsLast(spatial, f) {
  return ([x, ...rest], params, gradient) => {
    const single = x.rank === spatial + 1;
    need(single || x.rank === spatial + 2, `it is of ${spatial} spatial axes, with a batch`);
    const done = [f([last(single ? tf.reshape(x, [1, ...x.shape]) : x), ...rest], params, gradient)].flat().map(first);
    const shaped = single ? done.map((y) => tf.reshape(y, y.shape.slice(1))) : done;
    return shaped.length === 1 ? shaped[0] : shaped;
  };
}

/** Weights (out, in, ...) to (..., in, out). */
const filters = (weight) => tf.transpose(weight, [...weight.shape.map((_, i) => i).slice(2), 1, 0]);
const biased = (y, bias) => (bias ? tf.add(y, bias) : y);
/** Zeros around the spatial axes, for functions whose own padding is one number or none. */
const padded = (x, sizes) => (sizes.some(Boolean) ? tf.pad(x, [[0, 0], ...sizes.map((p) => [p, p]), [0, 0]]) : x);

function conv(spatial, name) {
  return channelsLast(spatial, ([x, weight, bias], { stride, padding, dilation, groups = 1 }) => {
    need(groups === 1, `${name} has no groups`);
    const [s, p, d] = [stride, padding, dilation].map((v) => each(v, spatial));
    const one = (v) => (spatial === 1 ? v[0] : v);
    const format = { 1: 'NWC', 2: 'NHWC', 3: 'NDHWC' }[spatial];
    return biased(tf[name](padded(x, p), filters(weight), one(s), 'valid', format, one(d)), bias);
  });
}

const depthwise = channelsLast(2, ([x, weight, bias], { stride, padding, dilation }) => {
  // (channels * multiplier, 1, kh, kw) to (kh, kw, channels, multiplier)
  const [rows, , kh, kw] = weight.shape, c = x.shape[3];
  const filter = tf.transpose(tf.reshape(weight, [c, rows / c, kh, kw]), [2, 3, 0, 1]);
  const [s, p, d] = [stride, padding, dilation].map((v) => each(v, 2));
  return biased(tf.depthwiseConv2d(padded(x, p), filter, s, 'valid', 'NHWC', d), bias);
});

const convTranspose = channelsLast(2, ([x, weight, bias], { stride, padding, output_padding, groups, dilation }) => {
  const [s, p, extra, d] = [stride, padding, output_padding, dilation].map((v) => each(v, 2));
  need(groups === 1 && d.every((n) => n === 1), 'conv2dTranspose has neither groups nor dilation');
  const [, out, ...k] = weight.shape;
  const whole = [0, 1].map((i) => (x.shape[i + 1] - 1) * s[i] + k[i] + extra[i]);
  const y = tf.conv2dTranspose(x, tf.transpose(weight, [2, 3, 1, 0]), [x.shape[0], ...whole, out], s, 'valid');
  const cut = tf.slice(y, [0, ...p, 0], [y.shape[0], ...whole.map((n, i) => n - 2 * p[i]), out]);
  return biased(cut, bias);
});

function pooling({ kernel_size, stride, padding, dilation = 1, ceil_mode }) {
  const [k, p, d] = [kernel_size, padding, dilation].map((v) => each(v, 2));
  need(!ceil_mode, 'pooling with ceil_mode has other windows');
  need(d.every((n) => n === 1), 'maxPool has no dilation');
  const sides = [[0, 0], [p[0], p[0]], [p[1], p[1]], [0, 0]];
  return [k, stride === null ? k : each(stride, 2), p.some(Boolean) ? sides : 'valid'];
}

const maxPool = channelsLast(2, ([x], params, gradient) => {
  const [k, s, p] = pooling(params);
  if (gradient) return [tf.maxPool(x, k, s, p)];
  const values = tf.maxPool(x, k, s, p);
  const { indexes } = tf.maxPoolWithArgmax(x, k, s, p);
  return [values, tf.floorDiv(indexes, tf.scalar(x.shape[3], 'int32'))]; // which count the channels too
});

const avgPool = channelsLast(2, ([x], params) => {
  const [k, s, p] = pooling(params);
  need(!params.divisor_override, 'avgPool has no divisor of its own');
  need(p === 'valid' || !params.count_include_pad, 'avgPool never counts the padding');
  return tf.avgPool(x, k, s, p);
});

/** (n, c, ...) as (n, all places, 1, c), and back. */
function folded(x, f) {
  const places = x.shape.slice(2).reduce((a, b) => a * b, 1);
  const y = f(tf.transpose(tf.reshape(x, [x.shape[0], x.shape[1], places, 1]), [0, 2, 3, 1]));
  return tf.reshape(tf.transpose(y, [0, 3, 1, 2]), x.shape);
}

/** Inference only. */
function batchNorm([x, mean, variance, weight = null, bias = null], { training, eps }) {
  need(!training, 'batchNorm is for inference');
  const [offset, scale] = [bias, weight].map((v) => (v === null ? undefined : v));
  return folded(x, (wide) => tf.batchNorm(wide, mean, variance, offset, scale, eps));
}

function localResponseNorm([x], { size, alpha, beta, k }) {
  need(size % 2 === 1, 'localResponseNormalization has windows of odd size');
  return folded(x, (wide) => tf.localResponseNormalization(wide, (size - 1) / 2, k, alpha / size, beta));
}

module.exports = {
  conv1d: conv(1, 'conv1d'),
  conv2d: conv(2, 'conv2d'),
  conv3d: conv(3, 'conv3d'),
  conv2d_depthwise: depthwise,
  conv_transpose2d: convTranspose,
  max_pool2d: maxPool,
  avg_pool2d: avgPool,
  batch_norm: batchNorm,
  local_response_norm: localResponseNorm,
  upsample_bilinear: channelsLast(2, ([x], { size, align_corners }) => tf.image.resizeBilinear(x, size, align_corners, !align_corners)),
  upsample_nearest: channelsLast(2, ([x], { size }) => tf.image.resizeNearestNeighbor(x, size)),
};

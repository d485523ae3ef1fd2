// Operators that move elements.
'use strict';
const tf = require('@tensorflow/tfjs');
const { require: need, axis } = require('./support');

function pad([x], { pad: sizes, mode, value }) {
  need(sizes.every((n) => n >= 0), 'pad does not crop');
  const pairs = Array.from({ length: x.rank }, () => [0, 0]);
  for (let i = 0; i < sizes.length / 2; i++) pairs[x.rank - 1 - i] = [sizes[2 * i], sizes[2 * i + 1]];
  if (mode === 'constant') return tf.pad(x, pairs, value === null ? 0 : value);
  need(mode === 'reflect', `mirrorPad has no mode ${mode}`);
  return tf.mirrorPad(x, pairs, 'reflect');
}

function slice([x], { dim, start, end, step }) {
  const d = axis(dim, x.rank), n = x.shape[d];
  const place = (i) => Math.min(Math.max(i < 0 ? i + n : i, 0), n);
  const first = place(start), last = Math.max(place(end === null ? n : end), first);
  const begin = x.shape.map((_, i) => (i === d ? first : 0));
  const ends = x.shape.map((size, i) => (i === d ? last : size));
  if (step === 1) return tf.slice(x, begin, ends.map((e, i) => e - begin[i]));
  return tf.stridedSlice(x, begin, ends, x.shape.map((_, i) => (i === d ? step : 1)));
}

function expand([x], { shape }) {
  const front = shape.length - x.rank;
  return tf.broadcastTo(x, shape.map((n, i) => (n === -1 ? x.shape[i - front] : n)));
}

function repeat([x], { repeats }) {
  const front = repeats.length - x.rank;
  return tf.tile(front ? tf.reshape(x, [...Array(front).fill(1), ...x.shape]) : x, repeats);
}

function swapped([x], { dim0, dim1 }) {
  const order = x.shape.map((_, i) => i), a = axis(dim0, x.rank), b = axis(dim1, x.rank);
  [order[a], order[b]] = [b, a];
  return tf.transpose(x, order);
}

/** Each part of [..., r*r*c] to an r × r block; opproof's has the channels in front of the block's cells. */
function pixelShuffle([x], { upscale_factor: r }) {
  need(x.rank === 4, 'depthToSpace is of 4 dimensions');
  const [n, c, h, w] = x.shape;
  const cells = tf.transpose(tf.reshape(x, [n, c / (r * r), r * r, h, w]), [0, 3, 4, 2, 1]);
  return tf.transpose(tf.depthToSpace(tf.reshape(cells, [n, h, w, c]), r, 'NHWC'), [0, 3, 1, 2]);
}

module.exports = {
  concat: (xs, { dim }) => tf.concat(xs, axis(dim, xs[0].rank)),
  stack: (xs, { dim }) => tf.stack(xs, axis(dim, xs[0].rank + 1)),
  split: ([x], { sizes, dim }) => tf.split(x, sizes, axis(dim, x.rank)),
  flip: ([x], { dims }) => tf.reverse(x, dims),
  permute: ([x], { dims }) => tf.transpose(x, dims.map((d) => axis(d, x.rank))),
  transpose: swapped,
  reshape: ([x], { shape }) => tf.reshape(x, shape),
  expand,
  repeat,
  pad,
  slice,
  index_select: ([x, index], { dim }) => tf.gather(x, index, axis(dim, x.rank)),
  embedding: ([weight, indices]) => tf.gather(weight, indices),
  one_hot: ([index], { num_classes }) => tf.cast(tf.oneHot(index, num_classes), 'int32'),
  arange: (_, { start, end, step }) => tf.range(start, end, step),
  diag: ([x], { diagonal }) => (need(x.rank === 1 && diagonal === 0, 'diag is of a vector, onto the main diagonal'), tf.diag(x)),
  pixel_shuffle: pixelShuffle,
};

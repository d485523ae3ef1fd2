// Reductions, softmax, scans, products.
'use strict';
const tf = require('@tensorflow/tfjs');
const { require: need, axis } = require('./support');

const reduction = (name) => ([x], { dim, keepdim }) => tf[name](x, dim, keepdim);
const count = (shape) => shape.reduce((a, b) => a * b, 1);
const bool = (x) => (x.dtype === 'bool' ? x : tf.notEqual(x, 0));

/** The index of the largest or smallest; of all elements where there is no dim. */
const arg = (name) => ([x], { dim, keepdim }) => {
  const y = dim === null ? tf[name](tf.reshape(x, [-1])) : tf[name](x, dim);
  return keepdim ? tf.reshape(y, x.shape.map((n, i) => (dim === null || i === axis(dim, x.rank) ? 1 : n))) : y;
};

module.exports = {
  sum: reduction('sum'),
  mean: reduction('mean'),
  prod: reduction('prod'),
  amax: reduction('max'),
  amin: reduction('min'),
  logsumexp: reduction('logSumExp'),
  all: ([x], { dim, keepdim }) => tf.all(bool(x), dim, keepdim),
  any: ([x], { dim, keepdim }) => tf.any(bool(x), dim, keepdim),
  argmax: arg('argMax'),
  argmin: arg('argMin'),
  norm: ([x], { p, dim, keepdim }) => {
    need([1, 2, Infinity, -Infinity].includes(p), `norm has no p = ${p}`);
    const axes = dim === null ? null : [dim].flat();
    if (p === 2) return tf.euclideanNorm(x, axes, keepdim);
    need(axes === null ? x.rank === 1 : axes.length === 1, `norm with p = ${p} is of vectors or matrices`);
    return tf.norm(x, p, axes === null ? 0 : axes[0], keepdim);
  },
  var: ([x], { dim, correction, keepdim }) => (need(correction === 0, 'moments have no correction'), tf.moments(x, dim, keepdim).variance),
  softmax: ([x], { dim }) => tf.softmax(x, axis(dim, x.rank)),
  log_softmax: ([x], { dim }) => tf.logSoftmax(x, axis(dim, x.rank)),
  cumsum: ([x], { dim }) => tf.cumsum(x, axis(dim, x.rank)),
  cumprod: ([x], { dim }) => tf.cumprod(x, axis(dim, x.rank)),
  topk: ([x], { k, dim, largest }) => {
    need(axis(dim, x.rank) === x.rank - 1 && largest, 'topk is of the largest along the last axis');
    const { values, indices } = tf.topk(x, k, true);
    return [values, indices];
  },
  matmul: ([a, b]) => (need(a.rank > 1 && b.rank > 1, 'matMul is of matrices'), tf.matMul(a, b)),
  bmm: ([a, b]) => tf.matMul(a, b),
  dot: ([a, b]) => tf.dot(a, b),
  outer_product: ([a, b]) => (need(a.rank === 1 && b.rank === 1, 'outerProduct is of vectors'), tf.outerProduct(a, b)),
  linear: ([x, weight, bias]) => {
    const rows = tf.matMul(tf.reshape(x, [count(x.shape.slice(0, -1)), x.shape[x.rank - 1]]), weight, false, true);
    return tf.reshape(bias ? tf.add(rows, bias) : rows, [...x.shape.slice(0, -1), weight.shape[0]]);
  },
};

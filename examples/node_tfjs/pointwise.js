// Operators element by element: functions of (tensors, parameters) by opproof's name.
'use strict';
const tf = require('@tensorflow/tfjs');
const { require: need } = require('./support');

const unary = {};
for (const name of 'abs acos asin atan ceil cos cosh erf exp expm1 floor log log1p neg reciprocal relu relu6 round rsqrt selu sigmoid sign sin sinh sqrt square step tan tanh'.split(' ')) {
  unary[name] = ([x]) => tf[name](x);
}

const binary = {};
for (const [name, as] of Object.entries({
  add: 'add', sub: 'sub', mul: 'mul', div: 'div', maximum: 'maximum', minimum: 'minimum', atan2: 'atan2',
  remainder: 'mod', eq: 'equal', ne: 'notEqual', lt: 'less', le: 'lessEqual', gt: 'greater', ge: 'greaterEqual',
})) {
  binary[name] = ([a, b]) => tf[as](a, b);
}

const bool = (x) => (x.dtype === 'bool' ? x : tf.notEqual(x, 0));

/** A loss of opproof's by one of tf.losses, which takes the labels first. */
function loss(compute) {
  return ([x, target, ...rest], params) => {
    need(rest.every((t) => !t), 'its losses have no such weights');
    const reduction = { none: tf.Reduction.NONE, mean: tf.Reduction.MEAN, sum: tf.Reduction.SUM }[params.reduction];
    return compute(x, target, reduction, params);
  };
}

module.exports = {
  ...unary,
  ...binary,
  logsigmoid: ([x]) => tf.logSigmoid(x),
  contiguous: ([x]) => tf.clone(x),
  fill: ([x], { value }) => tf.fill(x.shape, value),
  elu: ([x], { alpha }) => (need(alpha === 1, 'elu has alpha = 1 only'), tf.elu(x)),
  leaky_relu: ([x], { negative_slope }) => tf.leakyRelu(x, negative_slope),
  softplus: ([x], { beta, threshold }) => (need(beta === 1 && threshold >= 20, 'softplus has beta = 1 only, and no threshold'), tf.softplus(x)),
  clamp: ([x], { min, max }) => tf.clipByValue(x, min === null ? -Infinity : min, max === null ? Infinity : max),
  hardtanh: ([x], { min_val, max_val }) => tf.clipByValue(x, min_val, max_val),
  prelu: ([x, weight]) => tf.prelu(x, tf.reshape(weight, weight.size === 1 ? [] : [weight.size, ...Array(x.rank - 2).fill(1)])),
  pow: ([a, b], { exponent }) => tf.pow(a, b ? b : tf.scalar(exponent)),
  lerp: ([a, b, weight]) => tf.add(a, tf.mul(weight, tf.sub(b, a))),
  scale: ([x], { s, b }) => tf.add(tf.mul(x, s), b),
  silu: ([x]) => tf.mul(x, tf.sigmoid(x)),
  logical_not: ([x]) => tf.logicalNot(bool(x)),
  logical_and: ([a, b]) => tf.logicalAnd(bool(a), bool(b)),
  logical_or: ([a, b]) => tf.logicalOr(bool(a), bool(b)),
  where: ([condition, a, b]) => tf.where(bool(condition), a, b),
  masked_fill: ([x, mask], { value }) => tf.where(bool(mask), tf.scalar(value), x),
  l1_loss: loss((x, t, reduction) => tf.losses.absoluteDifference(t, x, 1, reduction)),
  mse_loss: loss((x, t, reduction) => tf.losses.meanSquaredError(t, x, 1, reduction)),
  huber_loss: loss((x, t, reduction, { delta }) => tf.losses.huberLoss(t, x, 1, delta, reduction)),
  bce_with_logits: loss((x, t, reduction) => tf.losses.sigmoidCrossEntropy(t, x, 1, 0, reduction)),
};

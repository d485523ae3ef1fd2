// What the tables share.
'use strict';

/** Thrown for what TensorFlow.js does not have; the text is the reason. */
class Declined extends Error {}

function require_(condition, reason) {
  if (!condition) throw new Declined(`TensorFlow.js: ${reason}`);
}

/** Parameters with the numbers that JSON cannot hold. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
  }
  return ['Infinity', '-Infinity', 'NaN'].includes(value) ? Number(value) : value;
}

/** One number for all axes, or a number for each. */
function each(value, count) {
  return Array.isArray(value) ? (value.length === 1 ? Array(count).fill(value[0]) : value) : Array(count).fill(value);
}

/** An axis counted from the front. */
function axis(dim, rank) {
  return dim < 0 ? dim + rank : dim;
}

module.exports = { Declined, require: require_, plain, each, axis };

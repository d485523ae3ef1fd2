// TensorFlow.js, its pure JavaScript CPU kernels, as a backend of opproof: values, and gradients by its autodiff.
'use strict';
console.log = console.info = console.debug = console.error; // standard output is for frames
const tf = require('@tensorflow/tfjs');
const frames = require('./frames');
const { Declined, plain } = require('./support');

const table = { ...require('./pointwise'), ...require('./reductions'), ...require('./moves'), ...require('./windows') };

const ARRAYS = { F32: Float32Array, I32: Int32Array, BOOL: Uint8Array };
const NAMES = { float32: 'F32', int32: 'I32', bool: 'BOOL' };

// What TensorFlow.js says where it has no kernel or no gradient.
const DECLINES = /gradient function not found|not yet supported|not supported|Make sure that the f you passed|must be 1\. Got|depth must be >=2/;

/** A tensor of TensorFlow.js, whose integers are of 32 bits. */
function tensor({ dtype, shape, bytes }) {
  if (dtype === 'I64') return tf.tensor(Int32Array.from(new BigInt64Array(bytes.buffer), Number), shape, 'int32');
  if (!(dtype in ARRAYS)) throw new Declined(`TensorFlow.js has no ${dtype}`);
  return tf.tensor(new ARRAYS[dtype](bytes.buffer), shape, { F32: 'float32', I32: 'int32', BOOL: 'bool' }[dtype]);
}

function bytesOf(t) {
  const values = t.dataSync();
  return { dtype: NAMES[t.dtype], shape: t.shape, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) };
}

function outputs(op, inputs, params, gradient) {
  const found = table[op](inputs, params, gradient);
  return Array.isArray(found) ? found : [found];
}

function forward({ op, inputs, params }) {
  return Object.fromEntries(outputs(op, inputs, params, false).map((y, i) => [`output.${i}`, bytesOf(y)]));
}

/** The gradient of sum(g y) over the outputs that have a cotangent; integer outputs have none that matters. */
function vjp({ op, inputs, params, cotangents, needs }) {
  const places = needs.flatMap((need, i) => (need ? [i] : []));
  const sum = (...leaves) => {
    const given = [...inputs];
    places.forEach((place, k) => (given[place] = leaves[k]));
    const terms = outputs(op, given, params, true).map((y, i) => y.dtype === 'float32' && tf.sum(tf.mul(y, cotangents[i])));
    return terms.filter(Boolean).reduce((a, b) => tf.add(a, b));
  };
  const found = tf.grads(sum)(places.map((i) => inputs[i]));
  return Object.fromEntries(places.map((i, k) => [`gradient.${i}`, bytesOf(found[k])]));
}

function answer({ metadata, tensors }) {
  const { kind, id, op } = metadata;
  if (kind === 'hello') {
    const ops = JSON.stringify(Object.keys(table));
    return [{ kind, id, name: 'tfjs', version: tf.version.tfjs, device: 'cpu', ops }];
  }
  if (!(op in table)) throw new Declined(`TensorFlow.js has no ${op}`);
  const all = (word, count) => Array.from({ length: count }, (_, i) => (tensors[`${word}.${i}`] ? tensor(tensors[`${word}.${i}`]) : null));
  const call = { op, inputs: all('input', Number(metadata.inputs)), params: plain(JSON.parse(metadata.params)) };
  if (kind === 'forward') return [{ kind: 'outputs', id }, forward(call)];
  const more = { cotangents: all('cotangent', Number(metadata.cotangents)), needs: JSON.parse(metadata.needs) };
  return [{ kind: 'gradients', id }, vjp({ ...call, ...more })];
}

function declined(error) {
  return error instanceof Declined || DECLINES.test(error.message);
}

tf.setBackend('cpu');
tf.enableProdMode();
for (let message = frames.read(); message !== null; message = frames.read()) {
  const id = message.metadata.id;
  tf.engine().startScope();
  try {
    frames.write(...answer(message));
  } catch (error) {
    const text = String(error.message).replace(/\s+/g, ' ').slice(0, 300);
    frames.write(declined(error) ? { kind: 'unsupported', id, reason: text } : { kind: 'failed', id, message: text });
  } finally {
    tf.engine().endScope();
  }
}

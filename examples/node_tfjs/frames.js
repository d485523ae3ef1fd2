// Frames of the exec protocol (docs/reference/exec-protocol.md): a u64 length and a safetensors blob.
'use strict';
const fs = require('fs');

/** `size` bytes of standard input, or null at its end. */
function take(size) {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const got = fs.readSync(0, bytes, at, size - at, null);
    if (got === 0) {
      if (at > 0) throw new Error(`standard input ended after ${at} of ${size} bytes`);
      return null;
    }
    at += got;
  }
  return bytes;
}

/** The next message, {metadata, tensors: {name: {dtype, shape, bytes}}}; null at the end of standard input. */
function read() {
  const head = take(8);
  if (head === null) return null;
  const blob = take(Number(head.readBigUInt64LE()));
  const data = 8 + Number(blob.readBigUInt64LE());
  const { __metadata__: metadata, ...entries } = JSON.parse(blob.toString('utf8', 8, data));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [begin, end] }] of Object.entries(entries)) {
    // a copy, since typed arrays want aligned memory
    tensors[name] = { dtype, shape, bytes: Uint8Array.from(blob.subarray(data + begin, data + end)) };
  }
  return { metadata, tensors };
}

/** Write a message to standard output, whole. */
function write(metadata, tensors = {}) {
  const header = { __metadata__: metadata };
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
  }
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const lengths = Buffer.alloc(16);
  lengths.writeBigUInt64LE(BigInt(8 + text.length + end), 0);
  lengths.writeBigUInt64LE(BigInt(text.length), 8);
  const frame = Buffer.concat([lengths, text, ...Object.values(tensors).map((t) => t.bytes)]);
  for (let at = 0; at < frame.length; ) at += fs.writeSync(1, frame, at);
}

module.exports = { read, write };
